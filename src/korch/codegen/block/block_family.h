// The family `blocks`: candidates for which a search found block graphs (Candidate::structures), each with
// the schedule that is ranked first.
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

void list_blocks(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                 std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<tile::ScheduledGraph> build_blocks(const Graph& graph, const Candidate& candidate,
                                          const Implementation& implementation, const Device& target);
// Other rows of a slice, and other blocks of the loop's axis.
void reschedule_blocks(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                       const Device& target, std::vector<Schedule>& found);

}  // namespace korch
