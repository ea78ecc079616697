// The best elements along one variable, as C++ that every target reads.
#pragma once

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// Of a top_k nest, at one point of its loops: O(n log k) comparisons, the heap in the places of the
// positions.
void print_best(const TileGraph& graph, const Nest& nest, BodyEmitter& emitter, SourceText& source);

}  // namespace korch::tile
