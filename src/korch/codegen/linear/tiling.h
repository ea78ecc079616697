// How rows (pixels, matrix rows) and columns (output channels, matrix columns) of a linear result are cut
// into register tiles, cache blocks and slices for the workers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/codegen/schedule.h"
#include "korch/device/device.h"
#include "korch/kernel/index.h"

namespace korch::linear {

// Tiles of `rows` rows (long_tiles of them), then tiles of rows - 1: no tile is ever partly empty.
struct RowTiling {
  int rows = 1;
  int64_t long_tiles = 0, short_tiles = 0;
  int64_t tiles() const { return long_tiles + short_tiles; }
};
RowTiling split_rows(int64_t extent, int most_rows);

// The row that tile t begins with.
tile::Index first_row(const RowTiling& tiling, const tile::Index& t);

// The tiles of one height: t in low .. high - 1.
struct RowZone {
  int64_t low, high;
  int rows;
  int64_t offset;
  tile::Index first_row(const tile::Index& t) const { return t * rows + offset; }
};
std::vector<RowZone> row_zones(const RowTiling& tiling);

// Column blocks of equal vectors, then one tail block of what is left.
struct ColumnBlocks {
  std::vector<int> lanes;  // of a full block
  int64_t blocks = 0;
  std::vector<int> tail;  // empty: none
  int64_t tail_columns = 0;
  int64_t block_lanes() const;
  int64_t tail_lanes() const;
  int64_t total() const { return blocks + (tail.empty() ? 0 : 1); }
  int64_t lanes_in_all() const { return blocks * block_lanes() + tail_lanes(); }
};
ColumnBlocks split_columns(int64_t columns, int vectors, int widest);

// The column blocks of one width.
struct ColumnZone {
  int64_t low, high;
  std::vector<int> lanes;
  int64_t valid;  // columns of a block that there are
};
std::vector<ColumnZone> column_zones(const ColumnBlocks& blocks);

// Whether rows this far apart share so few sets of an L1 (64 sets of 64-byte lines) that the rows of a tile
// evict each other.
bool rows_conflict(int64_t stride_bytes);

// Long reductions are done in parts, each for all tiles of a column block, so that the data and the columns
// of a part stay close. Measured on 128 x 3072 x 768 with 2 MiB of L2: parts of 512 and 768 terms 450
// GFLOP/s, 1536 410, the whole 375.
struct ReductionParts {
  int outer_taps = 0;       // loops over taps outside of a part: none, rows of taps, all
  int64_t depth_parts = 1;  // equal parts of the channels
};
// `most`: terms of a part, where fewer than these are to be; 0: no matter.
ReductionParts reduction_parts(int64_t taps_h, int64_t taps_w, int64_t depth, int64_t most = 0);

// Register tiles for `rows` x `columns` results of `terms` products each, best first by a model of the core:
// two multiply-adds of a full vector per cycle, latency 4, a column operand that every tile streams from L2
// (from L3 where a block of it is too large to stay), and a fixed cost per tile. `rows_share_sets`:
// rows_conflict() for the rows where the tile reads them. `workers`: among whom nothing but whole column
// blocks is shared; 1 where rows are shared too.
std::vector<TileShape> rank_tiles(int64_t rows, int64_t columns, int64_t terms, bool rows_share_sets,
                                  const Device& target, int workers = 1);

// The same for products of bfloat16 and bytes in tiles of sixteen rows and columns (cpu/matrix_kernel.h).
std::vector<TileShape> rank_matrix_tiles(int64_t rows, int64_t columns);

struct Slicing {
  int64_t heights_per_block = 1, tiles_per_block = 1, blocks_per_group = 1;
  bool columns_outer = false;  // consecutive slices share columns rather than rows
  bool operator==(const Slicing&) const = default;
};
struct SlicingRequest {
  int64_t images = 1, height = 1, tiles = 1, column_blocks = 1;
  double flops = 0;
  double panel_row_bytes =
      0;  // data operand behind one row of the result, over its whole width; 0: read in place
  double panel_halo_rows = 0;  // rows that a panel holds beyond those of its block
  double weight_bytes = 0;     // the whole column operand
  double bytes = 0;            // all that is touched
  int64_t row_blocks = 0;      // of each image; 0: as many as seem best
};
Slicing choose_slicing(const SlicingRequest& request, const Device& target);

// Schedules that make another slicing each, but for `known`: of its tile, and of the best of `tiles`.
void other_row_schedules(const RowSchedule& known, const std::vector<TileShape>& tiles,
                         const std::function<SlicingRequest(const RowSchedule&)>& request_of,
                         const Device& target, std::vector<Schedule>& found);

}  // namespace korch::linear
