// The primitive graphs of a plan (PlanGraph), as an executable keeps them for bisection.
#pragma once

#include <string>

#include "korch/plan/plan.h"

namespace korch {

// Section content (packed_json.h): an array with an object per variant.
std::string pack_graphs(const Plan& plan);

// Into a plan that was read without (plan_json.h) from the executable at `path`: its own graph, or that of
// each variant. Nothing where the executable is of before there were any. Throws as read_executable, and
// Error{io} on a section that pack_graphs did not write.
void read_graphs(const std::string& path, Plan* plan);

}  // namespace korch
