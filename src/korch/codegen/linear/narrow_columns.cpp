#include "korch/codegen/linear/narrow_columns.h"

#include <algorithm>

#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/kernel/product.h"

namespace korch::linear {
namespace {

int64_t step_terms_of(const NarrowWeights& weights) {
  return weights.bits == 4 ? tile::kNibbles : 1;
}

}  // namespace

std::vector<NarrowRun> narrow_runs(const NarrowWeights& weights, int64_t depth) {
  const int64_t step = step_terms_of(weights), block = weights.block;
  std::vector<NarrowRun> runs;
  const auto add = [&](NarrowRun run) {
    run.is_first = runs.empty();
    if (run.blocks > 0 && run.steps > 0 && run.together > 0) runs.push_back(run);
  };
  // A block that whole steps do not fill is the only one.
  const int64_t whole = block % step == 0 ? depth / block : 0, left = depth - whole * block;
  add({0, whole, 0, block / step, step});
  add({whole, 1, 0, left / step, step});
  add({whole, 1, left / step, 1, left % step});
  return runs;
}

NarrowTerms::NarrowTerms(const NarrowWeights& weights, const NarrowRun& run, int64_t depth,
                         const ColumnBlocks& blocks, const Index& column_block, int64_t lanes) {
  const int64_t step_terms = step_terms_of(weights), steps = ceil_div(depth, step_terms),
                block = weights.block;
  reduced = {{"kb", run.blocks}, {"k", run.steps}};
  if (step_terms > 1) reduced.push_back({"term", run.together});
  const Index kb = Index::variable("kb", run.blocks) + run.first_block,
              k = Index::variable("k", run.steps) + run.first_step,
              in_step = step_terms > 1 ? Index::variable("term", run.together) : Index(0);
  column = Index::variable("c", lanes);
  term = kb * block + k * step_terms + in_step;
  const Index step = kb * (block / step_terms) + k;
  number_at = column_block * (steps * step_terms * blocks.block_lanes()) +
              (step * lanes + column) * step_terms + in_step;
  shared_at = column_block * (ceil_div(depth, block) * blocks.block_lanes()) + kb * lanes + column;
}

int NarrowColumns::load(KernelBuilder& builder, const NarrowTerms& terms) const {
  return builder.narrow(builder.load(numbers, terms.number_at),
                        zeros < 0 ? -1 : builder.load(zeros, terms.shared_at),
                        builder.load(scales, terms.shared_at));
}

NarrowColumns pack_narrow(KernelBuilder& builder, const RowKernel& k) {
  const LinearWorkload& p = *k.workload;
  const NarrowWeights& weights = *p.narrow;
  const int64_t lanes = k.blocks.lanes_in_all(), step = step_terms_of(weights);
  DType type = type_of(p, p.weight).dtype;
  if (weights.bits == 4) type = type == DType::i8 ? DType::i4 : DType::u4;
  builder.pack(p.weight, k.weight_packing, lanes * ceil_div(k.depth, step) * step, type);
  const int64_t shared = lanes * ceil_div(k.depth, weights.block);
  const Packing packing = {"columns", k.weight_packing.params};
  builder.pack(weights.scales, packing, shared);
  if (weights.zeros != kNoId) builder.pack(weights.zeros, packing, shared);
  return {builder.buffer_of(p.weight), builder.buffer_of(weights.scales),
          weights.zeros == kNoId ? -1 : builder.buffer_of(weights.zeros)};
}

std::vector<TileShape> rank_narrow_tiles(int64_t rows, int64_t columns, const Device& target) {
  constexpr int kMostVectors = 4, kOwnRegisters = 3;  // a vector of weights: packed, widened, its scale
  constexpr double kWidening = 4;                     // operations of a vector of weights
  constexpr double kPerCycle = 2, kLatency = 4;       // operations; cycles of a multiply-add
  constexpr double kLoadCycles = 0.25;                // of each row and vector, beside the arithmetic
  std::vector<std::pair<double, TileShape>> ranked;
  for (int vectors = 1; vectors <= kMostVectors; ++vectors) {
    if (vectors > 1 && (vectors - 1) * target.lanes() >= columns) break;
    const int most = std::max(1, (target.vector_registers - 2 - kOwnRegisters * vectors) / vectors);
    const RowTiling tiling = split_rows(rows, most);
    const ColumnBlocks blocks = split_columns(columns, vectors, target.lanes());
    const double term = std::max(kLatency, vectors * (tiling.rows + kWidening) / kPerCycle) +
                        (tiling.rows + vectors) * kLoadCycles;
    ranked.push_back({term * static_cast<double>(tiling.tiles() * blocks.total()), {tiling.rows, vectors}});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TileShape> result;
  for (const auto& [cycles, shape] : ranked) result.push_back(shape);
  return result;
}

}  // namespace korch::linear
