#include "emulated_check.h"

#include "emulator.h"
#include "korch/ir/text.h"

namespace korch::testing {

std::string check_emulated(const Graph& graph, const Candidate& candidate, const Reference& reference,
                           const CudaKernel& kernel, const Implementation& implementation) {
  Emulator emulator;
  std::vector<Gpu::Function> functions;
  std::string problem;
  for (const CudaPhase& phase : kernel.phases) {
    const Result<Gpu::Function> function = emulator.load(kernel.source, phase.symbol);
    if (function.ok())
      functions.push_back(function.value());
    else
      problem = function.refusal().detail;
  }
  for (ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::descending}) {
    if (!problem.empty()) break;
    emulator.set_order(order);
    Launch launch = launch_of(kernel, implementation);
    launch.functions = functions;
    problem = check_kernel(emulator, graph, candidate, reference, launch).problem;
  }
  if (problem.empty()) return {};
  return problem + "\n" + print(graph) + to_string(implementation) + "\n" +
         kernel.source.substr(kernel.source.find("extern \"C\""));
}

}  // namespace korch::testing
