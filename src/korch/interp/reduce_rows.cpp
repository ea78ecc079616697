#include "korch/interp/reduce_rows.h"

namespace korch {

Shape reduction_strides(const Shape& input, const std::vector<int64_t>& axes) {
  std::vector<bool> reduced(input.size(), false);
  for (int64_t axis : axes) reduced[axis] = true;
  Shape strides(input.size(), 0);
  int64_t stride = 1;
  for (size_t i = input.size(); i-- > 0;) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= input[i];
  }
  return strides;
}

int64_t reduced_elements(const Shape& input, const std::vector<int64_t>& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= input[axis];
  return count;
}

}  // namespace korch
