#include "korch/inspect/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli.h"
#include "korch/base/file_roles.h"
#include "korch/base/files.h"
#include "korch/base/json.h"
#include "korch/base/usable_cpus.h"
#include "korch/driver/planning_speeds.h"
#include "korch/inspect/trace.h"
#include "korch/options/option_table.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"
#include "korch/profile/database.h"
#include "verbs.h"

namespace korch {
namespace {

struct BenchArguments {
  std::vector<std::string> executables, inputs, shapes;
  BenchOptions options;
  std::string database, export_json, trace;
  bool profile = false, json = false;
};

nlohmann::ordered_json to_json(const BenchRow& row) {
  return {{"path", row.path},
          {"inferences_per_s", row.inferences_per_s()},
          {"min_us", row.min_us},
          {"max_us", row.max_us},
          {"mean_us", row.mean_us},
          {"median_us", row.median_us},
          {"p10_us", row.p10_us},
          {"p90_us", row.p90_us},
          {"p99_us", row.p99_us},
          {"rounds", row.rounds},
          {"ratio", row.ratio},
          {"ratio_low", row.ratio_low},
          {"ratio_high", row.ratio_high},
          {"flops", row.flops},
          {"load_ms", row.load_ms}};
}

struct Profile {
  std::vector<StepProfile> steps;
  Device device;
  double total_us = 0, predicted_us = 0;
};

Profile take_profile(const BenchArguments& arguments) {
  Profile profile;
  profile.steps = profile_steps(arguments.executables.front(), arguments.options);
  for (const StepProfile& step : profile.steps) {
    profile.total_us += step.median_us;
    profile.predicted_us += step.predicted_us;
  }
  const Device planned_for = plan_from_json(read_plan_json(arguments.executables.front())).report.device;
  if (planned_for.is_gpu()) {  // by its data sheet
    profile.device = planned_for;
    return profile;
  }
  const std::string database_path =
      arguments.database.empty() ? place_in_cache("kernels.db") : arguments.database;
  std::unique_ptr<Database> database;
  if (!database_path.empty()) database = std::make_unique<Database>(database_path);
  profile.device =
      planning_speeds(detect_device("native", arguments.options.threads), Strategy::optimal, database.get())
          .device;
  return profile;
}

nlohmann::ordered_json to_json(const Profile& profile) {
  nlohmann::ordered_json json = {{"total_us", profile.total_us},
                                 {"predicted_us", profile.predicted_us},
                                 {"l1_peak_bytes_per_us", profile.device.memory[0].bytes_per_us},
                                 {"peak_flops_per_us", profile.device.flops_per_us},
                                 {"steps", nlohmann::json::array()}};
  for (const StepProfile& s : profile.steps)
    json["steps"].push_back({{"label", s.label},
                             {"implementation", s.implementation},
                             {"median_us", s.median_us},
                             {"predicted_us", s.predicted_us},
                             {"bytes", s.bytes},
                             {"flops", s.flops}});
  return json;
}

void print_profile(const std::string& path, const Profile& profile) {
  fmt::print("\n{}: {} steps, {:.1f} us (predicted {:.1f} us)\n", path, profile.steps.size(),
             profile.total_us, profile.predicted_us);
  // What bytes are compared with: the fastest memory of a CPU, of a GPU the one that all its kernels share.
  const bool is_gpu = profile.device.is_gpu();
  const double most_per_us =
      (is_gpu ? profile.device.memory.back() : profile.device.memory.front()).bytes_per_us;
  fmt::print("step        us  predicted  share%     GB/s  {:>7}   GFLOP/s   %FMA  kernel\n",
             is_gpu ? "%memory" : "%L1peak");
  for (size_t i = 0; i < profile.steps.size(); ++i) {
    const StepProfile& s = profile.steps[i];
    const double us = std::max(s.median_us, 1e-3);
    fmt::print("{:4} {:9.2f}  {:9.2f}  {:5.1f}  {:8.1f}  {:6.1f}  {:8.1f}  {:5.1f}  {} [{}]\n", i,
               s.median_us, s.predicted_us, 100 * s.median_us / profile.total_us, s.bytes / us / 1e3,
               100 * s.bytes / us / most_per_us, s.flops / us / 1e3,
               100 * s.flops / us / profile.device.flops_per_us, s.label, s.implementation);
  }
}

void print_rows(const BenchResult& result) {
  for (const BenchRow& row : result.rows) {
    fmt::print("{}: {} rounds, loaded in {:.1f} ms\n", row.path, row.rounds, row.load_ms);
    fmt::print("  throughput {:.1f} inferences/s, {:.1f} GFLOP/s\n", row.inferences_per_s(),
               row.flops / row.mean_us / 1e3);
    fmt::print("  latency    median {:.1f} us, mean {:.1f}, min {:.1f}, max {:.1f}, p90 {:.1f}, p99 {:.1f}\n",
               row.median_us, row.mean_us, row.min_us, row.max_us, row.p90_us, row.p99_us);
    if (&row != &result.rows.front())
      fmt::print("  time over {}: {:.3f} [{:.3f}, {:.3f}]\n", result.rows.front().path, row.ratio,
                 row.ratio_low, row.ratio_high);
  }
  fmt::print("peak memory of this process {:.1f} MB\n", result.peak_memory_bytes / 1e6);
}

// Before anything is timed: what would be written over something that is read is refused.
void reserve_files(const BenchArguments& arguments) {
  if (arguments.export_json.empty() && arguments.trace.empty()) return;
  FileRoles files;
  for (const std::string& executable : arguments.executables) files.reads("the executable", executable);
  for (const auto& [name, file] : arguments.options.input_files)
    files.reads(fmt::format("the input '{}'", name), file);
  const std::string database = arguments.database.empty() ? place_in_cache("kernels.db") : arguments.database;
  if (arguments.profile && !database.empty())
    for (const std::string& file : Database::files(database)) files.reads("the kernel database", file);
  for (const auto& [what, file] :
       {std::pair{"the JSON file", arguments.export_json}, {"the trace", arguments.trace}}) {
    if (file.empty()) continue;
    files.writes(what, file);
    require_writable(file);
  }
}

// Of every executable, with every schedule that was asked for.
std::string take_trace(const BenchArguments& arguments) {
  std::vector<std::optional<PlanSchedule>> schedules(arguments.options.schedules.begin(),
                                                     arguments.options.schedules.end());
  if (schedules.empty()) schedules.emplace_back();
  std::vector<TracedRun> runs;
  for (const std::string& path : arguments.executables)
    for (const std::optional<PlanSchedule> schedule : schedules)
      runs.push_back({path + (schedule ? fmt::format(" ({})", name(*schedule)) : ""),
                      time_line(path, arguments.options, schedule), plan_from_json(read_plan_json(path))});
  return chrome_trace(runs);
}

void run_bench(const BenchArguments& arguments) {
  reserve_files(arguments);
  // First, since it is not to be had of every executable.
  if (!arguments.trace.empty()) write_file(arguments.trace, take_trace(arguments));
  const BenchResult result = bench(arguments.executables, arguments.options);
  std::optional<Profile> profile;
  if (arguments.profile) profile = take_profile(arguments);
  nlohmann::ordered_json json = {{"peak_memory_bytes", result.peak_memory_bytes},
                                 {"rows", nlohmann::json::array()}};
  for (const BenchRow& row : result.rows) json["rows"].push_back(to_json(row));
  if (profile) json["profile"] = to_json(*profile);
  if (!arguments.export_json.empty()) write_file(arguments.export_json, json_text(json));
  if (arguments.json) {
    print_json(json);
    return;
  }
  print_rows(result);
  if (profile) print_profile(arguments.executables.front(), *profile);
  if (!arguments.trace.empty())
    fmt::print("wrote {}: open it in ui.perfetto.dev or chrome://tracing\n", arguments.trace);
}

}  // namespace

void add_bench_verb(CommandLine& command_line) {
  auto arguments = std::make_shared<BenchArguments>();
  Options verb = command_line.verb("bench", "time executables, interleaved");
  verb.option("executables", arguments->executables,
              "one or more; the first is what the others are compared with")
      .required();
  verb.option("--rounds", arguments->options.rounds, "runs of each").between(5, 1000000).default_shown();
  verb.option("--max-seconds", arguments->options.max_seconds, "stop earlier than --rounds")
      .positive()
      .default_shown();
  arguments->options.loadings = 10;
  verb.option("--loadings", arguments->options.loadings, "the rounds are shared out over so many")
      .between(1, 1000)
      .default_shown();
  verb.option("--threads", arguments->options.threads,
              "workers; 0: as compiled, as far as the process may use so many")
      .between(0, kMostWorkers)
      .default_shown();
  verb.choice("--schedule", arguments->options.schedules,
              "instead of the one it was compiled with (repeatable: each executable with each)",
              schedules_by_name());
  verb.option("--input", arguments->inputs, kInputHelp);
  verb.option("--shape", arguments->shapes,
              "extent of an open dimension, SYMBOL=4 (repeatable), of executables that have it; the largest "
              "where not given");
  verb.option("--profile-db", arguments->database, "kernel database that knows the machine's peaks");
  verb.flag("--profile", arguments->profile, "a table per kernel of the first executable");
  verb.option("--trace", arguments->trace,
              "write what each worker did in the run of median duration: a trace for ui.perfetto.dev or "
              "chrome://tracing (CPUs)");
  verb.flag("--json", arguments->json, "print the result as JSON");
  verb.option("--export-json", arguments->export_json, "write the same JSON into this file");
  verb.runs([arguments] {
    const InputFiles inputs(arguments->inputs);
    arguments->options.input_files = inputs.by_name();
    arguments->options.extents = parse_extents(arguments->shapes);
    run_bench(*arguments);
  });
}

}  // namespace korch
