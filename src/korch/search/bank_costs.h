// Costs of real kernels, by way of the kernel bank.
#pragma once

#include "korch/profile/kernel_bank.h"
#include "korch/search/cost_source.h"
#include "korch/search/plan_builder.h"

namespace korch {

class BankCosts : public CostSource {
 public:
  // All of them outlive it. `by_model`: nothing is measured; costs that are not carried are of the backend's
  // model.
  BankCosts(const Graph& graph, const Columns& columns, KernelBank& bank, const Device& target,
            bool by_model = false)
      : graph_(graph), columns_(columns), bank_(bank), target_(target), by_model_(by_model) {}

  std::vector<Result<Cost>> measure(const std::vector<int>& columns, Care care) override;
  std::optional<Cost> carried(int column) override;
  bool has_estimates() const override { return bank_.has_estimates(); }
  std::vector<CostEstimate> estimates(const std::vector<int>& columns) override {
    return bank_.estimates(requests(columns));
  }
  std::string estimates_key() const override { return bank_.cost_model().key(); }
  int modelled() const override { return modelled_; }
  std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) override;
  std::vector<std::optional<Refusal>> refusals_of(const std::vector<int>& columns) override;
  std::optional<Cost> cost_when_built(int column) override;
  double occupancy(int column) const override;
  bool has_rounds(int column) const override;
  int machines() override { return bank_.machines(); }
  void release_memory() override { bank_.release_memory(); }

 private:
  std::vector<KernelRequest> requests(const std::vector<int>& columns) const;

  const Graph& graph_;
  const Columns& columns_;
  KernelBank& bank_;
  const Device& target_;
  const bool by_model_;
  int modelled_ = 0;
};

}  // namespace korch
