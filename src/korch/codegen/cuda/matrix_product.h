// A product held in registers on matrix units (NestSchedule::matrix_units), as statements of a thread block.
#pragma once

#include "korch/codegen/cpu/body_emitter.h"
#include "korch/codegen/cuda/held_tile.h"

namespace korch::tile {

// Adds the nest's terms to the tile. Its panels are float32; what is multiplied is made of them as they are
// read. Units sum up the terms at hand, of float32 eight, and ordinary adders add these sums to the results,
// since units cut sums off instead of rounding them.
void print_matrix_product(const TileGraph& graph, const Nest& nest, const HeldTile& tile,
                          BodyEmitter& emitter, SourceText& source);

}  // namespace korch::tile
