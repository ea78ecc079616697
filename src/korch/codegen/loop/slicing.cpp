#include "korch/codegen/loop/slicing.h"

#include <algorithm>

#include "korch/codegen/loop/cost.h"
#include "korch/codegen/passes/vectorize.h"

namespace korch::tile {
namespace {

constexpr int64_t kSlicesPerWorker = 4;
constexpr double kSliceWork = 8192;  // elements: a few microseconds, far above the cost of starting a slice
constexpr double kAllowedExtraWork = 0.3;  // share of the useful work that slices may repeat
constexpr int64_t kWarpsOfBlock = 8;       // of a GPU
constexpr double kLargestSlice = 65536;    // elements: stays in the second-level cache

}  // namespace

Slicing::Slicing(const Draft& draft, const Domain& primary, std::set<std::string> grid, const Device& target)
    : draft_(draft),
      grid_(std::move(grid)),
      lanes_(target.lanes()),
      wanted_(target.workers == 1 ? 1 : kSlicesPerWorker * target.workers),
      is_gpu_(target.is_gpu()),
      workers_(target.workers),
      has_several_nests_(!draft.buffers.empty() || draft.nests.size() > 1) {
  for (const LoopVariable& variable : primary.variables)
    if (variable.extent > 1) variables_.push_back(variable);
}

int64_t Slicing::slices() const {
  int64_t count = 1;
  for (const LoopVariable& variable : variables_)
    if (grid_.count(variable.name) != 0) count *= variable.extent;
  return count;
}

const LoopVariable* Slicing::innermost() const {
  const LoopVariable* innermost = nullptr;
  for (const LoopVariable& variable : variables_)
    if (grid_.count(variable.name) != 0) innermost = &variable;
  return innermost;
}

Slicing::Change Slicing::decide() {
  result_.clear();
  if (variables_.empty()) return {};
  if (const Change change = repeat_less(); !change.none()) return change;
  const LoopVariable inner = variables_.back();
  if (grid_.count(inner.name) != 0)
    if (const Change change = keep_inside(inner); !change.none()) return change;
  TileGraph outputs;
  const Nest last = draft_.with_bodies(draft_.nests.back(), outputs);
  const std::string tile = find_transposed(outputs.pool, last, variables_, inner.name, lanes_, nullptr);
  for (const LoopVariable& variable : variables_)
    if (variable.name == tile && grid_.count(tile) != 0)
      if (const Change change = keep_inside(variable); !change.none()) return change;
  return has_several_nests_ ? grow_block() : chunk();
}

// A variable along which intermediates would be computed again and again leaves the grid.
Slicing::Change Slicing::repeat_less() const {
  double useful = 1, extra = 0, worst = 0;
  for (const LoopVariable& variable : variables_) useful *= static_cast<double>(variable.extent);
  const IntermediateBuffer* worst_buffer = nullptr;
  for (const DraftNest& nest : draft_.nests) {
    if (nest.targets[0].argument >= 0) continue;
    const IntermediateBuffer& buffer = draft_.buffer_of(nest.targets[0].intermediate);
    const double weight = nest.kind == NestKind::map ? kExpensive : 1;
    const double per_element = nest.work() / static_cast<double>(element_count(buffer.extents)) * weight;
    const double need = per_element * static_cast<double>(buffer.type.elements());
    const double here = nest.work() * weight * static_cast<double>(slices()) - need;
    useful += need;
    extra += std::max(0.0, here);
    if (here > worst) {
      worst = here;
      worst_buffer = &buffer;
    }
  }
  const LoopVariable* victim = innermost();
  if (worst_buffer == nullptr || extra <= kAllowedExtraWork * useful || victim == nullptr) return {};
  std::set<std::string> used;
  for (const Index& base : worst_buffer->base) used.merge(base.variables());
  for (const LoopVariable& variable : variables_)
    if (grid_.count(variable.name) != 0 && used.count(variable.name) == 0) victim = &variable;
  return {victim->name};
}

// The whole variable when the other ones make slices enough, else blocks that divide it. Where nearly all
// work is in reductions, whose vectors can run along what they reduce, it may stay in the grid altogether.
Slicing::Change Slicing::keep_inside(const LoopVariable& variable) {
  const int64_t others = slices() / variable.extent;
  constexpr int64_t kLargestBlock = 128;
  const int64_t smallest = mostly_reductions() ? 1 : lanes_ / 2;
  int64_t best = 0;
  for (int64_t block = smallest;
       has_several_nests_ && others < wanted_ && block < variable.extent && block <= kLargestBlock; ++block) {
    if (variable.extent % block != 0) continue;
    const bool enough = others * (variable.extent / block) >= wanted_;
    const bool whole_vectors = block % lanes_ == 0 || best % lanes_ != 0;
    if (best == 0 || (enough && whole_vectors)) best = block;
  }
  if (best > 1) return {{}, {variable.name, best}};
  return {best == 0 ? variable.name : ""};
}

bool Slicing::mostly_reductions() const {
  constexpr double kMostly = 16;  // times the work of the outputs
  double reductions = 0, others = 0;
  for (const DraftNest& nest : draft_.nests)
    (nest.kind == NestKind::map ? others : reductions) += nest.work();
  return reductions > kMostly * others;
}

// Whether so many steps make one slice, and leave enough of them. On a GPU a slice has a row for each warp,
// or fewer if they are short, as long as every multiprocessor has a block; rows beyond wait for each other.
bool Slicing::may_grow(int64_t steps) const {
  constexpr double kShortWork = kSliceWork / 4;  // for which a block's warps are too many
  const double work = draft_.slice_work() * static_cast<double>(steps);
  if (is_gpu_ && steps <= kWarpsOfBlock)
    return work <= (steps == kWarpsOfBlock ? kSliceWork : kShortWork) && slices() / steps >= workers_;
  return work <= kSliceWork && slices() / steps >= wanted_;
}

// Several steps of the innermost grid variable in one slice, when a slice is short.
Slicing::Change Slicing::grow_block() {
  if (const LoopVariable* innermost = this->innermost(); innermost != nullptr) {
    int64_t best = 1;
    for (int64_t steps = 2; steps <= innermost->extent; ++steps) {
      if (steps > kWarpsOfBlock && !may_grow(steps)) break;
      if (innermost->extent % steps == 0 && may_grow(steps)) best = steps;
    }
    if (best == innermost->extent) return {innermost->name};
    if (best > 1) return {{}, {innermost->name, best}};
  }
  for (const LoopVariable& variable : variables_)
    if (grid_.count(variable.name) != 0) result_.push_back({variable, 1});
  return {};
}

// Without intermediates a variable may be dealt out in chunks of any length.
Slicing::Change Slicing::chunk() {
  const int64_t count = slices();
  const double work = draft_.slice_work();
  const LoopVariable* innermost = this->innermost();
  int64_t steps = 1;
  if (innermost != nullptr && work < kSliceWork) {
    const auto enough = static_cast<int64_t>(kSliceWork / work);
    steps = std::max<int64_t>(1, std::min({enough, innermost->extent, count / wanted_}));
    if (steps == innermost->extent) return {innermost->name};
  }
  for (const LoopVariable& variable : variables_)
    if (grid_.count(variable.name) != 0) result_.push_back({variable, &variable == innermost ? steps : 1});
  // Too few or too long slices: deal out a variable that is inside.
  auto pieces = static_cast<int64_t>(
      std::max(static_cast<double>((wanted_ + count - 1) / count), work / kLargestSlice));
  pieces = std::min(pieces, static_cast<int64_t>(work / (kSliceWork / 4)));
  if (pieces <= 1) return {};
  const LoopVariable* longest = nullptr;
  for (const LoopVariable& variable : variables_)
    if (grid_.count(variable.name) == 0 && (longest == nullptr || variable.extent > longest->extent))
      longest = &variable;
  if (longest == nullptr) return {};
  int64_t length = (longest->extent + pieces - 1) / pieces;
  const int64_t round = longest->extent >= lanes_ * 16  ? lanes_ * 4
                        : longest->extent >= lanes_ * 2 ? lanes_
                                                        : 1;
  length = (length + round - 1) / round * round;
  if (length < longest->extent) result_.push_back({*longest, length});
  return {};
}

}  // namespace korch::tile
