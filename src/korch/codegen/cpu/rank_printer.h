// The nests that rank elements, as C++ that every target reads.
#pragma once

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// At one point of its loops. top_k: O(n log k) comparisons, the heap in the places of the positions.
// suppress: as many comparisons as elements are left after each one that is taken.
void print_ranking(const TileGraph& graph, const Nest& nest, BodyEmitter& emitter, SourceText& source);

}  // namespace korch::tile
