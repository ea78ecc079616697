// Tensors of fixed numbers.
#pragma once

#include <utility>

#include "korch/inspect/verify.h"

namespace korch {

inline HostTensor normal_numbers(Shape shape, double scale) {
  Graph g;
  g.add_input({DType::f32, std::move(shape)}, "x");
  HostTensor numbers = random_inputs(g, 17)[0];
  for (int64_t i = 0; i < numbers.elements(); ++i)
    numbers.mutable_data<float>()[i] *= static_cast<float>(scale);
  return numbers;
}

}  // namespace korch
