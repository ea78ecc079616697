#pragma once

#include <cstdint>

namespace korch {

// Of numbers that are not negative.
inline int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace korch
