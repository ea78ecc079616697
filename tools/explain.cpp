#include "korch/driver/explain.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"
#include "verbs.h"

namespace korch {
namespace {

struct ExplainArguments {
  std::string executable;
  ExplainOptions options;
  bool json = false;
};

void run_explain(const ExplainArguments& arguments) {
  const ExecutableInfo executable = read_executable(arguments.executable);
  const Plan plan = plan_from_json(executable.plan_json);
  const std::string text = explain(plan, executable.needed, arguments.options);
  if (!arguments.json) {
    fmt::print("{}", text);
    return;
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(executable.plan_json);
  if (arguments.options.kernel >= 0)
    json = json.at("steps").at(arguments.options.kernel);
  else
    json["shared_libraries"] = executable.needed;
  print_json(json);
}

}  // namespace

void add_explain_verb(CLI::App& app) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* verb = app.add_subcommand("explain", "the plan inside an executable: what was fused, and why");
  verb->add_option("executable", arguments->executable, "made by korch compile; its code is not run")
      ->required();
  verb->add_option("--kernel", arguments->options.kernel,
                   "one step alone: primitives, tensors, rejected alternatives");
  verb->add_flag("--json", arguments->json, "print the plan, or with --kernel the step, as JSON");
  verb->callback([arguments] { run_explain(*arguments); });
}

}  // namespace korch
