// A network, and where its shapes are open the plans for smaller ones beside it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "korch/base/deadline.h"
#include "korch/driver/compile_part.h"
#include "korch/driver/launch_budget.h"
#include "korch/driver/merged_plan.h"
#include "korch/onnx/import.h"
#include "korch/package/package.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

ImportNetwork import_of(const std::string& model, const CompileOptions& options,
                        std::map<std::string, int64_t> bounds) {
  return [=](FileRoles& files, std::vector<std::string>& warnings) {
    files.reads("the model", model);
    ImportOptions import_options;
    import_options.shapes = options.shapes;
    import_options.least_shapes = options.least_shapes;
    import_options.bounds = bounds;
    import_options.seed = options.seed;
    import_options.on_external_file = [&](const std::string& path) {
      files.reads("the model's external data", path);
    };
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

// Constants that are there once, however many plans read them.
class StoredConstants {
 public:
  // What they take with those of a part.
  int64_t bytes_with(const Plan& part) {
    int64_t bytes = bytes_;
    std::set<Hash> seen = contents_;
    for (const PlanConstant& constant : constants_without_launches(part))
      if (seen.insert(constant.content).second) bytes += constant.size_bytes;
    return bytes;
  }
  void add(const Plan& part) {
    bytes_ = bytes_with(part);
    for (const PlanConstant& constant : constants_without_launches(part)) contents_.insert(constant.content);
  }

 private:
  std::set<Hash> contents_;
  int64_t bytes_ = 0;
};

std::string text_of(const std::map<std::string, int64_t>& bounds) {
  std::vector<std::string> words;
  for (const auto& [name, most] : bounds) words.push_back(fmt::format("{} = {}", name, most));
  return fmt::format("{}", fmt::join(words, ", "));
}

// As one executable, whose plan becomes the result's.
void write_parts(std::vector<BuiltPlan> parts, const std::vector<std::string>& left_out,
                 const CompileOptions& options, const std::string& output, CompileResult* result) {
  BuiltPlan merged = merged_plan(std::move(parts));
  std::vector<std::string>& limits = merged.plan.report.limits;
  limits.insert(limits.end(), left_out.begin(), left_out.end());
  limit_launch_bytes(merged);
  const Target target = detect_target(options.target, options.threads);
  write_executable({&merged.plan, std::move(merged.objects), std::move(merged.constant_bytes),
                    plan_to_json(merged.plan), target},
                   output);
  result->plan = std::move(merged.plan);
}

}  // namespace

CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options) {
  const std::string name = model.substr(model.find_last_of('/') + 1);
  if (options.least_shapes.empty() || !options.stop_after.empty())
    return compile_part(name, options, import_of(model, options, {}), output);

  // Plans pack weights as each of them likes: those that make the executable larger than this are left out.
  constexpr int64_t kLargest = 2;  // of the bytes of the first plan's
  // The largest first: that is where what cannot be compiled is refused.
  std::vector<BuiltPlan> parts(1);
  CompileOptions part_options = options;
  const Deadline deadline = options.budget_s > 0 ? Deadline(options.budget_s) : Deadline();
  const auto share_budget = [&](size_t plans) {
    if (options.budget_s > 0) part_options.budget_s = deadline.left_s() / static_cast<double>(plans);
  };
  const std::vector<PlanDimension> stated = stated_dimensions(options.shapes, options.least_shapes);
  const std::vector<PlanBounds> stated_bounds = plan_bounds(stated);
  share_budget(stated_bounds.size());
  part_options.launch.least = plan_leasts(stated_bounds[0], stated_bounds, stated);
  part_options.schedule = PlanSchedule::barrier;  // which executables of several plans always have
  CompileResult result = compile_part(name, part_options, import_of(model, options, {}), output, &parts[0]);
  part_options.dump_dir = part_options.save_inputs = "";
  const std::vector<PlanDimension> dimensions = parts[0].plan.dimensions;
  const std::vector<PlanBounds> bounds = plan_bounds(dimensions);
  StoredConstants stored;
  stored.add(parts[0].plan);
  const int64_t largest = kLargest * stored.bytes_with({});
  std::vector<std::string> left_out;
  for (size_t i = 1; i < bounds.size(); ++i) {
    if (deadline.is_over()) {
      left_out.push_back(fmt::format("budget: no plan for extents up to {}", text_of(bounds[i])));
      continue;
    }
    share_budget(bounds.size() - i);
    part_options.launch.least = plan_leasts(bounds[i], bounds, dimensions);
    BuiltPlan part;
    try {
      add_work(compile_part(name, part_options, import_of(model, options, bounds[i]), output, &part),
               &result);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid) throw;  // of some networks only certain extents fit together
      left_out.push_back(
          fmt::format("plans: none for extents up to {}: {}", text_of(bounds[i]), error.what()));
      continue;
    }
    if (stored.bytes_with(part.plan) > largest) {
      left_out.push_back(
          fmt::format("plans: none for extents up to {}, whose weights would make the executable more than "
                      "{} times as large",
                      text_of(bounds[i]), kLargest));
      continue;
    }
    stored.add(part.plan);
    parts.push_back(std::move(part));
  }
  write_parts(std::move(parts), left_out, options, output, &result);
  return result;
}

CompileResult compile_graph(const Graph& graph, const std::string& name, const std::string& output,
                            const CompileOptions& options) {
  return compile_part(
      name, options, [&](FileRoles&, std::vector<std::string>&) { return graph; }, output);
}

}  // namespace korch
