// Data for graphs whose extents each run tells.
#pragma once

#include <cmath>
#include <random>

#include "one_node.h"

namespace korch {

inline HostTensor random_tensor(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  HostTensor result(TensorType{DType::f32, shape});
  std::generate_n(result.mutable_data<float>(), result.elements(), [&] { return normal(random); });
  return result;
}

// `x` within a tensor of the bounds, the rest of which is no number.
inline HostTensor at_bounds(const HostTensor& x, const Shape& bounds) {
  HostTensor result(TensorType{DType::f32, bounds});
  std::fill_n(result.mutable_data<float>(), result.elements(), NAN);
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t rest = i, place = 0, stride = 1;
    for (size_t axis = bounds.size(); axis-- > 0;) {
      place += rest % x.shape()[axis] * stride;
      rest /= x.shape()[axis];
      stride *= bounds[axis];
    }
    result.mutable_data<float>()[place] = x.data<float>()[i];
  }
  return result;
}

}  // namespace korch
