// The family "opaque": one kernel per opaque primitive (TopK, CumSum, element-wise gathers and scatters),
// row-major. They exist so that no model fails for want of a kernel.
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

void list_opaque(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<tile::ScheduledGraph> build_opaque(const Graph& graph, const Candidate& candidate,
                                          const Implementation& implementation, const Device& target);

}  // namespace korch
