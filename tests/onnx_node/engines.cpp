#include "engines.h"

#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/interp/interpreter.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

std::vector<HostTensor> run_interpreter(const Graph& graph, const std::vector<HostTensor>& inputs) {
  InterpretOptions options;
  options.precision = Precision::native;
  return interpret(graph, inputs, options);
}

// The executable that `korch compile` would write, planned on bounds: what is checked here is not how fast it
// is.
std::vector<HostTensor> run_plan(Strategy strategy, const Graph& graph,
                                 const std::vector<HostTensor>& inputs) {
  static const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.strategy = strategy;
  options.measure = false;
  options.verify = false;
  options.database_path =
      folder.path() + "/kernels.db";  // kernels and this machine's speeds are shared by the cases
  const std::string executable = folder.path() + "/case.so";
  compile_graph(graph, "case", executable, options);
  return LoadedExecutable(executable).run(inputs);
}

Engine plan_engine(const std::string& name, Strategy strategy, int one_in, int min_passed) {
  const auto run = [strategy](const Graph& graph, const std::vector<HostTensor>& inputs) {
    return run_plan(strategy, graph, inputs);
  };
  return {name, run, true, one_in, min_passed};
}

}  // namespace

const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = {
      {"interpreter", run_interpreter, false, 1, 801},
      plan_engine("greedy plan", Strategy::greedy, 1, 801),
      plan_engine("unfused plan", Strategy::unfused, 4, 232),
      plan_engine("optimal plan", Strategy::optimal, 4, 232),
  };
  return all;
}

}  // namespace korch
