// The family "recurrence": all steps of one direction of an LSTM, GRU or RNN (ir/recurrence.h) in one kernel.
// In a step, blocks of the hidden elements side by side: the products of each gate with the state before, as
// register tiles, then everything elementwise. The weights are packed and stay in the caches that hold them.
// Either the workers share each step, or one of them does all, which needs no barrier.
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

void list_recurrence(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
                     std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<tile::ScheduledGraph> build_recurrence(const Graph& graph, const Candidate& candidate,
                                              const Implementation& implementation, const Device& target);

}  // namespace korch
