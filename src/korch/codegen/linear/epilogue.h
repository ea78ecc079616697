// The function that turns a finished register tile into stored outputs of the candidate:
//
//   static int32_t NAME(const korch_kernel_context* context, const float* tile, int64_t image, int64_t group,
//   int64_t y,
//                       int64_t x0, int64_t block)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/loop/emitter.h"

namespace korch::linear {

enum class TileStore {
  columns,     // vectors along columns
  rows,        // vectors along rows, of a transposed copy
  turned_rows  // vectors along rows of a tile that is [column][row]
};

struct EpilogueTile {
  int rows = 1;               // valid rows of the tile
  std::vector<int> lanes;     // vectors of a row
  int64_t valid_columns = 0;  // of this tile: fewer than its lanes in a tail
  int64_t tile_pitch = 0;     // elements between rows (turned: columns)
  int64_t column_base = 0;    // of block 0
  int64_t block_columns = 0;  // columns from one block to the next
  int64_t block_count = 1;
};

struct EpilogueRows {
  int64_t images = 1, groups = 1, height = 1, width = 1;
  int64_t columns = 1;  // per group
  std::function<Coords(const Index& image, const Index& y, const Index& x, const Index& column)>
      result_coords;
  TileStore store = TileStore::columns;
};

std::string emit_epilogue(const std::string& name, const Problem& problem,
                          const Implementation& implementation, const Target& target,
                          tile::ValueEmitter& emitter, const EpilogueTile& tile, const EpilogueRows& rows);

// Computes every output of the candidate at the linear result's coordinates `coords`, for accumulators in the
// variable `acc`, and stores it. Outputs larger than half of L3 bypass the caches where whole aligned vectors
// are written: nothing would be left in cache for their reader, and the lines need not be fetched first.
// Whoever uses this calls `fence_text` at the end of a phase function.
void emit_outputs(const Problem& problem, const Implementation& implementation, const Target& target,
                  tile::ValueEmitter& emitter, const Coords& coords, const std::string& acc,
                  tile::Block& block);
std::string fence_text(const Problem& problem, const Target& target);

}  // namespace korch::linear
