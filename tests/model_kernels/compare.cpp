#include "compare.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "korch/tensor/element.h"

namespace korch::testing {

HostTensor random_memory(const TensorType& type, uint64_t seed, double low, double high) {
  HostTensor tensor(type);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> real(static_cast<float>(low), static_cast<float>(high));
  with_element_type(type.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    S* data = tensor.mutable_data<S>();
    for (int64_t i = 0; i < tensor.elements(); ++i)
      data[i] = is_float(type.dtype) ? convert_element<S>(real(random))
                                     : convert_element<S>(static_cast<int64_t>(random() & 1));
  });
  return tensor;
}

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double error = std::abs(a - b) / (1 + std::abs(b));
  return std::isfinite(error) ? error : INFINITY;
}

double largest_difference(const HostTensor& a, const HostTensor& b) {
  double largest = 0;
  for (int64_t at = 0; at < a.elements(); ++at)
    largest = std::max(largest, difference(element_as_double(a, at), element_as_double(b, at)));
  return largest;
}

}  // namespace korch::testing
