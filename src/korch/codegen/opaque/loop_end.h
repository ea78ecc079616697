// The two ends of a loop (ir/loops.h): calls of the runtime (runtime/library.h), since they copy, and decide
// how the executor goes on.
#pragma once

#include "korch/codegen/implementation.h"

namespace korch {

void list_loop_end(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                   std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<Kernel> generate_loop_end(const Graph& graph, const Candidate& candidate,
                                 const Implementation& implementation, const Device& target);

}  // namespace korch
