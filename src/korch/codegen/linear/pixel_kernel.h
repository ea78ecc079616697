// Convolution with few output channels: vectors run along pixels, weights are broadcast, so that three
// channels fill vectors of sixteen. Stride 1 along the width; the data always comes through a panel of planes
// (panel_nests.h).
#pragma once

#include "korch/codegen/linear/row_kernel.h"

namespace korch::linear {

// The most output channels for which a tile of at least two vectors of pixels fits the registers.
int most_pixel_columns(int registers);
// `kernel` with path panel_pixels; its tiling, blocks and weight packing are set here.
Result<tile::ScheduledGraph> build_pixel_kernel(RowKernel kernel);

}  // namespace korch::linear
