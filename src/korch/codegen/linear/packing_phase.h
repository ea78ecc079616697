// A column operand that is not constant, packed by a phase of its own.
#pragma once

#include <functional>

#include "korch/base/ceil_div.h"
#include "korch/codegen/linear/tiling.h"
#include "korch/codegen/tile_builder.h"

namespace korch::linear {

// Matrices of `depth` rows, so many (1, 2 or 4) of them beside each other for every column.
struct PackedOperand {
  int64_t matrices = 1, depth = 1;
  ColumnBlocks blocks;
  // An expression of the builder's pool; `places` replaces variables of the operands.
  std::function<int(const tile::Index& matrix, const tile::Index& k, const tile::Index& column,
                    const tile::Replacements& places)>
      element;
  int64_t step_rows = 1;
  int64_t step_multiple = 1;  // RowKernel::step_multiple
  int64_t steps() const { return ceil_div(depth, step_rows * step_multiple) * step_multiple; }
  int64_t matrix_elements() const { return steps() * step_rows * blocks.lanes_in_all(); }
};

// Over (matrix, column block): fills `temporary` with the packed columns, [matrix][block][steps][lanes]
// [step_rows].
tile::ScheduledPhase packing_phase(tile::TileBuilder& builder, const PackedOperand& columns, int temporary);

}  // namespace korch::linear
