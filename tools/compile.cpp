#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <optional>

#include "cli.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/stopwatch.h"
#include "korch/base/usable_cpus.h"
#include "korch/driver/pipeline.h"
#include "korch/driver/progress.h"
#include "korch/plan/plan_json.h"
#include "verbs.h"

namespace korch {
namespace {

struct CompileArguments {
  std::string model, output, database, budget;
  std::vector<std::string> shapes;
  bool no_measure = false, no_database = false, no_verify = false, quiet = false, json = false;
  CompileOptions options;
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

void set_strategy(CompileOptions& options, const std::string& text) {
  constexpr std::string_view kRandom = "random:";
  if (text.starts_with(kRandom)) {
    const char* end = text.data() + text.size();
    const auto [read, code] = std::from_chars(text.data() + kRandom.size(), end, options.random_seed);
    if (code != std::errc() || read != end)
      refuse_value("--strategy", "the seed in '" + text + "' must be a whole number");
    options.strategy = Strategy::random;
    return;
  }
  for (const Strategy strategy :
       {Strategy::optimal, Strategy::published, Strategy::greedy, Strategy::unfused}) {
    options.strategy = strategy;
    if (text == name(strategy)) return;
  }
  refuse_value("--strategy",
               "must be optimal, published, greedy, unfused or random:SEED, not '" + text + "'");
}

bool stopped_before_plan(const CompileArguments& arguments) {
  return !arguments.options.stop_after.empty() && arguments.options.stop_after != "plan";
}

void print_result(const CompileResult& result, const CompileArguments& arguments) {
  const PlanReport& r = result.plan.report;
  if (arguments.json) {
    if (stopped_before_plan(arguments)) {
      const nlohmann::ordered_json stopped = {{"stopped_after", arguments.options.stop_after},
                                              {"seconds", result.stage_seconds},
                                              {"warnings", result.warnings}};
      print_json(stopped);
      return;
    }
    nlohmann::ordered_json json = {{"output", arguments.output}, {"steps", result.plan.steps.size()}};
    json.update(nlohmann::ordered_json::parse(report_to_json(r)));
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
    fmt::print("stopped after {}; {:.1f} s ({})\n", arguments.options.stop_after, total, stages);
    return;
  }
  // Bound, gap and certificate are of the solver's plan, also where another one was faster when run whole.
  const std::string solvers =
      kept_plan(r) == "solver's" ? "" : fmt::format("solver's plan {:.1f} us, ", r.objective_us);
  fmt::print("{} primitives -> {} kernels, predicted {:.1f} us ({}{} {:.1f} us, gap {:.2f} %{})\n",
             r.primitives, result.plan.steps.size(), predicted_us(r), solvers,
             is_bound_proven(r) ? "bound" : "bound in doubt", r.bound_us, 100 * r.gap,
             r.certified ? (is_bound_proven(r) ? ", certified" : ", certified for these costs")
                         : ", solver: " + r.solver_status);
  std::string runs;
  for (const WholeRun& run : r.whole_runs)
    runs += fmt::format("{}{} plan {:.1f} us{}", runs.empty() ? "run whole: " : "; ", run.plan,
                        run.measured_us, runs.empty() ? " (kept: no other is faster beyond doubt)" : "");
  if (!runs.empty()) fmt::print("{}\n", runs);
  for (const std::string& limit : r.limits) fmt::print("limit reached: {}\n", limit);
  fmt::print(
      "{} candidates, {} columns of {} different kernels, {} measured; {} kernels compiled and {} "
      "measured now\n",
      r.candidates, r.columns, r.kernels, r.measured, result.compiled, result.measured);
  fmt::print("{:.1f} s ({})\n", total, stages);
  if (arguments.options.stop_after.empty()) fmt::print("wrote {}\n", arguments.output);
}

void run_compile(CompileArguments& arguments) {
  CompileOptions& options = arguments.options;
  options.measure = !arguments.no_measure;
  options.verify = !arguments.no_verify;
  parse_shapes(arguments.shapes, &options.shapes, &options.least_shapes);
  if (!arguments.budget.empty()) options.budget_s = parse_seconds(arguments.budget);
  options.database_path = arguments.no_database         ? ""
                          : !arguments.database.empty() ? arguments.database
                                                        : default_database_path();
  if (options.database_path.empty() && !arguments.no_database)
    fmt::print(
        stderr,
        "korch: warning: no kernel database: there is no home folder ($XDG_CACHE_HOME, $HOME); nothing is "
        "remembered for the next compilation (--profile-db FILE, or --no-profile-db to say nothing)\n");
  if (options.stop_after.empty() && arguments.output.empty())
    throw Error(ErrorKind::usage, "give the executable's name with -o FILE.so");
  if (options.stop_after.empty()) require_writable(arguments.output);
  const bool on_terminal = !arguments.quiet && ::isatty(STDERR_FILENO) != 0;
  if (on_terminal)
    options.progress = TerminalProgress();
  else if (!arguments.quiet)
    options.progress = PlainProgress();
  const CompileResult result = [&] {
    const LineCleaner cleaner{on_terminal};
    return compile_model(arguments.model, arguments.output, options);
  }();
  for (const std::string& warning : result.warnings) fmt::print(stderr, "korch: warning: {}\n", warning);
  print_result(result, arguments);
}

}  // namespace

void add_compile_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<CompileArguments>();
  CompileOptions& options = arguments->options;
  Options verb = command_line.verb("compile", "network (ONNX) -> executable, optimized for a target");
  verb.option("model", arguments->model, "the network, an .onnx file").required();
  verb.option("-o,--output", arguments->output, "the executable to write, a shared library");
  verb.option("--target", options.target,
              targets_text() + "; or the device of a file, as korch doctor --json wrote it elsewhere")
      .type(fmt::format("{{{}}} or FILE.json", fmt::join(target_names(), ",")))
      .default_shown();
  verb.option("--threads", options.threads, "workers that run the executable; 0: all cores")
      .between(0, kMostWorkers)
      .default_shown();
  verb.option("--shape", arguments->shapes,
              "what the model leaves open (repeatable): an input, NAME=1x3x224x224, or a symbolic "
              "dimension everywhere, SYMBOL=4; a range, SYMBOL=1..64 or NAME=1..64x3x224x224, makes an "
              "executable for all of it");
  verb.choice("--launches", options.launch.ways,
              "of open shapes, other ways to run a kernel, chosen by a run's extents: exact (of which "
              "results do not depend), reassociating (they do, within rounding), none",
              std::map<std::string, LaunchWays>{{"exact", LaunchWays::exact},
                                                {"reassociating", LaunchWays::reassociating},
                                                {"none", LaunchWays::none}});
  verb.option(
          "--seed", options.seed,
          "of random numbers that the model draws, each node without a seed of its own; every run has the "
          "same")
      .default_shown();
  verb.choice(
      "--accuracy", options.accuracy,
      "strict: float32, sums reassociated; standard: also Winograd, Strassen and one-pass variance, "
      "where an infinity, a NaN or a huge number may spoil the results beside it; subnormal "
      "results are 0 (korch explain lists what a plan does of that)",
      std::map<std::string, Accuracy>{{"strict", Accuracy::strict}, {"standard", Accuracy::standard}});
  verb.option(
          "--strategy", [arguments](const std::string& text) { set_strategy(arguments->options, text); },
          "optimal (solved); to compare: published (as Korch, ASPLOS 2024), greedy fusion, unfused; to "
          "debug: random:SEED, any plan")
      .type("{optimal,published,greedy,unfused} or random:SEED");
  verb.choice("--bounds", options.bounds,
              "cost of what is not measured: learned (from kernels of its kind) or analytic (from "
              "machine peaks: slow)",
              std::map<std::string, Bounds>{{"learned", Bounds::learned}, {"analytic", Bounds::analytic}});
  verb.flag("!--no-alternatives", options.alternatives,
            "plan for the network as it is: no other algebra, only fusion and layouts");
  verb.option("--rule", options.rules, "add the alternatives of this rewrite rule only (repeatable)");
  verb.flag("--exhaustive", options.exhaustive, "measure every column, not only those that can matter");
  verb.flag("--no-measure", arguments->no_measure,
            "plan on lower bounds alone (for a machine like this one but absent)");
  verb.flag("--self-contained", options.self_contained,
            "generated kernels only: no vendor library is needed to run");
  verb.flag("--no-verify", arguments->no_verify, "do not check the executable against the interpreter");
  verb.flag("!--no-heal", options.heal,
            "a kernel that proves wrong is an error: do not plan again without it");
  verb.choice("--schedule", options.schedule,
              "barrier: a phase ends before the next begins; dynamic: whoever is free takes what is ready; "
              "static: assigned to workers; else the fastest by a run of each",
              schedules_by_name());
  verb.option("--profile-db", arguments->database, "kernel database [" + default_database_path() + "]");
  verb.flag("--no-profile-db", arguments->no_database, "neither read nor write a kernel database");
  verb.option("--budget", arguments->budget,
              "compile and check within TIME (90s, 5m), about: the best plan found by then, greedy fusion's "
              "at least");
  verb.option("--dump-dir", options.dump_dir, "write every stage as text into this folder");
  verb.option("--save-inputs", options.save_inputs,
              "also write random inputs for the network as .npy files into this folder");
  verb.option("--stop-after", options.stop_after, "end after a stage").one_of(stages_to_stop_after());
  verb.flag("--quiet", arguments->quiet, "tell no progress on the standard error");
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.runs([arguments] { run_compile(*arguments); });
}

}  // namespace korch
