#include "korch/codegen/linear/pixel_kernel.h"

#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/linear/epilogue_nests.h"
#include "korch/codegen/linear/panel_nests.h"
#include "korch/codegen/linear/slice_axis.h"

namespace korch::linear {
namespace {

// Vectors of pixels beside `columns` rows of accumulators, one register for the broadcast.
int most_vectors(int64_t columns, int registers) {
  return static_cast<int>((registers - 1) / (columns + 1));
}

// Tiles t in low .. high - 1, of so many vectors; tile t begins at vector t * vectors + offset.
struct PixelZone {
  int64_t low, high;
  int vectors;
  int64_t offset;
  int64_t valid;  // pixels of a tile that there are
};

class PixelKernelBuilder {
 public:
  explicit PixelKernelBuilder(const RowKernel& kernel)
      : k_(kernel),
        lanes_(kernel.target->lanes()),
        panel_shape_(panel_shape(kernel)),
        builder_(*k_.workload, *k_.implementation, *k_.target),
        y_("y", k_.height, k_.slicing.heights_per_block),
        t_("t", k_.tiling.tiles(), k_.tiling.tiles()) {}
  Result<tile::ScheduledGraph> build();

 private:
  int64_t pitch() const { return static_cast<int64_t>(k_.tiling.rows) * lanes_; }
  std::vector<PixelZone> zones() const;
  Index pixel(const PixelZone& zone) const {
    return (t_.at(zone.low, zone.high) * zone.vectors + zone.offset) * lanes_;
  }
  tile::ScheduledNest product(const PixelZone& zone);
  void finish(const PixelZone& zone, std::vector<tile::ScheduledNest>& nests);

  const RowKernel& k_;
  const int lanes_;
  const PanelShape panel_shape_;
  KernelBuilder builder_;
  SliceAxis y_, t_;
  int tile_ = -1, panel_ = -1;
};

// The last tile may hold fewer pixels than its vectors.
std::vector<PixelZone> PixelKernelBuilder::zones() const {
  const int64_t tiles = k_.tiling.tiles(), full = k_.tiling.long_tiles;
  std::vector<PixelZone> zones;
  const auto add = [&](int64_t low, int64_t high, int vectors, int64_t offset, int64_t valid) {
    if (low < high) zones.push_back({low, high, vectors, offset, valid});
  };
  const int rows = k_.tiling.rows;
  const bool last_is_long = k_.tiling.short_tiles == 0;
  const int last_vectors = last_is_long ? rows : rows - 1;
  const int64_t last_offset = last_is_long ? 0 : full;
  const int64_t last_start = ((tiles - 1) * last_vectors + last_offset) * lanes_;
  add(0, last_is_long ? full - 1 : full, rows, 0, pitch());
  if (!last_is_long) add(full, tiles - 1, rows - 1, full, pitch() - lanes_);
  add(tiles - 1, tiles, last_vectors, last_offset, k_.width - last_start);
  return zones;
}

// Channels outermost: the taps of one channel read the same few lines of its plane.
tile::ScheduledNest PixelKernelBuilder::product(const PixelZone& zone) {
  std::vector<tile::OuterLoop> around;
  y_.loop(around);
  t_.loop(around, zone.low, zone.high);
  const int64_t pixels = static_cast<int64_t>(zone.vectors) * lanes_;
  const Index c = Index::variable("c", k_.columns), r = Index::variable("r", pixels),
              k = Index::variable("k", k_.depth), kh = Index::variable("kh", k_.taps_h),
              kw = Index::variable("kw", k_.taps_w);
  const int weight = builder_.load(builder_.buffer_of(k_.workload->weight),
                                   ((kh * k_.taps_w + kw) * k_.depth + k) * k_.columns + c);
  const int data =
      builder_.load(panel_, (y_.local() * k_.stride_h + kh * k_.dilation_h) * panel_shape_.row_step +
                                pixel(zone) + r + kw * k_.dilation_w + k * panel_shape_.channel_step);
  return builder_.product_nest(std::move(around), {{"c", k_.columns}, {"r", pixels}},
                               {{"k", k_.depth}, {"kh", k_.taps_h}, {"kw", k_.taps_w}}, weight, data, tile_,
                               c * pitch() + r);
}

void PixelKernelBuilder::finish(const PixelZone& zone, std::vector<tile::ScheduledNest>& nests) {
  std::vector<tile::OuterLoop> around;
  y_.loop(around);
  t_.loop(around, zone.low, zone.high);
  FinishedTile tile;
  tile.rows = zone.valid;
  tile.valid_columns = k_.columns;
  tile.coords = [&](const Index& r, const Index& column) {
    return k_.result_coords(Index::variable("image", k_.images), y_.at(), pixel(zone) + r, column);
  };
  tile.buffer = tile_;
  tile.column_step = pitch();
  tile.row_step = 1;
  tile.along_rows = true;
  add_epilogue(builder_, tile, around, nests);
}

Result<tile::ScheduledGraph> PixelKernelBuilder::build() {
  if (const std::string obstacle = builder_.obstacle(); !obstacle.empty())
    return Refusal{RefusalReason::no_kernel_family, obstacle};
  builder_.pack(k_.workload->weight, {"columns", {0, 1, k_.columns, 0}},
                k_.taps_h * k_.taps_w * k_.depth * k_.columns);
  tile_ = builder_.add_scratch(k_.columns * pitch());
  panel_ = builder_.add_scratch(panel_shape_.elements);
  tile::ScheduledPhase phase;
  if (k_.images > 1) phase.grid.push_back({{"image", k_.images}, 1});
  y_.deal_out(phase);
  phase.nests.push_back(panel_nest(builder_, k_, panel_shape_, panel_, y_.first(), 0));
  for (const PixelZone& zone : zones()) {
    phase.nests.push_back(product(zone));
    finish(zone, phase.nests);
  }
  builder_.add_phase(std::move(phase));
  return builder_.finish();
}

}  // namespace

int most_pixel_columns(int registers) {
  int columns = 1;
  while (most_vectors(columns + 1, registers) >= 2) ++columns;
  return columns;
}

Result<tile::ScheduledGraph> build_pixel_kernel(RowKernel kernel) {
  const int lanes = kernel.target->lanes();
  kernel.path = DataPath::panel_pixels;
  kernel.tiling = split_rows(ceil_div(kernel.width, lanes),
                             most_vectors(kernel.columns, kernel.target->vector_registers));
  kernel.slicing.tiles_per_block = kernel.tiling.tiles();
  kernel.panel_span = ceil_div(kernel.width, lanes) * lanes;
  return PixelKernelBuilder(kernel).build();
}

}  // namespace korch::linear
