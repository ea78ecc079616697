#include <fmt/format.h>

#include <memory>

#include "korch/driver/explain.h"
#include "korch/package/loaded.h"
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
  const std::string json = read_plan_json(arguments.executable);
  if (arguments.json) {
    fmt::print("{}\n", json);
    return;
  }
  fmt::print("{}", explain(plan_from_json(json), arguments.options));
}

}  // namespace

void add_explain_verb(CLI::App& app) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* verb = app.add_subcommand("explain", "the plan inside an executable: what was fused, and why");
  verb->add_option("executable", arguments->executable, "made by korch compile; its code is not run")->required();
  verb->add_option("--kernel", arguments->options.kernel, "one step alone: primitives, tensors, rejected alternatives");
  verb->add_flag("--json", arguments->json, "print the whole plan as JSON");
  verb->callback([arguments] { run_explain(*arguments); });
}

}  // namespace korch
