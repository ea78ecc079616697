#include "korch/codegen/linear/panel.h"

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
    s.pixel_step = k.depth;
    if (rows_conflict(s.pixel_step * k.stride_w * 4)) s.pixel_step += kSpread;
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

}  // namespace korch::linear
