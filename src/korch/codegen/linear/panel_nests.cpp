#include "korch/codegen/linear/panel_nests.h"

#include <algorithm>

namespace korch::linear {
namespace {

constexpr int64_t kSpread = 16;  // elements added to a stride whose rows conflict

}  // namespace

PanelShape panel_shape(const RowKernel& k) {
  PanelShape s;
  const int64_t span =
      k.panel_span > 0 ? k.panel_span : std::min<int64_t>(k.width, k.slicing.tiles_per_block * k.tiling.rows);
  s.rows = (k.slicing.heights_per_block - 1) * k.stride_h + (k.taps_h - 1) * k.dilation_h + 1;
  s.pixels = (span - 1) * k.stride_w + (k.taps_w - 1) * k.dilation_w + 1;
  if (k.path == DataPath::panel_channels) {
    s.channel_step = 1;
    s.pixel_step = k.padded_depth();
    if (rows_conflict(operand_bytes(*k.workload, s.pixel_step * k.stride_w))) s.pixel_step += kSpread;
    s.row_step = s.pixels * s.pixel_step;
    s.elements = s.rows * s.row_step;
  } else {
    s.pixel_step = 1;
    s.row_step = s.pixels;
    s.channel_step = s.rows * s.row_step;
    s.elements = k.depth * s.channel_step;
  }
  return s;
}

tile::ScheduledNest panel_nest(KernelBuilder& builder, const RowKernel& k, const PanelShape& shape,
                               int buffer, const Index& y0, const Index& x0) {
  tile::ScheduledNest nest;
  nest.kept = true;
  const tile::LoopVariable row{"pr", shape.rows}, pixel{"px", shape.pixels},
      channel{"channel", k.padded_depth()};
  if (k.path == DataPath::panel_channels)
    nest.loops = {row, pixel, channel};
  else
    nest.loops = {channel, row, pixel};
  const Index pr = Index::variable("pr", shape.rows), px = Index::variable("px", shape.pixels),
              c = Index::variable("channel", k.padded_depth());
  const Index iy = y0 * k.stride_h - k.pad_top + pr, ix = x0 * k.stride_w - k.pad_left + px;
  tile::Condition inside;
  inside.require(iy, 0, k.in_height - 1).require(ix, 0, k.in_width - 1).require(c, 0, k.depth - 1);
  const Coords coords =
      k.data_coords(Index::variable("image", k.images), Index::variable("iy", k.in_height),
                    Index::variable("ix", k.in_width),
                    Index::variable("group", k.groups) * k.depth + Index::variable("ic", k.depth));
  const int value = builder.compose(k.workload->data, coords, -1, {{"iy", iy}, {"ix", ix}, {"ic", c}});
  nest.stores = {{buffer, pr * shape.row_step + px * shape.pixel_step + c * shape.channel_step,
                  builder.padded(inside, value)}};
  return nest;
}

}  // namespace korch::linear
