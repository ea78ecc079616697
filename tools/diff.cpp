#include "korch/inspect/diff.h"

#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/usable_cpus.h"
#include "korch/inspect/bench.h"
#include "korch/package/executable.h"
#include "verbs.h"

namespace korch {
namespace {

struct DiffArguments {
  std::string a, b;
  BenchOptions options;
  bool profile = false, json = false;
};

void measure(DiffSide& side, const BenchOptions& options) {
  const std::vector<StepProfile> steps = profile_steps(side.path, options);
  if (steps.size() != side.us.size())
    throw Error(ErrorKind::io, side.path + " is another file than a moment ago");
  for (size_t i = 0; i < steps.size(); ++i) side.us[i] = steps[i].median_us;
}

nlohmann::ordered_json steps_json(const DiffSide& side, const std::vector<int>& steps) {
  nlohmann::ordered_json json = nlohmann::json::array();
  for (int step : steps)
    json.push_back({{"step", step},
                    {"label", side.plan.steps[step].label},
                    {"implementation", side.plan.steps[step].implementation},
                    {"us", side.us[step]}});
  return json;
}

void run_diff(const DiffArguments& arguments) {
  DiffSide a = diff_side(arguments.a, read_plan_json(arguments.a));
  DiffSide b = diff_side(arguments.b, read_plan_json(arguments.b));
  PlanDiff diff = diff_plans(a, b);
  if (arguments.profile) {
    measure(a, arguments.options);
    measure(b, arguments.options);
    diff = diff_plans(a, b);
  }
  const char* times = arguments.profile ? "measured" : "predicted";
  if (!arguments.json) {
    constexpr size_t kListed = 20;  // of the shared kernels: a screen
    fmt::print("{}", describe(diff, a, b, times, kListed));
    return;
  }
  nlohmann::ordered_json json = {
      {"times", times},    {"different_networks", diff.networks}, {"a_us", diff.a_us},
      {"b_us", diff.b_us}, {"same", nlohmann::json::array()},     {"parts", nlohmann::json::array()}};
  for (const auto& [i, j] : diff.same)
    json["same"].push_back(
        {{"a", i}, {"b", j}, {"label", a.plan.steps[i].label}, {"a_us", a.us[i]}, {"b_us", b.us[j]}});
  for (const DiffPart& part : diff.parts)
    json["parts"].push_back({{"onnx_nodes", part.onnx_nodes},
                             {"a_us", part.a_us},
                             {"b_us", part.b_us},
                             {"a", steps_json(a, part.a)},
                             {"b", steps_json(b, part.b)}});
  print_json(json);
}

}  // namespace

void add_diff_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<DiffArguments>();
  Options verb = command_line.verb("diff", "two executables of one network: which kernels and times differ");
  verb.option("first", arguments->a, "an executable, made by korch compile").required();
  verb.option("second", arguments->b, "another one of the same network").required();
  verb.flag("--profile", arguments->profile,
            "run both and compare measured times, not what the plans predicted");
  verb.option("--threads", arguments->options.threads,
              "workers of --profile; 0: as compiled, as far as the process may use so many")
      .between(0, kMostWorkers)
      .default_shown();
  verb.flag("--json", arguments->json, "print the difference as JSON");
  verb.runs([arguments] { run_diff(*arguments); });
}

}  // namespace korch
