// Functions that bring operands into the form in which the register tiles read them.
#pragma once

#include <string>

#include "korch/codegen/linear/row_kernel.h"
#include "korch/codegen/loop/emitter.h"

namespace korch::linear {

// The panel of a slice: geometry in elements.
struct PanelShape {
  int64_t rows = 1, pixels = 1;  // input rows and pixels that a block of result rows reads
  int64_t pixel_step = 1, row_step = 1, channel_step = 1;  // strides
  int64_t elements = 0;
};
PanelShape panel_shape(const RowKernel& kernel);

// static int32_t load_panel(const korch_kernel_context*, float* panel, int64_t image, int64_t group, int64_t
// y0, int64_t x0) for the result rows from y0 and pixels from x0.
std::string emit_load_panel(const RowKernel& kernel, const PanelShape& shape, tile::ValueEmitter& emitter);

// A column operand that is not constant: matrices of `depth` rows.
struct ColumnOperand {
  ValueId value = kNoId;
  int64_t matrices = 1, depth = 1;
  ColumnBlocks blocks;
  std::function<Coords(const Index& matrix, const Index& k, const Index& column)> coords;
  int contiguous = 1;  // 1: columns are contiguous in memory, 0: k is
  int64_t matrix_elements() const { return depth * blocks.lanes_in_all(); }
};

// A phase function over (matrix, column block) that fills a temporary with the packed columns,
// [matrix][block][depth][lanes].
std::string emit_pack_columns(const ColumnOperand& columns, const std::string& symbol, int temporary,
                              const Target& target, tile::ValueEmitter& emitter);

}  // namespace korch::linear
