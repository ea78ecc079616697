#include "korch/codegen/linear/packing_phase.h"

#include "korch/codegen/linear/slice_axis.h"

namespace korch::linear {

using tile::Index;

tile::ScheduledPhase packing_phase(tile::TileBuilder& builder, const PackedOperand& operand, int temporary) {
  tile::ScheduledPhase phase;
  const ColumnBlocks& blocks = operand.blocks;
  const SliceAxis matrix("matrix", operand.matrices, 1), block("block", blocks.total(), 1);
  matrix.deal_out(phase);
  block.deal_out(phase);
  // `count` columns from `first` on of the blocks low .. high - 1; those beyond `valid` are 0.
  const auto add = [&](int64_t low, int64_t high, int64_t lanes, int64_t first, int64_t count, bool valid) {
    if (low == high || count == 0) return;
    tile::ScheduledNest nest;
    block.loop(nest.around, low, high);
    nest.loops = {{"k", operand.steps()}, {"c", count}};
    if (operand.step_rows > 1) nest.loops.push_back({"term", operand.step_rows});
    const Index step = Index::variable("k", operand.steps()),
                term = Index::variable("term", operand.step_rows), c = Index::variable("c", count) + first,
                b = block.at(low, high), row = step * operand.step_rows + term;
    const auto element = [&] {
      const Index known = Index::variable("row", operand.depth);
      return builder.padded(
          tile::Condition().require(row, 0, operand.depth - 1),
          operand.element(matrix.at(), known, b * blocks.block_lanes() + c, {{"row", row}}));
    };
    nest.stores = {
        {temporary,
         matrix.at() * operand.matrix_elements() +
             (b * (operand.steps() * blocks.block_lanes()) + step * lanes + c) * operand.step_rows + term,
         valid ? element() : builder.zero_of(temporary)}};
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
