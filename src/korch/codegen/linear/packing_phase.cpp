#include "korch/codegen/linear/packing_phase.h"

#include "korch/codegen/linear/slice_axis.h"

namespace korch::linear {

tile::Phase packing_phase(KernelBuilder& builder, const PackedOperand& operand, int temporary) {
  tile::Phase phase;
  const ColumnBlocks& blocks = operand.blocks;
  const SliceAxis matrix("matrix", operand.matrices, 1), block("block", blocks.total(), 1);
  matrix.deal_out(phase);
  block.deal_out(phase);
  // `count` columns from `first` on of the blocks low .. high - 1; those beyond `valid` are 0.
  const auto add = [&](int64_t low, int64_t high, int64_t lanes, int64_t first, int64_t count, bool valid) {
    if (low == high || count == 0) return;
    tile::Nest nest;
    block.loop(nest.around, low, high);
    nest.loops = {{"k", operand.depth}, {"c", count}};
    const Index k = Index::variable("k", operand.depth), c = Index::variable("c", count) + first,
                b = block.at(low, high);
    const int value =
        valid ? builder.compose(operand.value, operand.coords(matrix.at(), k, b * blocks.block_lanes() + c))
              : builder.zero();
    nest.stores = {
        {temporary,
         matrix.at() * operand.matrix_elements() + b * (operand.depth * blocks.block_lanes()) + k * lanes + c,
         value}};
    phase.nests.push_back(std::move(nest));
  };
  add(0, blocks.blocks, blocks.block_lanes(), 0, blocks.block_lanes(), true);
  if (!blocks.tail.empty()) {
    add(blocks.blocks, blocks.total(), blocks.tail_lanes(), 0, blocks.tail_columns, true);
    add(blocks.blocks, blocks.total(), blocks.tail_lanes(), blocks.tail_columns,
        blocks.tail_lanes() - blocks.tail_columns, false);
  }
  return phase;
}

}  // namespace korch::linear
