#include "korch/inspect/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/json.h"
#include "korch/driver/plan_states.h"
#include "korch/onnx/import.h"
#include "korch/onnx/open_inputs.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"
#include "verbs.h"

namespace korch {
namespace {

struct VerifyArguments {
  std::string model, executable;
  std::vector<std::string> shapes, bounds;
  uint64_t model_seed = 0;
  VerifyOptions options;
  bool json = false;
};

// Of inputs that the model leaves open: the shapes that the executable was compiled for.
void take_shapes(const std::string& model, const Plan& plan, ImportOptions& options) {
  const std::set<std::string> open = open_inputs(model);
  for (const std::string& name : open)
    if (std::none_of(plan.inputs.begin(), plan.inputs.end(),
                     [&](const PlanIo& io) { return io.name == name; }))
      throw Error(ErrorKind::invalid,
                  fmt::format("the executable was not made from this network: it has no input '{}'", name));
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    if (!open.contains(plan.inputs[i].name)) continue;
    const Shape& most = options.shapes[plan.inputs[i].name] = plan.inputs[i].type.shape;
    Shape least = most;
    for (const OpenDimension& dimension : plan.dimensions)
      for (const auto& [input, axis] : dimension.axes)
        if (input == static_cast<int>(i)) least[static_cast<size_t>(axis)] = dimension.least;
    if (least != most) options.least_shapes[plan.inputs[i].name] = least;
  }
  options.derived.emplace();
  for (const auto& [name, least, most, axes, sum, fitting] : plan.dimensions) {
    if (!sum) continue;
    DerivedDimension& derived = (*options.derived)[name] = {least, most, sum->plus};
    for (const auto& [dimension, factor] : sum->terms)
      derived.terms.emplace_back(plan.dimensions[static_cast<size_t>(dimension)].name, factor);
  }
}

void run_verify(const VerifyArguments& arguments) {
  ImportOptions import_options;
  parse_shapes(arguments.shapes, &import_options.shapes, &import_options.least_shapes);
  import_options.value_bounds = parse_bounds(arguments.bounds);
  const ModelFile model(arguments.model);
  const Plan plan = plan_from_json(read_plan_json(arguments.executable));
  if (arguments.shapes.empty()) take_shapes(model.path(), plan, import_options);
  import_options.states = states_of(plan);
  import_options.seed = arguments.model_seed;
  const Graph graph = import_onnx(model.path(), import_options);
  VerifyOptions options = arguments.options;
  options.import_within = [&](const std::map<std::string, int64_t>& bounds) {
    ImportOptions within = import_options;
    within.bounds = bounds;
    return import_onnx(model.path(), within);
  };
  const VerifyResult result = compare_executable(graph, arguments.executable, options);
  if (arguments.json) {
    nlohmann::ordered_json json = {{"passed", result.passed},
                                   {"samples", arguments.options.samples},
                                   {"special_values_not_fed", result.special_not_fed},
                                   {"first_wrong_kernel", result.passed ? "" : describe(result.bisection)},
                                   {"rule",
                                    {{"noise_factor", Tolerance::kNoiseFactor},
                                     {"tensor_factor", Tolerance::kTensorFactor},
                                     {"floor_ulps", Tolerance::kFloorUlps}}}};
    for (const OutputError& e : result.outputs)
      json["outputs"].push_back({{"name", e.output},
                                 {"max_error", e.deviation.max_error},
                                 {"ratio", e.deviation.ratio},
                                 {"element", e.deviation.element},
                                 {"error", e.deviation.error},
                                 {"tolerance", e.deviation.allowed},
                                 {"noise", e.deviation.noise},
                                 {"value", e.deviation.exact},
                                 {"unjudged", e.deviation.unjudged}});
    print_json(json);
  } else if (result.passed) {
    fmt::print("{}\n", describe(result.outputs));
  }
  if (!result.passed) throw Error(ErrorKind::accuracy, failure_text(result));
  if (!arguments.json)
    fmt::print("verified on {} random inputs, {}\n", arguments.options.samples,
               result.special_not_fed.empty() ? "and with NaN, infinities, huge and subnormal numbers in them"
                                              : "not with special values: " + result.special_not_fed);
}

}  // namespace

void add_verify_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<VerifyArguments>();
  Options verb = command_line.verb("verify", "compare an executable with the network in float64");
  verb.option("model", arguments->model, kModelHelp).required();
  verb.option("executable", arguments->executable, "made from it by korch compile").required();
  verb.option(
      "--shape", arguments->shapes,
      "NAME=1x3x224x224, as given to korch compile (repeatable); where not given, those of the executable");
  verb.option("--bound", arguments->bounds, kBoundHelp);
  verb.option("--model-seed", arguments->model_seed, "as given to korch compile as --seed").default_shown();
  verb.option("--samples", arguments->options.samples, "random inputs to try")
      .between(1, 10000)
      .default_shown();
  verb.option("--seed", arguments->options.seed, "of the random inputs").default_shown();
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.runs([arguments] { run_verify(*arguments); });
}

}  // namespace korch
