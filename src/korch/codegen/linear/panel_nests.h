// The panel of a slice: the part of the data operand that its tiles read, computed by the prologue and zero
// padded.
#pragma once

#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/panel.h"

namespace korch::linear {

// Fills the panel for the result rows from y0 and pixels from x0 on.
tile::Nest panel_nest(KernelBuilder& builder, const RowKernel& kernel, const PanelShape& shape, int buffer,
                      const Index& y0, const Index& x0);

}  // namespace korch::linear
