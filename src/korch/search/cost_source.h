// The source of the search's costs: kernels that are built and run (bank_costs.h), or made-up costs in tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/backend/meter.h"
#include "korch/base/result.h"
#include "korch/profile/cost_model.h"

namespace korch {

class CostSource {
 public:
  virtual ~CostSource() = default;

  // One look at the kernel of each of these columns; no two share a kernel. In their order, its cost, or why
  // there is no such kernel.
  virtual std::vector<Result<Cost>> measure(const std::vector<int>& columns, Care care) = 0;
  // The column's cost on an equal device that measured it, if that is known.
  virtual std::optional<Cost> carried(int) { return std::nullopt; }
  // What a model of costs says of the columns' kernels. Only asked where there is one.
  virtual bool has_estimates() const { return false; }
  virtual std::vector<CostEstimate> estimates(const std::vector<int>& columns) {
    return std::vector<CostEstimate>(columns.size());
  }
  // Tells the model from others.
  virtual std::string estimates_key() const { return ""; }
  // How many of the costs that measure() gave are of a model.
  virtual int modelled() const { return 0; }
  // In their order, why there is no such kernel, if there is none.
  virtual std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) = 0;
  // Likewise, as far as that is known before anything is built.
  virtual std::vector<std::optional<Refusal>> refusals_of(const std::vector<int>& columns) {
    return std::vector<std::optional<Refusal>>(columns.size());
  }
  // The cost of a kernel that was built, if that tells of it what was not known when it was asked for.
  virtual std::optional<Cost> cost_when_built(int) { return std::nullopt; }
  // Of a column's kernel (plan/kernel.h); 1 where there is none.
  virtual double occupancy(int column) const = 0;
  // Likewise; false where there is none.
  virtual bool has_rounds(int column) const = 0;
  // That measure at once: so many times as many kernels are worth asking for together.
  virtual int machines() { return 1; }
  // Nothing will be measured for some time.
  virtual void release_memory() {}
};

}  // namespace korch
