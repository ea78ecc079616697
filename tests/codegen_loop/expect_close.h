#pragma once

#include <string>

#include "korch/tensor/host_tensor.h"

namespace korch::testing {

// Both NaN, both the same infinity, equal, or within tolerance * (1 + |expected|).
void expect_close(const HostTensor& actual, const HostTensor& expected, double tolerance,
                  const std::string& what);

}  // namespace korch::testing
