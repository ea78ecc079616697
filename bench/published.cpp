// A network planned as Korch (ASPLOS 2024) plans it, to compare with: rewritten first (rules that never do
// more work), kernels of one output, linear primitives alone, row-major tensors; a binary linear program
// chooses.
//
//     build/release/bench/bench_published MODEL.onnx EXECUTABLE.so [--threads N] [--accuracy strict|standard]
//                                         [--profile-db FILE]
//
// Configure with -DKORCH_BENCH=ON. bench/ablation.py runs it; kernels, costs and program are those of `korch
// compile`.
#include <fmt/format.h>

#include "command_line.h"
#include "korch/base/error.h"
#include "korch/candidate/enumerate.h"
#include "korch/candidate/execution_states.h"
#include "korch/codegen/implementation.h"
#include "korch/driver/finish.h"
#include "korch/driver/stages.h"
#include "korch/fission/fission.h"
#include "korch/onnx/import.h"
#include "korch/options/option_table.h"
#include "korch/profile/footprint.h"

namespace korch {
namespace {

Candidates published_candidates(const Rewritten& rewritten) {
  EnumerateOptions options;
  options.max_outputs = 1;
  options.max_linear = 0;  // of a set of several
  Enumeration enumeration = enumerate_candidates(rewritten.base, linear_context(), options);
  Candidates result;
  result.all = std::move(enumeration.candidates);
  result.pruned = std::move(enumeration.pruned);
  result.execution_states = count_execution_states(rewritten.base);
  return result;
}

void compile_as_published(const std::string& model, const std::string& output,
                          const CompileOptions& options) {
  Device device = detect_device(options.target, options.threads);
  std::unique_ptr<Database> database;
  if (!options.database_path.empty()) database = std::make_unique<Database>(options.database_path);
  const StageDeadlines deadlines(options.budget_s);
  StageClock clock(options);
  const Setting setting{options, device, deadlines, database.get()};
  const Imported network = imported(import_onnx(model, {}), model);
  const Graph primitives = fission(network.graph);
  const Rewritten rewritten = add_alternatives(primitives, {.strict = options.accuracy == Accuracy::strict,
                                                            .bytes = device.multiplies_bytes,
                                                            .alternatives = false});
  const PlanningSpeeds speeds = planning_speeds(device, options.strategy, database.get());
  device = speeds.device;
  KernelBank bank(rewritten.graph, device, database.get(), footprint_bytes(primitives));
  Candidates candidates = published_candidates(rewritten);
  Columns columns = build_columns(rewritten.graph, std::move(candidates.all), device,
                                  {.accuracy = options.accuracy, .layouts = Layouts::row_major});
  const Choice choice = choose(rewritten, candidates, bank, setting, columns);
  BuiltPlan built =
      make_plan({network, primitives, rewritten, candidates, columns, choice, speeds.are}, bank, setting);
  built.plan.report.strategy = "published";
  std::vector<Placement> placements = find_tasks(built, setting);
  const Finished finished = finish(network, built, std::move(placements), output, nullptr, setting, clock);
  if (finished.fault) throw finished.fault->error;
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  korch::CommandLine command_line("a network planned as Korch (ASPLOS 2024) plans it");
  std::string model, output;
  korch::UserOptions user = korch::preset_options();
  user.compile.verify = false;
  const auto set = [&](const char* name) {
    return [&user, name](const std::string& value) { set_option(user, korch::kProgram, name, value); };
  };
  command_line.option("model", model).required();
  command_line.option("output", output).required();
  command_line.option("--threads", set("threads"), "");
  command_line.option("--accuracy", set("accuracy"), "");
  command_line.option("--profile-db", set("database"), "");
  try {
    if (const std::optional<int> code = command_line.parse(argc, argv)) return *code;
    korch::compile_as_published(model, output, user.compile);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
