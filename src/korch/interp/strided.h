// Walking an index space with a stride per axis, in runs along the last axis.
#pragma once

#include <algorithm>
#include <cstdint>

#include "korch/tensor/shape.h"

namespace korch {

// Strides of a tensor of shape `from` when read as numpy-broadcast to `to`: 0 along broadcast axes.
Shape broadcast_strides(const Shape& from, const Shape& to);

// An index space in row-major order and an element stride per axis. Neighbouring axes that one stride can
// walk are merged, axes of extent 1 dropped; there is always at least one axis.
class StridedSpace {
 public:
  StridedSpace(const Shape& extents, const Shape& strides);

  // Calls f(offset, stride, position, count) for runs that together cover the flat positions [begin, begin +
  // count) in order. No run is longer than kLongestRun, so that a caller can stop between two.
  template <typename F>
  void for_each_run(int64_t begin, int64_t count, F&& f) const {
    const int64_t row = extents_.back();
    const int64_t end = begin + count;
    for (int64_t position = begin; position < end;) {
      const int64_t in_row = position % row;
      const int64_t run = std::min({row - in_row, end - position, kLongestRun});
      f(row_offset(position / row) + in_row * strides_.back(), strides_.back(), position, run);
      position += run;
    }
  }

 private:
  static constexpr int64_t kLongestRun = int64_t{1} << 16;
  int64_t row_offset(int64_t row) const;
  Shape extents_, strides_;
};

}  // namespace korch
