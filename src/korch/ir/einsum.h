// The labels of an Einsum's axes.
#pragma once

#include <string>
#include <vector>

#include "korch/tensor/shape.h"

namespace korch {

// A label per axis. Labels are letters; an ellipsis becomes the labels '0', '1', ... of the axes it covers,
// the last ones of those that it covers most of.
struct EinsumLabels {
  std::vector<std::string> operands;
  std::string result;
};

// Of an equation that the shape rule accepts for operands of these ranks (infer.h).
EinsumLabels einsum_labels(std::string equation, const std::vector<int64_t>& ranks);

}  // namespace korch
