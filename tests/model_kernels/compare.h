// Random tensors and how far results are apart.
#pragma once

#include <cstdint>

#include "korch/tensor/host_tensor.h"

namespace korch::testing {

// Floats uniform in [low, high); integers 0 or 1, indices that every axis has.
HostTensor random_memory(const TensorType& type, uint64_t seed, double low, double high);

// |a - b| / (1 + |b|) of two elements, and the largest over tensors; 0 where both are NaN, infinite where
// only one is finite.
double difference(double a, double b);
double largest_difference(const HostTensor& a, const HostTensor& b);

}  // namespace korch::testing
