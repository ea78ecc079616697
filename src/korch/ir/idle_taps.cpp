#include "korch/ir/idle_taps.h"

#include <algorithm>

namespace korch {

PoolAttrs without_idle_taps(PoolAttrs pool, const Shape& spatial) {
  for (size_t axis = 0; axis < spatial.size(); ++axis) {
    int64_t &kernel = pool.kernel[axis], &before = pool.pads_before[axis], &after = pool.pads_after[axis];
    const int64_t stride = pool.strides[axis], dilation = pool.dilations[axis];
    const int64_t room = spatial[axis] + before + after - ((kernel - 1) * dilation + 1);
    if (spatial[axis] < 1 || room < 0) continue;
    const int64_t last_start = room / stride * stride;
    // Tap k of the window that starts at s reads s + k * dilation - before. Pads stay 0 or more.
    const int64_t first = std::max<int64_t>(before - last_start, 0) / dilation;
    const int64_t last = std::min(kernel - 1, (spatial[axis] - 1 + before) / dilation);
    const int64_t behind = std::min(kernel - 1 - last, after / dilation);
    if (first + behind >= kernel) continue;
    kernel -= first + behind;
    before -= first * dilation;
    after -= behind * dilation;
  }
  return pool;
}

}  // namespace korch
