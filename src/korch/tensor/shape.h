// Shapes: static extents, row-major by default.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/tensor/dtype.h"

namespace korch {

using Shape = std::vector<int64_t>;

// Product of the extents; 1 for a scalar. Throws Error{invalid} on a negative extent or when it exceeds 2^62.
int64_t element_count(const Shape& shape);
Shape row_major_strides(const Shape& shape);  // in elements
std::string to_string(const Shape& shape);    // "2x3x4"; "" for a scalar

// Numpy broadcasting; throws Error{invalid} naming both shapes when they do not agree.
Shape broadcast(const Shape& a, const Shape& b);

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
  int64_t elements() const { return element_count(shape); }
  int64_t bytes() const;
};

std::string to_string(const TensorType& type);  // "f32[2x3x4]"

}  // namespace korch
