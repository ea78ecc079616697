// A network, and where its shapes are open the plans for smaller ones beside it.
#include <algorithm>
#include <utility>

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

}  // namespace

CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options) {
  const std::string name = model.substr(model.find_last_of('/') + 1);
  if (options.least_shapes.empty() || !options.stop_after.empty())
    return compile_part(name, options, import_of(model, options, {}), output);

  // The largest first: that is where what cannot be compiled is refused.
  std::vector<BuiltPlan> parts(1);
  CompileOptions part_options = options;
  part_options.budget_s = options.budget_s / kMostPlans;
  part_options.schedule = PlanSchedule::barrier;  // which executables of several plans always have
  CompileResult result = compile_part(name, part_options, import_of(model, options, {}), output, &parts[0]);
  part_options.dump_dir = part_options.save_inputs = "";
  const std::vector<PlanDimension> dimensions = parts[0].plan.dimensions;
  const std::vector<PlanBounds> bounds = plan_bounds(dimensions);
  for (size_t i = 1; i < bounds.size(); ++i) {
    part_options.launch_least = plan_leasts(bounds[i], bounds, dimensions);
    add_work(
        compile_part(name, part_options, import_of(model, options, bounds[i]), output, &parts.emplace_back()),
        &result);
  }
  BuiltPlan merged = merged_plan(std::move(parts));
  limit_launch_bytes(merged);
  const Target target = detect_target(options.target, options.threads);
  write_executable({&merged.plan, std::move(merged.objects), std::move(merged.constant_bytes),
                    plan_to_json(merged.plan), target},
                   output);
  result.plan = std::move(merged.plan);
  return result;
}

CompileResult compile_graph(const Graph& graph, const std::string& name, const std::string& output,
                            const CompileOptions& options) {
  return compile_part(
      name, options, [&](FileRoles&, std::vector<std::string>&) { return graph; }, output);
}

}  // namespace korch
