// A small plan made by hand: y = relu(scale * x) - sum(scale * x), and a second output that is the middle of
// scale * x.
#pragma once

#include <functional>

#include "korch/backend/backend.h"
#include "korch/base/error.h"

namespace korch {

constexpr int64_t kElements = 100;

Plan test_plan();
// With the accesses of its kernels, in blocks as block_slices cuts them.
Plan plan_with_accesses();
// Its kernels compiled: of builds that have the CPU backend.
PackageInput test_package(const Plan& plan, Isa isa);
std::vector<float> test_scale();

// Of the Error that the action throws; it is a failure of the test where it throws none.
ErrorKind kind_of_failure(const std::function<void()>& action);

}  // namespace korch
