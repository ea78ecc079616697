// How a slice's copy of its data lies in scratch.
#pragma once

#include "korch/codegen/linear/row_kernel.h"

namespace korch::linear {

// The panel of a slice: geometry in elements.
struct PanelShape {
  int64_t rows = 1, pixels = 1;  // input rows and pixels that a block of result rows reads
  int64_t pixel_step = 1, row_step = 1, channel_step = 1;  // strides
  int64_t elements = 0;
};
PanelShape panel_shape(const RowKernel& kernel);

}  // namespace korch::linear
