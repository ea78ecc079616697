// The primitive graphs of a plan (PlanGraph), as an executable keeps them for bisection.
#pragma once

#include <string>

#include "korch/plan/plan.h"

namespace korch {

// Section content (packed_json.h): an array with an object per range of shapes.
std::string pack_graphs(const Plan& plan);

// Puts graphs into a plan that was read without them (plan_json.h) from the executable at `path`: its own, or
// one per range of shapes. Nothing for older executables without graphs. Throws as read_executable, and
// Error{io} on a section that pack_graphs did not write.
void read_graphs(const std::string& path, Plan* plan);

}  // namespace korch
