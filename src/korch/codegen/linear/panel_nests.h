// The panel of a slice: the part of the data operand that its tiles read, computed by the prologue and zero
// padded.
#pragma once

#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/row_kernel.h"

namespace korch::linear {

// Geometry, in elements.
struct PanelShape {
  int64_t rows = 1, pixels = 1;  // input rows and pixels that a block of result rows reads
  int64_t pixel_step = 1, row_step = 1, channel_step = 1;  // strides
  int64_t elements = 0;
};
PanelShape panel_shape(const RowKernel& kernel);

// Fills the panel for the result rows from y0 and pixels from x0 on.
tile::ScheduledNest panel_nest(KernelBuilder& builder, const RowKernel& kernel, const PanelShape& shape,
                               int buffer, const Index& y0, const Index& x0);

}  // namespace korch::linear
