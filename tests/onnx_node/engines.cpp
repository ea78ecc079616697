#include "engines.h"

#include <cstdlib>

#include "korch/base/files.h"
#include "korch/device/device.h"
#include "korch/driver/pipeline.h"
#include "korch/interp/interpreter.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

constexpr const char* kGpu = "sm_90";

std::vector<HostTensor> run_interpreter(const Graph& graph, const std::vector<HostTensor>& inputs) {
  InterpretOptions options;
  options.precision = Precision::native;
  std::vector<HostTensor> outputs = interpret(graph, inputs, options);
  const std::vector<Shape> shapes = output_shapes(graph, outputs);
  outputs.resize(outputs.size() - graph.extents().size());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = outputs[i].cropped(shapes[i]);
  return outputs;
}

// The executable that `korch compile` would write, planned on bounds: speed is not what is checked here.
std::vector<HostTensor> run_plan(Strategy strategy, const std::string& target, const Graph& graph,
                                 const std::vector<HostTensor>& inputs) {
  static const TempDir folder;
  CompileOptions options;
  options.heal = false;
  options.target = target;
  options.emulation = target == kGpu;
  if (target != kGpu) options.threads = 2;
  options.strategy = strategy;
  options.measure = Measure::none;
  options.verify = false;
  options.database_path =
      folder.path() + "/kernels.db";  // shared by the cases: kernels, this machine's speeds
  const std::string executable = folder.path() + "/case.so";
  compile_graph(graph, "case", executable, options);
  return LoadedExecutable(executable).run(inputs);
}

Engine plan_engine(const std::string& name, Strategy strategy, const std::string& target, int one_in,
                   int min_passed) {
  const auto run = [=](const Graph& graph, const std::vector<HostTensor>& inputs) {
    return run_plan(strategy, target, graph, inputs);
  };
  return {name, run, true, one_in, min_passed};
}

}  // namespace

const std::vector<Engine>& engines() {
#ifdef KORCH_FAKE_CUDA
  ::setenv("KORCH_CUDA_DRIVER", KORCH_FAKE_CUDA, 0);
  ::setenv("KORCH_NVRTC", KORCH_FAKE_NVRTC, 0);
#endif
  const std::string narrow = runs_here(Isa::x86_64_v3) ? "x86-64-v3" : "native";
  static const std::vector<Engine> all = {
      {"interpreter", run_interpreter, false, 1, 1000},
      plan_engine("greedy plan", Strategy::greedy, "native", 1, 1000),
      plan_engine("unfused plan", Strategy::unfused, "native", 4, 285),
      plan_engine("optimal plan, " + narrow, Strategy::optimal, narrow, 4, 285),
#ifdef KORCH_FAKE_CUDA
      plan_engine("greedy plan, emulated GPU", Strategy::greedy, kGpu, 1, 1000),
#endif
  };
  return all;
}

}  // namespace korch
