#include "korch/inspect/explain.h"

#include <fmt/format.h>

#include <memory>

#include "cli.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/inspect/bench.h"
#include "korch/inspect/explain_page.h"
#include "korch/inspect/run_again.h"
#include "korch/inspect/time_line.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"
#include "verbs.h"

namespace korch {
namespace {

struct ExplainArguments {
  std::string executable, html;
  ExplainOptions options;
  bool json = false, run = false, figures = false;
};

// A GPU does not tell what runs where.
bool has_time_line(const Plan& plan) {
  return !plan.report.device.is_gpu();
}

void write_page(const ExplainArguments& arguments, const Plan& plan, const std::string& text) {
  PageTimes times;
  if (arguments.run) {
    for (const StepProfile& step : profile_steps(arguments.executable, {}))
      times.step_us.push_back(step.median_us);
    if (has_time_line(plan))
      for (const TimeSpan& span : time_line(arguments.executable, {}).spans)
        times.spans.push_back({span.worker, span.step, span.begin_us, span.end_us});
  }
  const std::string page = explain_page(arguments.executable, plan, text, times);
  write_file(arguments.html, page);
  fmt::print("wrote {} ({:.1f} MB): open it in a browser\n", arguments.html,
             static_cast<double>(page.size()) / 1e6);
}

void run_explain(const ExplainArguments& arguments) {
  if (!arguments.html.empty()) {
    FileRoles files;
    files.reads("the executable", arguments.executable);
    files.writes("the page", arguments.html);
    require_writable(arguments.html);
  }
  const ExecutableInfo executable = read_executable(arguments.executable);
  const Plan plan = plan_from_json(executable.plan_json);
  if (arguments.figures) {
    fmt::print("{}", explain_figures(plan.report));
    return;
  }
  std::string text = explain(plan, executable.needed, arguments.options);
  if (arguments.run) text += "\n" + describe(run_again(arguments.executable, plan));
  if (arguments.run && arguments.html.empty())
    text += has_time_line(plan) ? describe(time_line(arguments.executable, {}), plan)
                                : "a GPU tells no time line; korch bench --profile times its kernels\n";
  if (!arguments.html.empty()) {
    write_page(arguments, plan, text);
    return;
  }
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

void add_explain_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<ExplainArguments>();
  Options verb = command_line.verb("explain", "the plan inside an executable: what was fused, and why");
  verb.option("executable", arguments->executable, "made by korch compile; its code is not run but by --run")
      .required();
  const Option kernel = verb.option("--kernel", arguments->options.kernel,
                                    "one step alone: primitives, tensors, rejected alternatives")
                            .at_least(0);
  const Option json =
      verb.flag("--json", arguments->json, "print the plan, or with --kernel the step, as JSON");
  const Option html =
      verb.option("--html", arguments->html,
                  "write a page to look at: graph, time line, memory, roofline, kernels with their sources")
          .excludes(kernel)
          .excludes(json);
  verb.flag("--figures", arguments->figures, "every figure of the report, and what it means")
      .excludes(kernel)
      .excludes(json)
      .excludes(html);
  verb.flag("--run", arguments->run,
            "run the executable, and show what its workers do, and when; with --html the page has the "
            "times of the steps there, too")
      .excludes(kernel)
      .excludes(json);
  verb.runs([arguments] { run_explain(*arguments); });
}

}  // namespace korch
