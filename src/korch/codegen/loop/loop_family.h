// The family "loop": every candidate without linear and opaque primitives, as generated loop nests
// (docs/design/codegen-loop.md).
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

void list_loop(const Graph& graph, const Candidate& candidate, const Target& target, Accuracy accuracy,
               std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<Kernel> generate_loop(const Graph& graph, const Candidate& candidate,
                             const Implementation& implementation, const Target& target);

// The same kernel as CUDA C++ (codegen/loop/print_cuda.h tells its signature and launch).
Result<std::string> generate_loop_cuda(const Graph& graph, const Candidate& candidate,
                                       const Implementation& implementation);

}  // namespace korch
