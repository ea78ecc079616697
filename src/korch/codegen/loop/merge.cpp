#include "korch/codegen/loop/merge.h"

#include <algorithm>

namespace korch::tile {
namespace {

std::vector<std::vector<Index>> reads_in(const Draft& draft, const DraftNest& nest, ValueId value) {
  std::vector<std::vector<Index>> reads;
  for (int id : draft.pool->reachable(draft.roots(nest))) {
    const Expr& e = (*draft.pool)[id];
    if (e.kind == ExprKind::intermediate && e.value == value) reads.push_back(e.coords);
  }
  return reads;
}

// The nest's loops make the offset take every value 0 .. elements - 1 exactly once.
bool visits_once(const Index& offset, const DraftNest& nest, int64_t elements) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, extent
  for (const std::vector<LoopVariable>* loops : {&nest.loops, &nest.reduced})
    for (const LoopVariable& loop : *loops) {
      if (!offset.affine_in(loop.name)) return false;
      steps.push_back({offset.stride(loop.name), loop.extent});
    }
  std::sort(steps.begin(), steps.end());
  int64_t expected = 1;
  for (const auto& [stride, extent] : steps) {
    if (stride != expected) return false;
    expected *= extent;
  }
  return expected == elements;
}

}  // namespace

void merge_into_reductions(Draft& draft) {
  for (size_t m = 0; m < draft.nests.size(); ++m) {
    const DraftNest& making_nest = draft.nests[m];
    if (making_nest.kind != NestKind::map || making_nest.targets[0].argument >= 0) continue;
    const ValueId value = making_nest.targets[0].intermediate;
    size_t reader = m + 1;
    std::vector<std::vector<Index>> reads;
    for (; reader < draft.nests.size() && reads.empty(); ++reader)
      reads = reads_in(draft, draft.nests[reader], value);
    DraftNest& reduction = draft.nests[--reader];
    if (reads.size() != 1 || reduction.kind != NestKind::reduce) continue;
    DraftTarget target;
    target.source = value;
    target.define = true;
    target.coords = reads[0];
    target.intermediate = value;
    target.offset = draft.buffer_of(value).offset(reads[0]);
    if (!visits_once(target.offset, reduction, element_count(draft.buffer_of(value).extents))) continue;
    reduction.targets.push_back(std::move(target));
    reduction.inlined.push_back(value);
    draft.nests.erase(draft.nests.begin() + static_cast<int64_t>(m));
    --m;
  }
}

}  // namespace korch::tile
