#include "korch/inspect/output_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/base/error.h"

namespace korch {

double relative_error(const HostTensor& got, const HostTensor& exact) {
  KORCH_ASSERT(got.shape() == exact.shape(), "outputs of two shapes");
  if (!is_float(exact.dtype())) return 0;
  double differences = 0, squares = 0;
  for (int64_t i = 0; i < exact.elements(); ++i) {
    const double value = element_as_double(exact, i), other = element_as_double(got, i);
    if (!std::isfinite(value) || !std::isfinite(other)) continue;
    differences += (other - value) * (other - value);
    squares += value * value;
  }
  if (differences == 0) return 0;
  return squares == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(differences / squares);
}

double relative_error(const std::vector<HostTensor>& got, const std::vector<HostTensor>& exact) {
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i) largest = std::max(largest, relative_error(got[i], exact[i]));
  return largest;
}

}  // namespace korch
