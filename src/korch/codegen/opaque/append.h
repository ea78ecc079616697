// Append (ir/append.h): a call of the runtime (runtime/library.h), which copies nothing but the new rows
// where the old ones lie in the result already.
#pragma once

#include "korch/codegen/implementation.h"

namespace korch {

void list_append(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<Kernel> generate_append(const Graph& graph, const Candidate& candidate,
                               const Implementation& implementation, const Device& target);

}  // namespace korch
