// Which kernel of an executable is wrong, without un-fusing the plan: every tensor that a step writes is
// compared with the primitive graph in float64 as the executable runs.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"
#include "korch/package/loaded.h"

namespace korch {

// A sentence naming the first step whose output is wrong although its inputs are right; "none found" when all
// agree.
std::string first_wrong_kernel(const Graph& imported, LoadedExecutable& executable,
                               const std::vector<HostTensor>& inputs);

}  // namespace korch
