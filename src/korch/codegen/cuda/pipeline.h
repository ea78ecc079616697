// A product held in registers and the panels that it multiplies, as a pipeline: while one k tile is
// multiplied the panels of the next one are filled (NestSchedule::stages).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "korch/codegen/cuda/held_tile.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// Nests [first, product) fill the panels, one each, in the loops of the product. Panels lie in shared memory,
// once per stage. Of the loops the first `outer` are around other nests, too.
struct Pipeline {
  size_t first = 0, product = 0;
  size_t outer = 0;
  int stages = 1;
  std::set<int> panels;
};

// Of a phase, in order, where the schedule asks for several stages and nothing else accesses the panels.
std::vector<Pipeline> pipelines(const ScheduledGraph& graph, size_t phase,
                                const std::map<int, HeldTile>& held);

// The one load that a nest copies into scratch, elements or zeros; none: it computes.
std::optional<int> copied_load(const TileGraph& graph, const Nest& nest);

}  // namespace korch::tile
