#include "expect_close.h"

#include <gtest/gtest.h>

#include <cmath>

#include "korch/tensor/element.h"

namespace korch::testing {
namespace {

// Sums grow: what a kernel is measured against is the float64 result, so the tolerance is relative to it and
// to 1.
bool close(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= tolerance * (1 + std::abs(expected));
}

}  // namespace

void expect_close(const HostTensor& actual, const HostTensor& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  int shown = 0;
  for (int64_t i = 0; i < actual.elements() && shown < 4; ++i) {
    const double a = element_as_double(actual, i), e = element_as_double(expected, i);
    if (close(a, e, tolerance)) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << a << ", expected " << e;
    ++shown;
  }
}

}  // namespace korch::testing
