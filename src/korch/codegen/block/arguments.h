// Where a kernel of a block graph finds the elements of leaves, and where its results go.
#pragma once

#include <memory>
#include <vector>

#include "korch/block/block_graph.h"
#include "korch/candidate/candidate.h"
#include "korch/codegen/implementation.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/tile_builder.h"

namespace korch::blocks {

// An index for each axis of a block graph; of axes that the leaf or result does not depend on: none.
using AxisPlaces = std::vector<tile::Index>;

class Arguments {
 public:
  virtual ~Arguments() = default;
  // Adds the buffers of the kernel's arguments, the builder's first ones.
  virtual void add_buffers(tile::TileBuilder& builder) = 0;
  // An element of the leaf, as an expression.
  virtual int read(tile::TileBuilder& builder, int leaf, const AxisPlaces& places) = 0;
  // Where an element of the result goes; the buffer, and the offset in it.
  virtual std::pair<int, tile::Index> place_of(int result, const AxisPlaces& places) = 0;
  // The buffer of a constant leaf, packed when the kernel is built: terms by columns in these blocks, one
  // matrix. The leaf is not read otherwise. -1: it is no such matrix, or other leaves read the constant.
  virtual int pack(tile::TileBuilder& builder, int leaf, int terms, int columns,
                   const linear::ColumnBlocks& blocks) = 0;
};

// Each leaf and each result is an argument of its own, with its axes in order, row by row.
std::unique_ptr<Arguments> plain_arguments(const block::BlockGraph& graph);

// Leaves are computed from the candidate's inputs and constants where they are read.
std::unique_ptr<Arguments> candidate_arguments(const Graph& graph, const Candidate& candidate,
                                               const Implementation& implementation,
                                               const block::PlacedGraph& placed, const Device& target);

}  // namespace korch::blocks
