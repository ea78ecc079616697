#pragma once

#include <random>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// Inputs of a graph that takes floats alone: normal(0, 1).
inline std::vector<HostTensor> random_floats(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<HostTensor> inputs;
  for (const ValueId input : graph.inputs()) {
    HostTensor tensor(TensorType{DType::f64, graph.value(input).type.shape});
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<double>()[i] = normal(random);
    inputs.push_back(converted(tensor, graph.value(input).type.dtype));
  }
  return inputs;
}

}  // namespace korch
