#include "korch/codegen/linear/tiling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "korch/codegen/cpu/micro_kernel.h"

namespace korch::linear {

namespace {

// A slice worth handing out on its own: about 10 us of one core, long against a hand-off (35 ns) and a cold
// start; and the work from which on two workers beat one in spite of the barrier.
constexpr double kSliceFlops = 1e6, kSliceBytes = 256 << 10;
constexpr double kSharedSlices = 0.3;
constexpr int64_t kSlicesPerWorker =
    8;                               // so that a disturbed worker delays the end by an eighth of its share
constexpr double kFmasPerCycle = 2;  // of full vectors; Zen 4 starts one of 512 bits, which ranks the same
constexpr double kFmaLatency = 4;    // cycles on Zen 4 and Intel cores of the last ten years
constexpr double kLoadCycles =
    0.05;  // what a load costs a core that is busy multiplying (measured: 26 x 1 against 13 x 2)
constexpr double kL2BytesPerCycle = 16,
                 kL3BytesPerCycle = 5;  // of columns, beside the data and what is prefetched
constexpr double kColumnsInL2 = 0.25;   // share of L2 for a block of columns; the next one arrives beside it
constexpr double kTileCycles = 60;      // calls, and the latencies at the ends of a tile
constexpr int kMostVectors = 6;
constexpr int64_t kMostTerms = 1024, kPartTerms = 768, kLeastDepth = 128;  // of a reduction in one part
constexpr int kWays = 8;                                                   // of an L1, at least

// Cycles of one reduction term over a tile.
double term_cycles(double rows, double vectors, double column_bytes, double bytes_per_cycle) {
  const double loads = vectors + rows;
  return std::max({rows * vectors / kFmasPerCycle, kFmaLatency, column_bytes / bytes_per_cycle}) +
         loads * kLoadCycles;
}

double vector_cost(const std::vector<int>& lanes, int widest) {
  // Half-width vectors issue twice per cycle where the full width is 512 bits.
  double cost = 0;
  for (int width : lanes) cost += widest == 16 && width < 16 ? 0.5 : 1.0;
  return cost;
}

// The longest share of a worker over the mean one: so many blocks of cost `full`, and one of cost `tail`.
double imbalance(int64_t blocks, double full, double tail, int workers) {
  const double mean = (static_cast<double>(blocks) * full + tail) / workers;
  const double longest =
      static_cast<double>(ceil_div(blocks, workers)) * full + (blocks % workers == 0 ? tail : 0);
  return longest / mean;
}

}  // namespace

bool rows_conflict(int64_t stride_bytes) {
  constexpr int64_t kSets = 64,
                    kLeastSets = 4;  // a tile has up to 30 rows; 8 to 12 lines fit a set
  return stride_bytes % kCacheLineBytes == 0 &&
         kSets / std::gcd(stride_bytes / kCacheLineBytes, kSets) < kLeastSets;
}

RowTiling split_rows(int64_t extent, int most_rows) {
  const int64_t tiles = ceil_div(extent, most_rows);
  const int64_t rows = ceil_div(extent, tiles);
  const int64_t short_tiles = tiles * rows - extent;
  return {static_cast<int>(rows), tiles - short_tiles, short_tiles};
}

tile::Index first_row(const RowTiling& tiling, const tile::Index& t) {
  if (tiling.short_tiles == 0) return t * tiling.rows;
  return t * (tiling.rows - 1) + tile::clamp(t, 0, tiling.long_tiles);
}

std::vector<RowZone> row_zones(const RowTiling& t) {
  std::vector<RowZone> zones;
  if (t.long_tiles > 0) zones.push_back({0, t.long_tiles, t.rows, 0});
  if (t.short_tiles > 0) zones.push_back({t.long_tiles, t.tiles(), t.rows - 1, t.long_tiles});
  return zones;
}

std::vector<ColumnZone> column_zones(const ColumnBlocks& b) {
  std::vector<ColumnZone> zones;
  if (b.blocks > 0) zones.push_back({0, b.blocks, b.lanes, b.block_lanes()});
  if (!b.tail.empty()) zones.push_back({b.blocks, b.blocks + 1, b.tail, b.tail_columns});
  return zones;
}

int64_t ColumnBlocks::block_lanes() const {
  return total_lanes(lanes);
}
int64_t ColumnBlocks::tail_lanes() const {
  return total_lanes(tail);
}

ColumnBlocks split_columns(int64_t columns, int vectors, int widest) {
  ColumnBlocks result;
  const int64_t width = static_cast<int64_t>(vectors) * widest;
  result.blocks = columns / width;
  if (result.blocks > 0) result.lanes.assign(vectors, widest);
  result.tail_columns = columns % width;
  if (result.tail_columns > 0) result.tail = split_lanes(result.tail_columns, widest);
  return result;
}

ReductionParts reduction_parts(int64_t taps_h, int64_t taps_w, int64_t depth, int64_t most) {
  const int64_t part = most > 0 ? std::min(most, kPartTerms) : kPartTerms;
  if (taps_h * taps_w * depth <= (most > 0 ? part : kMostTerms)) return {};
  if (taps_w * depth <= part) return {taps_h > 1 ? 1 : 0, 1};
  const int outer = taps_h * taps_w > 1 ? 2 : 0;
  for (int64_t parts = ceil_div(depth, part); depth / parts >= kLeastDepth; ++parts)
    if (depth % (parts * 4) == 0) return {outer, parts};
  return {outer, 1};
}

std::vector<TileShape> rank_tiles(int64_t rows, int64_t columns, int64_t terms, bool rows_share_sets,
                                  const Device& target, int workers) {
  const int widest = target.lanes();
  std::vector<std::pair<double, TileShape>> ranked;
  for (int vectors = 1; vectors <= kMostVectors; ++vectors) {
    if (vectors > 1 && (vectors - 1) * widest >= columns) break;
    const int most = std::min(max_rows(vectors, target.vector_registers),
                              rows_share_sets ? kWays : max_rows(1, target.vector_registers));
    const RowTiling tiling = split_rows(rows, most);
    const ColumnBlocks blocks = split_columns(columns, vectors, widest);
    const double column_bytes = target.vector_bytes * vectors;
    const double speed =
        (terms <= kMostTerms ? terms : kPartTerms) * column_bytes <= kColumnsInL2 * target.own_bytes()
            ? kL2BytesPerCycle
            : kL3BytesPerCycle;
    const double full = vector_cost(blocks.lanes, widest), tail = vector_cost(blocks.tail, widest);
    double cycles = 0;
    for (const auto& [height, count] : {std::pair<int, int64_t>{tiling.rows, tiling.long_tiles},
                                        std::pair<int, int64_t>{tiling.rows - 1, tiling.short_tiles}}) {
      if (count == 0) continue;
      auto tile = [&](double width) {
        return terms * term_cycles(height, width, width / vectors * column_bytes, speed) + kTileCycles;
      };
      if (full > 0) cycles += count * blocks.blocks * tile(full);
      if (tail > 0) cycles += count * tile(tail);
    }
    ranked.push_back({cycles * imbalance(blocks.blocks, full, tail, workers), {tiling.rows, vectors}});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TileShape> result;
  for (const auto& [cycles, shape] : ranked) result.push_back(shape);
  return result;
}

namespace {

int64_t wanted_slices(const SlicingRequest& r, const Device& target) {
  const int64_t most = target.workers * kSlicesPerWorker;
  const double work = std::max(r.flops / kSliceFlops, r.bytes / kSliceBytes);
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(work), 1, most);
  return work > kSharedSlices ? ceil_div(wanted, target.workers) * target.workers : wanted;
}

// Rows first: the largest block whose data stays in half of L2 beside the columns that stream past.
void fit_panel(const SlicingRequest& r, double budget, Slicing& s) {
  s.tiles_per_block = r.tiles;
  s.heights_per_block = r.height;
  if (r.panel_row_bytes <= 0) return;
  const double most_rows = budget / r.panel_row_bytes - r.panel_halo_rows;
  s.heights_per_block = std::clamp<int64_t>(static_cast<int64_t>(most_rows), 1, r.height);
  const double block_bytes = (s.heights_per_block + r.panel_halo_rows) * r.panel_row_bytes;
  if (block_bytes <= budget) return;
  const int64_t parts = static_cast<int64_t>(std::ceil(block_bytes / budget));
  s.tiles_per_block = std::max<int64_t>(1, ceil_div(r.tiles, parts));
}

void even_shares(const SlicingRequest& r, Slicing& s) {
  s.heights_per_block = ceil_div(r.height, ceil_div(r.height, s.heights_per_block));
  s.tiles_per_block = ceil_div(r.tiles, ceil_div(r.tiles, s.tiles_per_block));
  s.blocks_per_group = ceil_div(r.column_blocks, ceil_div(r.column_blocks, s.blocks_per_group));
}

// Blocks of columns that stay in half of L2.
int64_t blocks_in_l2(const SlicingRequest& r, const Device& target) {
  const double block_bytes = r.weight_bytes / static_cast<double>(r.column_blocks);
  return std::clamp<int64_t>(static_cast<int64_t>(target.own_bytes() / 2.0 / block_bytes), 1,
                             r.column_blocks);
}

// 0, which leaves it to choose_slicing, and powers of two whose blocks' rows fit where a panel holds them.
std::vector<int64_t> row_block_counts(const SlicingRequest& request, const Device& target) {
  Slicing least;
  fit_panel(request, target.own_bytes() / 2.0, least);
  const int64_t rows = request.height * request.tiles,
                fewest = ceil_div(rows, least.heights_per_block * least.tiles_per_block),
                most = std::min<int64_t>(rows, target.workers * 2 * kSlicesPerWorker);
  std::vector<int64_t> counts = {0};
  for (int64_t blocks = 1; blocks < most; blocks *= 2)
    if (blocks >= fewest) counts.push_back(blocks);
  counts.push_back(most);
  return counts;
}

// So many blocks of rows, and of columns what makes up the slices that are wanted; where columns do not fit
// into L2, at most what stays there while all blocks of rows pass.
Slicing sliced_by_rows(const SlicingRequest& r, const Device& target) {
  Slicing s;
  const int64_t down = std::min(r.row_blocks, r.height);
  s.heights_per_block = ceil_div(r.height, down);
  s.tiles_per_block = ceil_div(r.tiles, std::min(r.tiles, ceil_div(r.row_blocks, down)));
  s.columns_outer = r.weight_bytes > target.own_bytes();
  const int64_t groups = ceil_div(wanted_slices(r, target), r.images * r.row_blocks);
  s.blocks_per_group = ceil_div(r.column_blocks, std::min(groups, r.column_blocks));
  if (s.columns_outer) s.blocks_per_group = std::min(s.blocks_per_group, blocks_in_l2(r, target));
  even_shares(r, s);
  return s;
}

}  // namespace

Slicing choose_slicing(const SlicingRequest& r, const Device& target) {
  if (r.row_blocks > 0) return sliced_by_rows(r, target);
  Slicing s;
  const int64_t wanted = wanted_slices(r, target);
  const double budget = target.own_bytes() / 2.0;
  fit_panel(r, budget, s);
  const bool heavy_columns = r.weight_bytes > target.own_bytes();
  s.columns_outer = heavy_columns;
  s.blocks_per_group = r.column_blocks;
  if (heavy_columns) s.blocks_per_group = blocks_in_l2(r, target);
  auto row_blocks = [&] {
    return r.images * ceil_div(r.height, s.heights_per_block) * ceil_div(r.tiles, s.tiles_per_block);
  };
  auto groups = [&] { return ceil_div(r.column_blocks, s.blocks_per_group); };
  if (heavy_columns)
    s.blocks_per_group =
        std::clamp<int64_t>(r.column_blocks / ceil_div(wanted, row_blocks()), 1, s.blocks_per_group);
  // Fewer rows per block as long as a block keeps enough of them to pay for streaming the columns.
  constexpr int64_t kTilesPerBlock = 4;
  while (row_blocks() * groups() < wanted) {
    if (s.heights_per_block > 1 && (s.heights_per_block + 1) / 2 * s.tiles_per_block >= kTilesPerBlock)
      s.heights_per_block = (s.heights_per_block + 1) / 2;
    else if (s.heights_per_block == 1 && s.tiles_per_block >= 2 * kTilesPerBlock)
      s.tiles_per_block = (s.tiles_per_block + 1) / 2;
    else
      break;
  }
  while (row_blocks() * groups() < wanted && s.blocks_per_group > 1) --s.blocks_per_group;
  while (row_blocks() * groups() < std::min<int64_t>(wanted, target.workers) && s.heights_per_block > 1)
    s.heights_per_block = (s.heights_per_block + 1) / 2;
  while (row_blocks() * groups() < std::min<int64_t>(wanted, target.workers) && s.tiles_per_block > 1)
    s.tiles_per_block = (s.tiles_per_block + 1) / 2;
  even_shares(r, s);
  return s;
}

// Every load of data or columns brings a tile, so the most sums for the fewest of them.
std::vector<TileShape> rank_matrix_tiles(int64_t rows, int64_t columns) {
  std::vector<TileShape> shapes = {{32, 2}, {16, 3}, {16, 2}, {16, 1}};
  const int64_t vectors = ceil_div(columns, kMatrixTileRows);
  std::erase_if(shapes, [&](const TileShape& shape) {
    return shape.vectors > vectors || (shape.rows > kMatrixTileRows && rows <= kMatrixTileRows);
  });
  return shapes;
}

void other_row_schedules(const RowSchedule& known, const std::vector<TileShape>& tiles,
                         const std::function<SlicingRequest(const RowSchedule&)>& request_of,
                         const Device& target, std::vector<Schedule>& found) {
  constexpr size_t kMostTiles = 2;  // beside its own
  std::vector<TileShape> shapes = {known.tile};
  for (const TileShape& tile : tiles)
    if (shapes.size() <= kMostTiles && tile != known.tile) shapes.push_back(tile);
  for (const TileShape& tile : shapes) {
    std::vector<Slicing> seen;
    if (tile == known.tile) seen.push_back(choose_slicing(request_of(known), target));
    for (const int64_t blocks : row_block_counts(request_of({tile, 0}), target)) {
      const RowSchedule schedule{tile, blocks};
      const Slicing slicing = choose_slicing(request_of(schedule), target);
      if (std::find(seen.begin(), seen.end(), slicing) != seen.end()) continue;
      seen.push_back(slicing);
      found.push_back(schedule);
    }
  }
}

}  // namespace korch::linear
