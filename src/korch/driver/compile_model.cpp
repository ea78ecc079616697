// A network, and where its shapes are open the plans for smaller ones beside it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "korch/backend/backend.h"
#include "korch/base/deadline.h"
#include "korch/base/stopwatch.h"
#include "korch/driver/compile_part.h"
#include "korch/driver/fleet_of.h"
#include "korch/driver/merged_plan.h"
#include "korch/driver/plan_bounds.h"
#include "korch/driver/plan_states.h"
#include "korch/driver/planning_speeds.h"
#include "korch/driver/run_estimates.h"
#include "korch/driver/variant_budget.h"
#include "korch/onnx/import.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

// Plans have weights packed as each of them likes, and kernels: those that make the executable larger than
// this are left out.
constexpr double kLargest = 1.8;       // times the first plan's bytes: tables and the plan's text make it 2
constexpr int64_t kSmall = 4LL << 20;  // bytes beside those, of however small a network

// A GPU's runs keep nothing.
StateOptions states_of(const CompileOptions& options) {
  if (!device_of(options).is_gpu()) return {options.states, options.find_states, {}};
  if (!options.states.empty())
    throw Error(ErrorKind::unsupported, "states (--state) are kept by executables for CPUs alone");
  return {{}, false, {}};
}

// `derived`: of the model with these shapes, once it is known. `whole`: the plan for the largest extents,
// whose states the others have.
ImportNetwork import_of(const std::string& model, const CompileOptions& options,
                        const std::shared_ptr<std::optional<DerivedDimensions>>& derived,
                        std::map<std::string, int64_t> bounds, const Plan* whole = nullptr) {
  const StateOptions states = whole == nullptr ? states_of(options) : states_of(*whole);
  return [=](FileRoles& files, std::vector<std::string>& warnings) {
    files.reads("the model", model);
    ImportOptions import_options;
    import_options.shapes = options.shapes;
    import_options.least_shapes = options.least_shapes;
    import_options.bounds = bounds;
    import_options.value_bounds = options.value_bounds;
    import_options.states = states;
    import_options.seed = options.seed;
    import_options.on_external_file = [&](const std::string& path) {
      files.reads("the model's external data", path);
    };
    if (!*derived) *derived = derived_dimensions(model, import_options);
    import_options.derived = *derived;
    if (bounds.empty())  // once for all plans
      import_options.on_warning = [&](const std::string& text) { warnings.push_back(text); };
    return import_onnx(model, import_options);
  };
}

// Of the whole network and of its parts.
void add_work(const CompileResult& part, CompileResult* result) {
  result->compiled += part.compiled;
  result->measured += part.measured;
  for (const auto& [stage, seconds] : part.stage_seconds) result->stage_seconds[stage] += seconds;
  for (const std::string& warning : part.warnings)
    if (std::count(result->warnings.begin(), result->warnings.end(), warning) == 0)
      result->warnings.push_back(warning);
}

// Weights and kernels that are there once, however many plans have them.
class Stored {
 public:
  // What they take with those of a part.
  int64_t bytes_with(const BuiltPlan& part) const {
    std::set<Hash> seen = contents_;
    return bytes_ + added(part, seen);
  }
  void add(const BuiltPlan& part) { bytes_ += added(part, contents_); }

 private:
  static int64_t added(const BuiltPlan& part, std::set<Hash>& seen) {
    int64_t bytes = 0;
    for (const PlanConstant& constant : part.plan.constants)
      if (seen.insert(constant.content).second) bytes += constant.size_bytes;
    for (size_t k = 0; k < part.objects.size(); ++k)
      if (seen.insert(part.plan.kernels[k].key()).second)
        bytes += static_cast<int64_t>(part.objects[k].size());
    return bytes;
  }

  std::set<Hash> contents_;
  int64_t bytes_ = 0;
};

std::string text_of(const std::map<std::string, int64_t>& bounds) {
  std::vector<std::string> words;
  for (const auto& [name, most] : bounds) words.push_back(fmt::format("{} = {}", name, most));
  return fmt::format("{}", fmt::join(words, ", "));
}

// But for their bounds. Where a branch is known for small extents alone, they may have another rank.
bool have_same_outputs(const Plan& a, const Plan& b) {
  return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    [](const PlanIo& x, const PlanIo& y) {
                      return x.type.dtype == y.type.dtype && x.type.shape.size() == y.type.shape.size();
                    });
}

// Of steps whose variants were left out tasks are others than those of their part.
std::vector<Placement> checked_placements(Plan& plan, const Device& target) {
  std::vector<Placement> placements = place(plan, target);
  const std::string fault = fault_of(placements, plan);
  KORCH_ASSERT(fault.empty(), fault);
  report_tasks(placements, plan.report);
  return placements;
}

// As one executable, whose plan becomes the result's.
void write_parts(std::vector<BuiltPlan> parts, const std::vector<std::string>& left_out,
                 const CompileOptions& options, const std::string& output, CompileResult* result) {
  std::vector<std::string> doubts;  // each once, about whichever plan
  for (const BuiltPlan& part : parts)
    for (const std::string& doubt : part.plan.report.doubts)
      if (std::ranges::find(doubts, doubt) == doubts.end()) doubts.push_back(doubt);
  BuiltPlan merged = merged_plan(std::move(parts));
  merged.plan.report.doubts = std::move(doubts);
  std::vector<std::string>& limits = merged.plan.report.limits;
  limits.insert(limits.end(), left_out.begin(), left_out.end());
  limit_variant_bytes(merged);
  const Device target = device_of(options);
  std::vector<Placement> placements = checked_placements(merged.plan, target);
  write_executable({&merged.plan, std::move(placements), std::move(merged.objects),
                    std::move(merged.constant_bytes), plan_to_json(merged.plan), target, options.emulation},
                   output);
  result->plan = std::move(merged.plan);
}

// A network and its plans for smaller extents.
class PlansCompiler {
 public:
  PlansCompiler(const std::string& model, const std::string& output, const CompileOptions& options,
                Fleet* fleet)
      : model_(model),
        output_(output),
        options_(options),
        part_options_(options),
        fleet_(fleet),
        deadline_(options.budget_s > 0 ? Deadline(options.budget_s) : Deadline()) {}

  // The largest first: that is where what cannot be compiled is refused.
  CompileResult compile() {
    if (options_.least_shapes.empty() || !options_.stop_after.empty() || options_.sampled_kernels > 0) {
      if (options_.least_shapes.empty()) require_no_runs();
      return compile_part(name_, options_, import({}), output_, nullptr, fleet_);
    }
    if (options_.progress) options_.progress("bounds", 0, 0);
    choose_bounds();
    const double bounds_s = watch_.seconds();
    // What several plans take together is what one may take.
    part_options_.variants.most_s /= static_cast<double>(bounds_.size());
    parts_.emplace_back();
    begin_plan(0);
    CompileResult result = compile_part(name_, part_options_, import({}), output_, &parts_[0], fleet_);
    result.stage_seconds["bounds"] = bounds_s;
    const double first_s = watch_.seconds() - bounds_s;
    part_options_.dump_dir = part_options_.save_inputs = "";
    stored_.add(parts_[0]);
    const int64_t first = stored_.bytes_with({});
    most_bytes_ = std::max(static_cast<int64_t>(kLargest * static_cast<double>(first)), first + kSmall);
    for (size_t i = 1; i < bounds_.size(); ++i) {
      if (deadline_.is_over() || watch_.seconds() > std::max(kMostSeconds, kMostTimesFirst * first_s))
        leave_out(options_.budget_s > 0 ? "budget: no plan" : "time: no plan", i);
      else
        add_plan(i, result);
    }
    write_parts(std::move(parts_), left_out_, options_, output_, &result);
    return result;
  }

 private:
  // Smaller plans of large networks: after so many seconds, or so many times what the first plan takes, none
  // is begun.
  static constexpr double kMostSeconds = 600, kMostTimesFirst = 6;

  ImportNetwork import(const PlanBounds& bounds) const {
    const bool has_whole = !bounds.empty() && !parts_.empty();
    return import_of(model_, options_, derived_, bounds, has_whole ? &parts_[0].plan : nullptr);
  }

  void require_no_runs() const {
    if (!options_.at.empty() || !options_.runs.empty())
      throw Error(ErrorKind::usage, "at and runs say where runs of open shapes are, and no shape is open");
  }

  // `why`: behind the plan's extents.
  void leave_out(const char* what, size_t i, const std::string& why = "") {
    left_out_.push_back(fmt::format("{} for extents up to {}{}", what, text_of(bounds_[i]), why));
  }

  Graph imported_up_to(const PlanBounds& bounds) const {
    FileRoles files;
    std::vector<std::string> warnings;
    return import(bounds)(files, warnings);
  }

  // By estimates of what the network takes at a few extents; where they take too much of a budget, as if it
  // took time in proportion to each extent.
  void choose_bounds() {
    constexpr double kShareOfBudget = 0.1;
    const Deadline deadline =
        options_.budget_s > 0 ? Deadline(kShareOfBudget * options_.budget_s) : Deadline();
    const Graph whole = imported_up_to({});
    dimensions_ = whole.open_dimensions();
    const std::vector<LikelyRun> runs = likely_runs(dimensions_, options_.at, options_.runs);
    Device device = device_of(options_);  // its speeds need not be exact, and plans not be another machine's
    if (!device.is_gpu() && device.flops_per_us == 0) device = with_nominal_speeds(device);
    std::string warning;
    const CostModel costs = cost_model_named(options_.cost_model, warning);
    estimates_.emplace(dimensions_, [&](const PlanBounds& bounds) -> std::optional<double> {
      if (deadline.is_over()) return std::nullopt;
      try {
        return greedy_estimate_us(imported_up_to(bounds), options_, device, costs);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::invalid && error.kind() != ErrorKind::unsupported) throw;
        return std::nullopt;
      }
    });
    // Runs that somebody gave matter, if they gain anything.
    const bool given = !options_.at.empty() || !options_.runs.empty();
    bounds_ = plan_bounds(dimensions_, runs, time_of(), given ? 1e-6 : 0.01);
  }

  TimeOf time_of() const {
    return [this](const std::vector<int64_t>& extents) { return estimates_->us(extents); };
  }

  void begin_plan(size_t i) {
    if (options_.progress && bounds_.size() > 1)
      options_.progress(fmt::format("plan {} of {}, up to {}", i + 1, bounds_.size(), text_of(bounds_[i])), 0,
                        0);
    if (options_.budget_s > 0)
      part_options_.budget_s = deadline_.left_s() / static_cast<double>(bounds_.size() - i);
    part_options_.variants.least = plan_leasts(bounds_[i], bounds_, dimensions_, time_of());
  }

  void add_plan(size_t i, CompileResult& result) {
    begin_plan(i);
    BuiltPlan part;
    try {
      add_work(compile_part(name_, part_options_, import(bounds_[i]), output_, &part, fleet_), &result);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid) throw;  // of some networks only certain extents fit together
      leave_out("plans: none", i, std::string(": ") + error.what());
      return;
    }
    if (!have_same_outputs(part.plan, parts_[0].plan)) {
      leave_out("plans: none", i, ", for which outputs have other ranks");
    } else if (stored_.bytes_with(part) > most_bytes_) {
      leave_out("plans: none", i, ", which would make the executable more than twice as large");
    } else {
      stored_.add(part);
      parts_.push_back(std::move(part));
    }
  }

  const std::string &model_, &output_;
  const std::string name_ = model_.substr(model_.find_last_of('/') + 1);
  const CompileOptions& options_;
  CompileOptions part_options_;
  Fleet* const fleet_;
  const Deadline deadline_;
  const Stopwatch watch_;
  const std::shared_ptr<std::optional<DerivedDimensions>> derived_ =
      std::make_shared<std::optional<DerivedDimensions>>();
  std::vector<OpenDimension> dimensions_;
  std::optional<RunEstimates> estimates_;
  std::vector<PlanBounds> bounds_;
  std::vector<BuiltPlan> parts_;
  std::vector<std::string> left_out_;
  Stored stored_;
  int64_t most_bytes_ = 0;
};

}  // namespace

CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options) {
  const std::unique_ptr<Fleet> fleet = fleet_of(options, output);
  CompileResult result = PlansCompiler(model, output, options, fleet.get()).compile();
  if (fleet != nullptr) report_fleet(*fleet, result);
  return result;
}

CompileResult compile_graph(const Graph& graph, const std::string& name, const std::string& output,
                            const CompileOptions& options) {
  const std::unique_ptr<Fleet> fleet = fleet_of(options, output);
  CompileResult result = compile_part(
      name, options, [&](FileRoles&, std::vector<std::string>&) { return graph; }, output, nullptr,
      fleet.get());
  if (fleet != nullptr) report_fleet(*fleet, result);
  return result;
}

}  // namespace korch
