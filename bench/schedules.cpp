// What other schedules would cost: of each kernel of a network's plan those that the families know beside the
// one that they list (other tiles, other grids), measured like the search measures kernels.
//
//     build/release/bench/bench_schedules MODEL.onnx [--threads N] [--profile-db FILE] [--share S]
//
// Configure with -DKORCH_BENCH=ON. Of kernels that take S of the plan's time [0.01] or more, a row each: its
// own cost, that of the best other schedule, their ratio; then what the plan would cost with the best of all.
#include <fmt/format.h>

#include <algorithm>

#include "command_line.h"
#include "korch/backend/backend.h"
#include "korch/driver/stages.h"
#include "korch/fission/fission.h"
#include "korch/onnx/import.h"
#include "korch/options/option_table.h"
#include "korch/profile/footprint.h"

namespace korch {
namespace {

struct Best {
  double us = 0, seconds = 0, own_us = 0;
  int tried = 0;
  std::string schedule;
};

// All are measured as often and as carefully, in turn with the kernel's own.
Best best_of(const Graph& graph, const Columns& columns, int column, KernelBank& bank, const Device& device) {
  const ColumnInfo& info = columns.infos[column];
  const Candidate& candidate = columns.candidates[info.candidate];
  Best best;
  best.schedule = to_string(info.implementation.schedule);
  const auto measured = [&](const KernelRequest& request) {
    bank.measure({request}, Care::twice);
    return *bank.find(request.key);
  };
  best.us = measured(kernel_request(graph, columns, column)).value().cost->us;
  const double own_us = best.us;
  const Stopwatch watch;
  for (const Implementation& implementation : rescheduled(graph, candidate, info.implementation, device)) {
    KernelRequest request = kernel_request(graph, columns, column);
    request.implementation = &implementation;
    request.key = kernel_key(canonical_hash(graph, candidate), implementation);
    const Result<BuiltKernel> built = measured(request);
    if (!built) continue;
    ++best.tried;
    const double us = built.value().cost->us;
    if (us >= best.us) continue;
    best.us = us;
    best.schedule = to_string(implementation.schedule);
  }
  best.seconds = watch.seconds();
  best.own_us = own_us;
  return best;
}

void report(const std::string& model, const CompileOptions& options, double share) {
  Device device = device_of(options);
  const auto database = std::make_unique<Database>(options.database_path);
  const StageDeadlines deadlines(options.budget_s);
  const Setting setting{options, device, deadlines, database.get()};
  const Graph primitives = fission(import_onnx(model, {}));
  const Rewritten rewritten = with_alternatives(primitives, setting);
  device = planning_speeds(device, options.strategy, database.get()).device;
  KernelBank bank(rewritten.graph, device, database.get(), footprint_bytes(primitives));
  Candidates candidates = find_candidates(rewritten, bank, setting);
  Columns columns = make_columns(rewritten, std::move(candidates.all), candidates.first_optional, setting);
  const Choice choice = choose(rewritten, candidates, bank, setting, columns);
  double all = 0, own = 0, other = 0, seconds = 0;
  std::map<Hash, std::vector<int>> kernels;
  for (int column : choice.solved.solution.chosen) {
    all += columns.problem.columns[column].cost_us;
    if (columns.infos[column].kind == ColumnInfo::Kind::kernel)
      kernels[columns.infos[column].key].push_back(column);
  }
  fmt::print(
      "| kernel | times | us | other us | ratio | schedule | best | tried | s "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [key, same] : kernels) {
    const double us = columns.problem.columns[same[0]].cost_us, times = static_cast<double>(same.size());
    if (us * times < share * all) continue;
    const Best best = best_of(rewritten.graph, columns, same[0], bank, device);
    if (best.tried == 0) continue;
    own += best.own_us * times;
    other += best.us * times;
    seconds += best.seconds;
    fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.3f} | {} | {} | {} | {:.1f} |\n",
               to_string(columns.infos[same[0]].implementation), same.size(), best.own_us, best.us,
               best.us / best.own_us, to_string(columns.infos[same[0]].implementation.schedule),
               best.schedule, best.tried, best.seconds);
  }
  fmt::print("plan {:.1f} us; with the best schedules {:.1f} us ({:.3f}); {:.1f} s of measuring\n", all,
             all - own + other, (all - own + other) / all, seconds);
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  korch::CommandLine command_line("what other schedules would cost");
  std::string model;
  double share = 0.01;
  korch::UserOptions user = korch::preset_options();
  const auto set = [&](const char* name) {
    return [&user, name](const std::string& value) { set_option(user, korch::kProgram, name, value); };
  };
  command_line.option("model", model).required();
  command_line.option("--threads", set("threads"), "");
  command_line.option("--profile-db", set("database"), "");
  command_line.option("--share", share);
  try {
    if (const std::optional<int> code = command_line.parse(argc, argv)) return *code;
    korch::report(model, user.compile, share);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
