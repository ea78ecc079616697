// The family "loop": every candidate without linear and opaque primitives, as generated loop nests
// (docs/design/codegen-loop.md).
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

void list_loop(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy,
               std::vector<Implementation>& found, std::vector<Refusal>& refused);
Result<tile::ScheduledGraph> build_loop(const Graph& graph, const Candidate& candidate,
                                        const Implementation& implementation, const Device& target);

// The layout change of one Value.
tile::ScheduledGraph reorder_tile_graph(const TensorType& type, const Layout& from, const Layout& to,
                                        const Device& target);

}  // namespace korch
