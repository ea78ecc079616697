#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/stopwatch.h"
#include "korch/driver/pipeline.h"
#include "korch/options/option_table.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"
#include "progress.h"
#include "verbs.h"

namespace korch {
namespace {

struct CompileArguments {
  std::string model, output;
  std::vector<std::string> shapes, bounds;
  bool no_database = false, quiet = false, json = false;
  UserOptions user = preset_options();
};

// One line on a terminal, rewritten. Where it cannot be written the work goes on all the same.
class TerminalProgress {
 public:
  void operator()(const std::string& stage, int64_t done, int64_t total) {
    const std::string line = line_(stage, done, total, watch_.seconds());
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  }

 private:
  Stopwatch watch_;
  ProgressLine line_;
};

// Plain lines where the standard error is no terminal.
class PlainProgress {
 public:
  void operator()(const std::string& stage, int64_t done, int64_t total) {
    const std::optional<std::string> line = log_(stage, done, total, watch_.seconds());
    if (!line) return;
    std::fprintf(stderr, "%s\n", line->c_str());
    std::fflush(stderr);
  }

 private:
  Stopwatch watch_;
  ProgressLog log_{0};
};

// The progress line goes before anything else is printed, an error too.
struct LineCleaner {
  bool on_terminal;
  ~LineCleaner() {
    if (on_terminal) std::fputs("\r\033[K", stderr);
  }
};

bool stopped_before_plan(const CompileArguments& arguments) {
  return !arguments.user.compile.stop_after.empty() && arguments.user.compile.stop_after != "plan";
}

nlohmann::ordered_json fleet_json(const FleetReport& fleet) {
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (const FleetReport::Member& w : fleet.workers)
    workers.push_back(
        {{"name", w.name}, {"kernels", w.kernels}, {"set_aside", w.set_aside}, {"lost", w.is_lost}});
  return {{"workers", std::move(workers)}, {"by_leader", fleet.by_leader}};
}

std::string fleet_text(const FleetReport& fleet) {
  std::string text = fmt::format("fleet: this machine measured {} kernels", fleet.by_leader);
  for (const FleetReport::Member& w : fleet.workers)
    text += fmt::format("; {} {}{}", w.name, w.kernels,
                        !w.set_aside.empty() ? " (set aside)"
                        : w.is_lost          ? " (lost)"
                                             : "");
  return text;
}

void print_result(const CompileResult& result, const CompileArguments& arguments) {
  const PlanReport& r = result.plan.report;
  if (arguments.json) {
    if (stopped_before_plan(arguments)) {
      const nlohmann::ordered_json stopped = {{"stopped_after", arguments.user.compile.stop_after},
                                              {"seconds", result.stage_seconds},
                                              {"warnings", result.warnings}};
      print_json(stopped);
      return;
    }
    nlohmann::ordered_json json = {{"output", arguments.output}, {"steps", result.plan.steps.size()}};
    json.update(nlohmann::ordered_json::parse(report_to_json(r)));
    if (result.fleet) json["fleet"] = fleet_json(*result.fleet);
    json.update({{"kernels_compiled", result.compiled},
                 {"kernels_measured", result.measured},
                 {"seconds", result.stage_seconds},
                 {"warnings", result.warnings}});
    print_json(json);
    return;
  }
  double total = 0;
  std::string stages;
  for (const auto& [stage, seconds] : result.stage_seconds) {
    total += seconds;
    stages += fmt::format("{}{} {:.1f}", stages.empty() ? "" : ", ", stage, seconds);
  }
  if (stopped_before_plan(arguments)) {
    fmt::print("stopped after {}; {:.1f} s ({})\n", arguments.user.compile.stop_after, total, stages);
    return;
  }
  // Bound, gap and certificate are of the solver's plan, also where another one was faster when run whole.
  const std::string solvers =
      kept_plan(r) == "solver's" ? "" : fmt::format("solver's plan {:.1f} us, ", r.objective_us);
  fmt::print("{} primitives -> {} kernels, predicted {:.1f} us ({}{} {:.1f} us, gap {:.2f} %{})\n",
             r.primitives, result.plan.steps.size(), predicted_us(r), solvers, bound_word(r), r.bound_us,
             100 * r.gap,
             r.certified ? (is_bound_proven(r) ? ", certified" : ", certified for these costs")
                         : ", solver: " + r.solver_status);
  std::string runs;
  for (const WholeRun& run : r.whole_runs)
    runs += fmt::format("{}{} plan {:.1f} us{}", runs.empty() ? "run whole: " : "; ", run.plan,
                        run.measured_us, runs.empty() ? " (kept: no other is faster beyond doubt)" : "");
  if (!runs.empty()) fmt::print("{}\n", runs);
  if (const std::string audit = audit_text(r); !audit.empty()) fmt::print("{}\n", audit);
  for (const std::string& limit : r.limits) fmt::print("limit reached: {}\n", limit);
  fmt::print(
      "{} candidates, {} columns of {} different kernels, {}{} measured; {} kernels compiled and {} "
      "measured now\n",
      r.candidates, r.columns, r.kernels, modelled_text(r), r.measured, result.compiled, result.measured);
  if (result.fleet) fmt::print("{}\n", fleet_text(*result.fleet));
  fmt::print("{:.1f} s ({})\n", total, stages);
  if (arguments.user.compile.stop_after.empty()) fmt::print("wrote {}\n", arguments.output);
}

// "net.so" of "models/net.onnx". What is there already is replaced only if it is an executable of korch's.
std::string default_output(const std::string& model) {
  if (model == "-")
    throw Error(ErrorKind::usage,
                "give the executable's name with -o FILE.so: the network comes from the standard input");
  const std::string output = std::filesystem::path(model).stem().string() + ".so";
  if (!file_exists(output)) return output;
  try {
    read_executable(output);
  } catch (const Error&) {
    throw Error(
        ErrorKind::usage,
        fmt::format("'{}' is there and no executable of korch; give another name with -o FILE.so", output));
  }
  return output;
}

void run_compile(CompileArguments& arguments) {
  CompileOptions& options = arguments.user.compile;
  parse_shapes(arguments.shapes, &options.shapes, &options.least_shapes);
  options.value_bounds = parse_bounds(arguments.bounds);
  if (arguments.no_database) options.database_path.clear();
  if (options.database_path.empty() && !arguments.no_database)
    fmt::print(
        stderr,
        "korch: warning: no kernel database: there is no home folder ($XDG_CACHE_HOME, $HOME); nothing is "
        "remembered for the next compilation (--profile-db FILE, or --no-profile-db to say nothing)\n");
  if (options.stop_after.empty() && arguments.output.empty())
    arguments.output = default_output(arguments.model);
  if (options.stop_after.empty()) require_writable(arguments.output);
  const ModelFile model(arguments.model);
  const bool on_terminal = !arguments.quiet && ::isatty(STDERR_FILENO) != 0;
  if (on_terminal)
    options.progress = TerminalProgress();
  else if (!arguments.quiet)
    options.progress = PlainProgress();
  const CompileResult result = [&] {
    const LineCleaner cleaner{on_terminal};
    return compile_model(model.path(), arguments.output, options);
  }();
  for (const std::string& warning : result.warnings) fmt::print(stderr, "korch: warning: {}\n", warning);
  print_result(result, arguments);
}

constexpr const char* kForExperts = "Options for experts";

// A row of the table on the command line.
void declare(Options& verb, const OptionRow& row, UserOptions& options) {
  const auto set = [&options, name = row.name](const std::string& value) {
    set_option(options, kProgram, name, value);
  };
  if (row.kind == OptionKind::truth) {
    const bool is_negated = row.preset == "1";
    Option flag = verb.flag(
        row.program_name, [set, is_negated] { set(is_negated ? "0" : "1"); },
        is_negated ? row.otherwise : row.help);
    if (row.is_for_experts) flag.group(kForExperts);
    return;
  }
  const std::string type = row.kind == OptionKind::word    ? fmt::format("{{{}}}", fmt::join(row.words, ","))
                           : row.kind == OptionKind::whole ? "INT"
                           : row.kind == OptionKind::seconds ? "TIME"
                                                             : "TEXT";
  Option option = row.kind == OptionKind::texts ? verb.repeated(row.program_name, set, row.help)
                                                : verb.option(row.program_name, set, row.help);
  option.type(type).default_text(row.preset);
  if (row.is_for_experts) option.group(kForExperts);
}

}  // namespace

void add_compile_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<CompileArguments>();
  Options verb = command_line.verb("compile", "network (ONNX) -> executable, optimized for a target");
  verb.option("model", arguments->model, kModelHelp).required();
  verb.option(
      "-o,--output", arguments->output,
      "the executable to write, a shared library; else the network's name with .so, in the current folder");
  verb.option("--shape", arguments->shapes,
              "what the model leaves open (repeatable): an input, NAME=1x3x224x224, or a symbolic "
              "dimension everywhere, SYMBOL=4; a range, SYMBOL=1..64 or NAME=1..64x3x224x224, makes an "
              "executable for all of it; what follows from others (a mask's past + seq) may be left out");
  verb.option("--bound", arguments->bounds, kBoundHelp);
  for (const OptionRow& row : option_rows(kProgram)) declare(verb, row, arguments->user);
  verb.flag(
      "--no-measure",
      [options = &arguments->user] { set_option(*options, kProgram, "measure", name(Measure::none)); },
      "the same as --measure none");
  verb.flag("--no-profile-db", arguments->no_database, "neither read nor write a kernel database");
  verb.flag("--quiet", arguments->quiet, "tell no progress on the standard error");
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.runs([arguments] { run_compile(*arguments); });
}

}  // namespace korch
