// Maxima over windows: of smaller windows, and along one axis after the other.
#include <algorithm>

#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

bool all(const std::vector<int64_t>& items, int64_t wanted) {
  return std::all_of(items.begin(), items.end(), [&](int64_t item) { return item == wanted; });
}

// A window of odd extents around every element, cut off at the border.
bool is_centred(const PoolAttrs& pool) {
  for (size_t axis = 0; axis < pool.kernel.size(); ++axis)
    if (pool.kernel[axis] % 2 == 0 || pool.pads_before[axis] != pool.kernel[axis] / 2 ||
        pool.pads_after[axis] != pool.kernel[axis] / 2)
      return false;
  return all(pool.strides, 1) && all(pool.dilations, 1);
}

PoolAttrs centred(std::vector<int64_t> kernel) {
  PoolAttrs pool;
  pool.strides = pool.dilations = std::vector<int64_t>(kernel.size(), 1);
  for (int64_t extent : kernel) pool.pads_before.push_back(extent / 2);
  pool.pads_after = pool.pads_before;
  pool.kernel = std::move(kernel);
  return pool;
}

}  // namespace

// The maximum over 9 is the maximum over 5 of maxima over 5: with another window over the same Value that is
// smaller.
void window_of_window(Rewriter& r, NodeId id) {
  const Node outer = r.node(id);
  const auto& wide = std::get<PoolAttrs>(outer.attrs);
  if (!is_centred(wide)) return;
  Node best;
  int64_t taps = 0;  // of the largest smaller window
  for (NodeId user : r.users(outer.inputs[0])) {
    const Node inner = r.node(user);
    if (inner.op != Op::WindowMax || user == id) continue;
    const auto& narrow = std::get<PoolAttrs>(inner.attrs);
    const int64_t size = element_count(narrow.kernel);
    bool smaller = is_centred(narrow) && size < element_count(wide.kernel) && size > taps;
    for (size_t axis = 0; axis < wide.kernel.size(); ++axis)
      smaller = smaller && narrow.kernel[axis] > 1 && narrow.kernel[axis] <= wide.kernel[axis];
    if (!smaller) continue;
    best = inner;
    taps = size;
  }
  if (taps == 0) return;
  std::vector<int64_t> rest = wide.kernel;
  for (size_t axis = 0; axis < rest.size(); ++axis)
    rest[axis] -= std::get<PoolAttrs>(best.attrs).kernel[axis] - 1;
  r.equate(outer.outputs[0], r.emit(Op::WindowMax, centred(rest), {best.outputs[0]}));
}

void separable_window(Rewriter& r, NodeId id) {
  const Node window = r.node(id);
  const auto& pool = std::get<PoolAttrs>(window.attrs);
  if (!is_centred(pool) || pool.kernel.size() != 2 || pool.kernel[0] == 1 || pool.kernel[1] == 1) return;
  const ValueId rows = r.emit(Op::WindowMax, centred({1, pool.kernel[1]}), {window.inputs[0]});
  r.equate(window.outputs[0], r.emit(Op::WindowMax, centred({pool.kernel[0], 1}), {rows}));
}

}  // namespace korch::rules
