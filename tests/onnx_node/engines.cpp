#include "engines.h"

#include "korch/interp/interpreter.h"

namespace korch {
namespace {

std::vector<HostTensor> run_interpreter(const Graph& graph, const std::vector<HostTensor>& inputs) {
  InterpretOptions options;
  options.precision = Precision::native;
  return interpret(graph, inputs, options);
}

}  // namespace

const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = {
      {"interpreter", run_interpreter, 655},
  };
  return all;
}

}  // namespace korch
