// A small plan made by hand: y = relu(scale * x) - sum(scale * x), and a second output that is the middle of
// scale * x.
#pragma once

#include "korch/package/package.h"

namespace korch {

constexpr int64_t kElements = 100;

Plan test_plan();
PackageInput test_package(const Plan& plan, Isa isa);
std::vector<float> test_scale();

}  // namespace korch
