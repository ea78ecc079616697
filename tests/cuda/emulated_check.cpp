#include "emulated_check.h"

#include "korch/base/ceil_div.h"
#include "korch/ir/text.h"

namespace korch::testing {

namespace {

// Of each phase of the kernel; `problem` where one does not compile.
std::vector<Gpu::Function> load_phases(Emulator& emulator, const CudaKernel& kernel, std::string& problem) {
  std::vector<Gpu::Function> functions;
  for (const CudaPhase& phase : kernel.phases) {
    const Result<Gpu::Function> function = emulator.load(kernel.source, phase.symbol);
    if (function.ok())
      functions.push_back(function.value());
    else
      problem = function.refusal().detail;
  }
  return functions;
}

}  // namespace

CheckedRun run_checked(Emulator& emulator, const Graph& graph, const Candidate& candidate,
                       const Reference& reference, Launch launch, int64_t slices_per_block) {
  for (int64_t& grid : launch.grids) grid = ceil_div(grid, slices_per_block);
  emulator.checker().clear_findings();
  CheckedRun run;
  run.wrong = check_kernel(emulator, graph, candidate, reference, launch).problem;
  run.findings = emulator.checker().findings();
  return run;
}

std::string check_emulated(const Graph& graph, const Candidate& candidate, const Reference& reference,
                           const CudaKernel& kernel, const Implementation& implementation) {
  std::string problem;
  Launch launch = launch_of(kernel, implementation);
  Emulator emulator;
  launch.functions = load_phases(emulator, kernel, problem);
  for (ThreadOrder order : {ThreadOrder::ascending, ThreadOrder::descending}) {
    if (!problem.empty()) break;
    emulator.set_order(order);
    problem = check_kernel(emulator, graph, candidate, reference, launch).problem;
  }
  Emulator checking(Checks::memory);
  if (problem.empty()) launch.functions = load_phases(checking, kernel, problem);
  for (int64_t slices_per_block : {1, 2}) {
    if (!problem.empty()) break;
    const CheckedRun run = run_checked(checking, graph, candidate, reference, launch, slices_per_block);
    problem = run.wrong;
    for (const Finding& finding : run.findings)
      problem += finding.text + " (" + std::to_string(finding.count) + " times)\n";
  }
  if (problem.empty()) return {};
  return problem + "\n" + print(graph) + to_string(implementation) + "\n" +
         kernel.source.substr(kernel.source.find("extern \"C\""));
}

}  // namespace korch::testing
