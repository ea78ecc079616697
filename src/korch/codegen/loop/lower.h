// Lowering: which Values of a candidate become intermediates, what the parallel grid is, and the loop nests
// of a slice.
#pragma once

#include "korch/base/result.h"
#include "korch/codegen/implementation.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// Linear primitives are sums over nests' reduced loops, without register tiles. Refuses opaque primitives,
// types without arithmetic, work that no grid avoids repeating (redundant_work) and intermediates beyond the
// scratch (scratch_too_large).
Result<ScheduledGraph> lower(const Graph& graph, const Candidate& candidate,
                             const Implementation& implementation, const Device& target);

// The structural part of that, without lowering; linear primitives, too, where the caller is not for them.
enum class Linear { refused, summed };
std::optional<Refusal> unsupported(const Graph& graph, const Candidate& candidate, Linear linear);

}  // namespace korch::tile
