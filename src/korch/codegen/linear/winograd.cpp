// Winograd convolution, and with one tap Strassen's product: conv_winograd. Blocks of tiles go through data
// transform, one small matrix product per transformed element, result transform and epilogue. With enough
// tiles a worker takes a block through all of it in its own scratch; with few tiles, or too many channels for
// scratch in L2, a first phase transforms the data for all.
#include "korch/ir/winograd.h"

#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/layout_choice.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/linear/slice_axis.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/linear/winograd_nests.h"

namespace korch {

using namespace linear;

namespace {

constexpr int64_t kMostTilesPerBlock = 56;
constexpr int64_t kFewestTilesPerBlock = 12;  // fewer do not pay for streaming the weights from L3
constexpr int64_t kSlicesPerWorker = 8;
constexpr double kHeavyWeights =
    0.125;  // share of L3 above which weights are streamed once for as many tiles as possible

Result<LinearWorkload> winograd_workload(const Graph& graph, const Candidate& candidate) {
  Result<LinearWorkload> workload = analyze(graph, candidate);
  if (!workload.ok()) return workload;
  const LinearWorkload& p = workload.value();
  const auto refuse = [](const char* why) { return Refusal{RefusalReason::no_kernel_family, why}; };
  if (p.winograd_tile == 0) return refuse("not a convolution by Winograd's primitives");
  if (!p.weight_constant) return refuse("convolution weights are not constant");
  if (!is_float32(p))
    return Refusal{RefusalReason::unsupported_type, "convolution of a type other than float32"};
  return workload;
}

WinogradAttrs attrs_of(const LinearWorkload& p) {
  WinogradAttrs attrs;
  attrs.tile = p.winograd_tile;
  attrs.taps = p.conv->kernel_h;
  return attrs;
}

// What both listing and generation derive from the schedule.
struct WinogradPlan {
  int m, elements;            // outputs per axis, transformed elements of a tile
  int64_t channels, columns;  // of a product
  int64_t tiles;
  int vectors;  // of a column block
  ColumnBlocks blocks;
  int64_t tiles_per_block, tile_blocks;
  bool two_phases;
  bool streams_weights;  // from beyond L2
  RowTiling tiling;
  int64_t channel_pitch, data_plane,
      result_plane;  // elements between tiles, and between transformed elements
  int64_t blocks_per_group;
};

WinogradPlan make_plan(const LinearWorkload& p, const Implementation& implementation, const Device& target) {
  const ConvShape& s = *p.conv;
  WinogradPlan w;
  const WinogradAttrs attrs = attrs_of(p);
  w.m = static_cast<int>(attrs.tile);
  w.elements = static_cast<int>(tile_elements(attrs));
  w.channels = s.in_channels / channel_parts(attrs);
  w.columns = s.out_channels / channel_parts(attrs);
  const WinogradTiles tiles(attrs, {s.images, 0, s.out_height, s.out_width});
  w.tiles = tiles.count();
  const TileShape tile = *std::get<WinogradSchedule>(implementation.schedule).product;
  w.vectors = tile.vectors;
  w.blocks = split_columns(w.columns, tile.vectors, target.lanes());
  const int64_t lanes = target.lanes();
  w.channel_pitch = ceil_div(w.channels, lanes) * lanes;
  if (rows_conflict(bytes_of(p, w.channel_pitch))) w.channel_pitch += lanes;
  const int64_t fitting = target.own_bytes() / 2 / bytes_of(p, w.elements * w.channel_pitch);
  const auto weight_bytes = static_cast<double>(bytes_of(p, w.elements * w.channels * w.columns));
  w.streams_weights = weight_bytes > target.cache_bytes() * kHeavyWeights;
  w.two_phases = fitting < kFewestTilesPerBlock || w.tiles < target.workers * 2 * kFewestTilesPerBlock ||
                 w.streams_weights;
  const int64_t most = w.two_phases ? kMostTilesPerBlock : std::min(fitting, kMostTilesPerBlock);
  w.tile_blocks = ceil_div(w.tiles, most);
  if (!w.two_phases) w.tile_blocks = ceil_div(w.tile_blocks, target.workers) * target.workers;
  w.tiles_per_block = ceil_div(w.tiles, w.tile_blocks);
  w.tile_blocks = ceil_div(w.tiles, w.tiles_per_block);
  w.tiling = split_rows(w.tiles_per_block, tile.rows);
  // One line more than a whole number of pages would be: the planes of one tile then lie in different sets.
  w.data_plane = w.tiles_per_block * w.channel_pitch + 16;
  w.result_plane = w.tiles_per_block * std::max(w.blocks.block_lanes(), w.blocks.tail_lanes()) + 16;
  const int64_t groups = w.two_phases ? ceil_div(target.workers * kSlicesPerWorker, w.tile_blocks) : 1;
  w.blocks_per_group = ceil_div(w.blocks.total(), std::min(groups, w.blocks.total()));
  return w;
}

class WinogradBuilder {
 public:
  WinogradBuilder(const LinearWorkload& workload, const Implementation& implementation, const Device& target)
      : p_(workload),
        w_(make_plan(workload, implementation, target)),
        lanes_(target.lanes()),
        builder_(workload, implementation, target),
        tile_("tile", w_.tiles, w_.tiles_per_block),
        block_("block", w_.blocks.total(), w_.blocks_per_group) {}
  Result<tile::ScheduledGraph> build();

 private:
  int64_t block_pitch() const { return std::max(w_.blocks.block_lanes(), w_.blocks.tail_lanes()); }
  int64_t data_elements() const { return w_.elements * w_.data_plane; }
  Index data_block() const { return w_.two_phases ? tile_.number() * data_elements() : Index(0); }
  void data_nests(const SliceAxis& vectors, WinogradNests& transforms,
                  std::vector<tile::ScheduledNest>& nests);
  tile::ScheduledPhase data_phase(WinogradNests& transforms);
  void products(const ColumnZone& columns, std::vector<tile::ScheduledNest>& nests);
  void results(const ColumnZone& columns, WinogradNests& transforms, std::vector<tile::ScheduledNest>& nests);
  tile::ScheduledPhase main_phase(WinogradNests& transforms);

  const LinearWorkload& p_;
  const WinogradPlan w_;
  const int lanes_;
  KernelBuilder builder_;
  SliceAxis tile_, block_;
  int data_ = -1, result_ = -1;
};

// Of all tiles of a block; those beyond the last are zeros.
void WinogradBuilder::data_nests(const SliceAxis& vectors, WinogradNests& transforms,
                                 std::vector<tile::ScheduledNest>& nests) {
  const Index local = Index::variable("tl", w_.tiles_per_block);
  const TransformedTile to{data_, [&](const Index& element, const Index& channel) {
                             return data_block() + element * w_.data_plane + local * w_.channel_pitch +
                                    channel;
                           }};
  for_channel_vectors(w_.channels, lanes_, [&](int64_t low, int64_t high, int64_t count, int width) {
    std::vector<tile::OuterLoop> around;
    if (w_.tiles_per_block > 1) around.push_back({{"tl", w_.tiles_per_block}, 0, w_.tiles_per_block});
    vectors.loop(around, low, high);
    transforms.transform_data(tile_.first() + local, {vectors.at(low, high) * lanes_, count, width}, to,
                              around, nests);
  });
}

// Slices over tile blocks and groups of channel vectors.
tile::ScheduledPhase WinogradBuilder::data_phase(WinogradNests& transforms) {
  const int64_t vectors = ceil_div(w_.channels, lanes_);
  const SliceAxis axis("cv", vectors, ceil_div(vectors, std::min(kSlicesPerWorker, vectors)));
  tile::ScheduledPhase phase;
  tile_.deal_out(phase);
  axis.deal_out(phase);
  data_nests(axis, transforms, phase.nests);
  return phase;
}

// Of each element of the tiles.
void WinogradBuilder::products(const ColumnZone& columns, std::vector<tile::ScheduledNest>& nests) {
  const int64_t lanes = total_lanes(columns.lanes), tiles = w_.tiling.tiles();
  const Index e = Index::variable("e", w_.elements), c = Index::variable("c", lanes),
              k = Index::variable("k", w_.channels);
  const Index weight =
      block_.at(columns.low, columns.high) * (w_.elements * w_.channels * w_.blocks.block_lanes()) +
      (e * w_.channels + k) * lanes + c;
  for (const RowZone& rows : row_zones(w_.tiling)) {
    std::vector<tile::OuterLoop> around;
    block_.loop(around, columns.low, columns.high);
    around.push_back({{"e", w_.elements}, 0, w_.elements});
    if (tiles > 1) around.push_back({{"t", tiles}, rows.low, rows.high});
    const Index row =
        rows.first_row(Index::variable("t", rows.low, rows.high - 1)) + Index::variable("r", rows.rows);
    nests.push_back(builder_.product_nest(
        std::move(around), {{"r", rows.rows}, {"c", lanes}}, {{"k", w_.channels}},
        builder_.load(data_, data_block() + e * w_.data_plane + row * w_.channel_pitch + k),
        builder_.load(builder_.buffer_of(p_.weight), weight), result_,
        e * w_.result_plane + row * block_pitch() + c));
    nests.back().schedule.prefetch_columns = true;
  }
}

void WinogradBuilder::results(const ColumnZone& columns, WinogradNests& transforms,
                              std::vector<tile::ScheduledNest>& nests) {
  const Index base = block_.at(columns.low, columns.high) * w_.blocks.block_lanes();
  const TransformedTile from{result_, [&](const Index& element, const Index& column) {
                               return element * w_.result_plane + tile_.local() * block_pitch() +
                                      (column - base);
                             }};
  const auto add = [&](const Index& first, int64_t count, int width, int64_t vectors) {
    std::vector<tile::OuterLoop> around;
    block_.loop(around, columns.low, columns.high);
    tile_.loop(around);
    if (vectors > 1) around.push_back({{"v", vectors}, 0, vectors});
    transforms.transform_result(tile_.at(), {base + first, count, width}, from, around, nests);
  };
  // Full vectors in a loop.
  const int64_t full = std::min<int64_t>(columns.valid / lanes_, static_cast<int64_t>(columns.lanes.size()));
  if (full > 0) add(Index::variable("v", full) * lanes_, lanes_, lanes_, full);
  for (int64_t first = full * lanes_, i = full; first < columns.valid; first += columns.lanes[i++])
    add(first, std::min<int64_t>(columns.lanes[i], columns.valid - first), columns.lanes[i], 1);
}

tile::ScheduledPhase WinogradBuilder::main_phase(WinogradNests& transforms) {
  tile::ScheduledPhase phase;
  block_.deal_out(phase);
  tile_.deal_out(phase);
  const int64_t vectors = ceil_div(w_.channels, lanes_);
  if (!w_.two_phases) data_nests(SliceAxis("cv", vectors, vectors), transforms, phase.nests);
  for (const ColumnZone& columns : column_zones(w_.blocks)) {
    products(columns, phase.nests);
    results(columns, transforms, phase.nests);
  }
  return phase;
}

Result<tile::ScheduledGraph> WinogradBuilder::build() {
  if (const std::string obstacle = builder_.obstacle(); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  builder_.pack(p_.weight, {"winograd", {w_.m, int64_t{w_.vectors} * lanes_, w_.blocks.tail_lanes()}},
                w_.elements * w_.channels * w_.blocks.lanes_in_all());
  if (w_.two_phases) data_ = builder_.add_temporary(w_.tile_blocks * data_elements());
  result_ = builder_.add_scratch(w_.elements * w_.result_plane);
  if (!w_.two_phases) data_ = builder_.add_scratch(data_elements());
  WinogradNests transforms(builder_, p_, attrs_of(p_), lanes_);
  if (w_.two_phases) builder_.add_phase(data_phase(transforms));
  builder_.add_phase(main_phase(transforms));
  return builder_.finish();
}

// For the product, best first.
std::vector<TileShape> product_tiles(const LinearWorkload& p, const Device& target) {
  const ConvShape& s = *p.conv;
  const WinogradAttrs attrs = attrs_of(p);
  const int64_t parts = channel_parts(attrs),
                tiles = WinogradTiles(attrs, {s.images, 0, s.out_height, s.out_width}).count();
  // One block of tiles: its column blocks are what workers share.
  const int workers = tiles <= kMostTilesPerBlock ? target.workers : 1;
  return rank_tiles(std::min<int64_t>(tiles, 28), s.out_channels / parts, s.in_channels / parts, false,
                    target, workers);
}

}  // namespace

void list_conv_winograd(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy,
                        std::vector<Implementation>& found, std::vector<Refusal>& refused) {
  const Result<LinearWorkload> workload = winograd_workload(graph, candidate);
  if (!workload.ok()) {
    refused.push_back(workload.refusal());
    return;
  }
  const LinearWorkload& p = workload.value();
  const ConvShape& s = *p.conv;
  const WinogradAttrs attrs = attrs_of(p);
  const int64_t parts = channel_parts(attrs), channels = s.in_channels / parts,
                columns = s.out_channels / parts;
  Implementation implementation =
      with_layouts(p, "conv_winograd", Order::channels_last, Order::channels_last);
  // The transformed weights are what is read.
  implementation.bytes +=
      bytes_of(p, tile_elements(attrs) * channels * columns - element_count(type_of(p, p.weight).shape));
  implementation.schedule = WinogradSchedule{attrs.tile, product_tiles(p, target)[0]};
  found.push_back(implementation);
}

void reschedule_conv_winograd(const Graph& graph, const Candidate& candidate,
                              const Implementation& implementation, const Device& target,
                              std::vector<Schedule>& found) {
  constexpr size_t kMostTiles = 2;  // beside its own
  const Result<LinearWorkload> workload = winograd_workload(graph, candidate);
  if (!workload.ok()) return;
  WinogradSchedule schedule = std::get<WinogradSchedule>(implementation.schedule);
  const TileShape own = *schedule.product;
  for (const TileShape& tile : product_tiles(workload.value(), target)) {
    if (tile == own || found.size() == kMostTiles) continue;
    schedule.product = tile;
    found.push_back(schedule);
  }
}

Result<tile::ScheduledGraph> build_conv_winograd(const Graph& graph, const Candidate& candidate,
                                                 const Implementation& implementation, const Device& target) {
  const Result<LinearWorkload> workload = winograd_workload(graph, candidate);
  if (!workload.ok()) return workload.refusal();
  return WinogradBuilder(workload.value(), implementation, target).build();
}

}  // namespace korch
