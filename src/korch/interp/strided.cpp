#include "korch/interp/strided.h"

namespace korch {

Shape broadcast_strides(const Shape& from, const Shape& to) {
  const Shape dense = row_major_strides(from);
  Shape strides(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[from.size() - 1 - i] != 1) strides[to.size() - 1 - i] = dense[from.size() - 1 - i];
  return strides;
}

StridedSpace::StridedSpace(const Shape& extents, const Shape& strides) {
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    if (!extents_.empty() && strides_.back() == strides[i] * extents[i]) {
      extents_.back() *= extents[i];
      strides_.back() = strides[i];
    } else {
      extents_.push_back(extents[i]);
      strides_.push_back(strides[i]);
    }
  }
  if (extents_.empty()) {
    extents_.push_back(1);
    strides_.push_back(0);
  }
}

int64_t StridedSpace::row_offset(int64_t row) const {
  int64_t offset = 0;
  for (size_t i = extents_.size() - 1; i-- > 0;) {
    offset += row % extents_[i] * strides_[i];
    row /= extents_[i];
  }
  return offset;
}

}  // namespace korch
