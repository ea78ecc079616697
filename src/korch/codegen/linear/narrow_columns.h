// Column operands that are narrow (ir/narrow.h): how they are packed, and the terms of a product with them.
//
// Numbers lie as the register tile reads them, [block of columns][K][lanes], of 4 bits eight terms beside
// each other ([block of columns][K / 8][lanes][8], packing "nibbles"). Scales and zero points lie [block of
// columns][blocks of terms][lanes].
#pragma once

#include "korch/codegen/linear/kernel_builder.h"
#include "korch/codegen/linear/row_kernel.h"

namespace korch::linear {

// A run of terms that one nest multiplies: whole blocks of `steps` steps of `together` terms, or a part of
// the last block.
struct NarrowRun {
  int64_t first_block = 0, blocks = 1;
  int64_t first_step = 0, steps = 1;  // of each block
  int64_t together = 1;
  bool is_first = true;
};
// All terms, in order: whole blocks, then what is left of a block, of nibbles first in whole steps.
std::vector<NarrowRun> narrow_runs(const NarrowWeights& weights, int64_t depth);

// The loops over a run's terms for a block of columns, and what is read where.
struct NarrowTerms {
  NarrowTerms(const NarrowWeights& weights, const NarrowRun& run, int64_t depth, const ColumnBlocks& blocks,
              const Index& column_block, int64_t lanes);
  std::vector<tile::LoopVariable> reduced;
  Index column, term;          // in the block of columns; of all terms
  Index number_at, shared_at;  // numbers; scales and zero points
};

// The buffers that hold them.
struct NarrowColumns {
  int numbers = -1, scales = -1, zeros = -1;
  int load(KernelBuilder& builder, const NarrowTerms& terms) const;
};
NarrowColumns pack_narrow(KernelBuilder& builder, const RowKernel& kernel);

// Shapes of register tiles, best first.
std::vector<TileShape> rank_narrow_tiles(int64_t rows, int64_t columns, const Device& target);

}  // namespace korch::linear
