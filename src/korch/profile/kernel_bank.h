// Kernels of this process, each once per key, however many columns share it: its KernelSpec, its object,
// compiled or taken from the database, and its cost. Only the bank proposes kernels, so no tile graph is
// built twice.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "korch/backend/backend.h"
#include "korch/backend/spell.h"
#include "korch/base/result.h"
#include "korch/base/work_clock.h"
#include "korch/estimate/features.h"
#include "korch/profile/carried_costs.h"
#include "korch/profile/cost_model.h"
#include "korch/profile/database.h"
#include "korch/profile/machine_load.h"
#include "korch/profile/packed_constants.h"
#include "korch/profile/strikes.h"

namespace korch {

// What a kernel is made of: a candidate in an implementation, or a change of layout.
struct KernelRequest {
  Hash key;
  const Candidate* candidate = nullptr;  // null: a reorder
  const Implementation* implementation = nullptr;
  TensorType reorder_type;
  Layout reorder_from, reorder_to;
  double bound_us = 0;  // by the device's speeds; for the record
};

using Spec = std::shared_ptr<const KernelSpec>;

struct BuiltKernel {
  Spec spec;
  Kernel kernel;             // with its source
  std::string object;        // of Backend::compile; empty for library calls, and where nothing compiles
  std::optional<Cost> cost;  // once measured
};

// The kernel with its source, if its accesses are shown to stay inside of their buffers.
Result<Kernel> proven(const KernelSpec& spec, const Device& target);

class KernelBank {
 public:
  // `database` and `strikes` may be null. `footprint_bytes`: of the network before there were alternatives
  // (footprint.h), so that with and without them a kernel is measured alike. `backend`: null: the target's.
  // `clock`: where the seconds go, if not null.
  KernelBank(const Graph& graph, const Device& target, Database* database, int64_t footprint_bytes,
             Strikes* strikes = nullptr, const Backend* backend = nullptr, WorkClock* clock = nullptr);

  // Whose kernels they are: for the rows of its costs.
  void set_network(std::string name) { network_ = std::move(name); }
  // Measures in place of the backend's own.
  void set_meter(std::unique_ptr<Meter> meter) { meter_ = std::move(meter); }
  // Meter::machines; 1 where nothing is measured yet.
  int machines() const { return meter_ != nullptr ? meter_->machines() : 1; }

  // The kernel's spec; does not build it.
  const Result<Spec>& spec(const KernelRequest& request);
  // The specs of all, several at a time.
  void propose_all(const std::vector<KernelRequest>& requests);
  // Whether there is such a kernel and it is not known to be wrong.
  bool is_offered(const KernelRequest& request);
  // Compiles kernels that are not built yet, on all of the target's threads; in a build without a compiler,
  // spells them.
  void build(const std::vector<KernelRequest>& requests);
  // Builds and measures kernels that are not measured yet, or only with less care; nothing else runs here
  // while it measures.
  void measure(const std::vector<KernelRequest>& requests, Care care = Care::quick);

  // The kernel's cost on a device like the target (carried_costs.h), if it was measured there.
  std::optional<Cost> carried_cost(const KernelRequest& request);
  // CarriedCosts::of_other_gpus.
  std::string costs_of_other_gpus();
  // Of a kernel that has a cost which is no bound.
  CostFrom cost_from(const KernelRequest& request);
  // Of the draft (estimate/features.h).
  Features features_of(const KernelRequest& request) const;
  // What the model of costs says of kernels, and nothing of those that do not exist. Models have learned from
  // CPUs.
  void set_cost_model(CostModel model) { cost_model_ = std::move(model); }
  const CostModel& cost_model() const { return cost_model_; }
  bool has_estimates() const { return cost_model_.is_learned() && !target_.is_gpu(); }
  std::vector<CostEstimate> estimates(const std::vector<KernelRequest>& requests);
  // Whether the backend has a model of the device, and the kernel's cost by it: no less than its bound. Once
  // the kernel is built, its registers and memory count.
  bool has_model() const { return backend_.has_model(); }
  Result<Cost> modelled_cost(const KernelRequest& request);
  // The kernel's time in a run that needs these slices alone; nothing if it cannot be built or run. From the
  // database if that has it with this care.
  std::optional<Cost> measure_part(const KernelRequest& request, const std::vector<NeededSlices>& needed,
                                   Care care);
  // Whether both give the same bits for some random inputs; they have the same inputs, constants and outputs.
  bool same_results(const KernelRequest& a, const KernelRequest& b);

  // Frees the memory that measuring keeps from one kernel to the next.
  void release_memory() {
    constants_.release();
    if (meter_ != nullptr) meter_->release_memory();
  }

  // Null when not requested yet.
  const Result<BuiltKernel>* find(const Hash& key) const;
  int proposed_now() const { return proposed_now_; }
  int measured_now() const { return measured_now_; }  // not from the database
  int compiled_now() const { return compiled_now_; }

 private:
  int threads() const;  // that propose and spell kernels
  Result<Spec> propose_one(const KernelRequest& request);
  // Without its object, unless the database has it.
  Result<BuiltKernel> spell_one(const Spec& spec);
  void compile(std::vector<std::optional<Result<BuiltKernel>>>& kernels);
  // What its object needs, if that is not too much.
  Result<BuiltKernel> with_resources(BuiltKernel built) const;
  Hash object_key(const BuiltKernel& built) const;
  Meter& meter();
  const CarriedCosts& carried();  // of the database
  std::string types_of(const KernelRequest& request) const;
  Hash cost_key(const KernelRequest& request, const BuiltKernel& built) const;
  // The conditions that the request tells.
  CostConditions conditions_of(const KernelRequest& request) const;
  // Into the database, with its conditions. `part`: of a run of smaller extents.
  void record(const Hash& key, const KernelRequest& request, const BuiltKernel& built, const Cost& cost,
              const std::string& part);
  // Of built kernels; those that the database knows get its cost.
  void look(const std::vector<const KernelRequest*>& requests, Care care);
  MeasuredKernel job_of(const KernelRequest& request, const BuiltKernel& built);

  const Graph& graph_;
  Device target_;
  Database* database_;
  Strikes* strikes_;
  const int64_t footprint_bytes_;
  PackedConstants constants_;
  const Backend& backend_;
  WorkClock* const clock_;
  const std::string compiler_;
  std::string network_;
  CostModel cost_model_;
  RecentLoad load_;
  std::unique_ptr<Meter> meter_;         // from the first measurement on
  std::optional<CarriedCosts> carried_;  // from the first question on
  std::unordered_map<Hash, Result<Spec>, HashHasher> specs_;
  std::unordered_map<Hash, Result<BuiltKernel>, HashHasher> kernels_;
  std::unordered_map<Hash, Cost, HashHasher> parts_;  // measure_part's
  int measured_now_ = 0;
  std::atomic<int> proposed_now_ = 0, compiled_now_ = 0;
};

}  // namespace korch
