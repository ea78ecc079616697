// The plainest tile graph that computes terms: each fold alone, whole, into a temporary. What lowered block
// graphs are compared with.
#pragma once

#include "korch/block/term.h"
#include "korch/kernel/tile_graph.h"

namespace korch::blocks {

// Arguments are those of `plain_arguments`: leaves that are inputs, leaves that are constants, results, each
// with its axes in order.
tile::TileGraph reference_kernel(const block::Terms& terms);

}  // namespace korch::blocks
