// The slices of a kernel that a run can leave out, since they write only beyond extents of the run.
#pragma once

#include <vector>

#include "korch/ir/needed_part.h"
#include "korch/kernel/tile_graph.h"
#include "korch/tensor/layout.h"

namespace korch {

// Slice s has the value (s / stride) % count of a grid variable; values below floor((e * times + plus) / by)
// are needed.
struct SliceLimit {
  int phase = 0;
  int64_t stride = 1, count = 1;
  NeededExtent needed;
};

// An output of a kernel: one of the tile graph's, in the order of its buffers.
struct LimitedOutput {
  Shape shape;
  Layout layout;
  NeededPart part;  // empty: all of it
};

// For each phase whose slices run in any order: leaves out all of them (a `count` of 1) if an extent of 0
// leaves nothing of any output. For a phase that writes outputs alone, also limits by the grid's variables,
// outer ones first.
std::vector<SliceLimit> slice_limits(const tile::TileGraph& graph, const std::vector<LimitedOutput>& outputs);

}  // namespace korch
