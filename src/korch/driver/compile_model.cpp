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
#include "korch/driver/compile_part.h"
#include "korch/driver/fleet_of.h"
#include "korch/driver/merged_plan.h"
#include "korch/driver/plan_states.h"
#include "korch/driver/planning_speeds.h"
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

CompileResult compile_plans(const std::string& model, const std::string& output,
                            const CompileOptions& options, Fleet* fleet) {
  const std::string name = model.substr(model.find_last_of('/') + 1);
  const auto derived = std::make_shared<std::optional<DerivedDimensions>>();
  if (options.least_shapes.empty() || !options.stop_after.empty() || options.sampled_kernels > 0)
    return compile_part(name, options, import_of(model, options, derived, {}), output, nullptr, fleet);

  // The largest first: that is where what cannot be compiled is refused.
  std::vector<BuiltPlan> parts(1);
  CompileOptions part_options = options;
  const Deadline deadline = options.budget_s > 0 ? Deadline(options.budget_s) : Deadline();
  const auto share_budget = [&](size_t plans) {
    if (options.budget_s > 0) part_options.budget_s = deadline.left_s() / static_cast<double>(plans);
  };
  const std::vector<OpenDimension> stated = stated_dimensions(options.shapes, options.least_shapes);
  const std::vector<PlanBounds> stated_bounds = plan_bounds(stated);
  share_budget(stated_bounds.size());
  part_options.variants.least = plan_leasts(stated_bounds[0], stated_bounds, stated);
  // What several plans take together is what one may take.
  part_options.variants.most_s /= static_cast<double>(stated_bounds.size());
  CompileResult result =
      compile_part(name, part_options, import_of(model, options, derived, {}), output, &parts[0], fleet);
  part_options.dump_dir = part_options.save_inputs = "";
  const std::vector<OpenDimension> dimensions = parts[0].plan.dimensions;
  const std::vector<PlanBounds> bounds = plan_bounds(dimensions);
  Stored stored;
  stored.add(parts[0]);
  const int64_t first = stored.bytes_with({}),
                largest =
                    std::max(static_cast<int64_t>(kLargest * static_cast<double>(first)), first + kSmall);
  std::vector<std::string> left_out;
  for (size_t i = 1; i < bounds.size(); ++i) {
    if (deadline.is_over()) {
      left_out.push_back(fmt::format("budget: no plan for extents up to {}", text_of(bounds[i])));
      continue;
    }
    share_budget(bounds.size() - i);
    part_options.variants.least = plan_leasts(bounds[i], bounds, dimensions);
    BuiltPlan part;
    try {
      const ImportNetwork network = import_of(model, options, derived, bounds[i], &parts[0].plan);
      add_work(compile_part(name, part_options, network, output, &part, fleet), &result);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid) throw;  // of some networks only certain extents fit together
      left_out.push_back(
          fmt::format("plans: none for extents up to {}: {}", text_of(bounds[i]), error.what()));
      continue;
    }
    if (!have_same_outputs(part.plan, parts[0].plan)) {
      left_out.push_back(fmt::format("plans: none for extents up to {}, for which outputs have other ranks",
                                     text_of(bounds[i])));
      continue;
    }
    if (stored.bytes_with(part) > largest) {
      left_out.push_back(
          fmt::format("plans: none for extents up to {}, which would make the executable more than twice "
                      "as large",
                      text_of(bounds[i])));
      continue;
    }
    stored.add(part);
    parts.push_back(std::move(part));
  }
  write_parts(std::move(parts), left_out, options, output, &result);
  return result;
}

}  // namespace

CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options) {
  const std::unique_ptr<Fleet> fleet = fleet_of(options, output);
  CompileResult result = compile_plans(model, output, options, fleet.get());
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
