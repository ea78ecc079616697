// The elements of a tensor, row-major, and where a layout puts each.
#pragma once

#include <cstdint>
#include <vector>

#include "korch/tensor/layout.h"
#include "korch/tensor/shape.h"

namespace korch::testing {

// visit(number of the element, its offset in elements)
template <typename Visit>
void for_each_offset(const TensorType& type, const Layout& layout, Visit visit) {
  std::vector<int64_t> index(type.shape.size(), 0);
  for (int64_t i = 0; i < type.elements(); ++i) {
    visit(i, element_offset(type.shape, layout, index));
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < type.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

}  // namespace korch::testing
