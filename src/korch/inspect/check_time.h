// What comparing an executable with its network will take, so that a search can leave time for it.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

// Seconds of wall-clock of the interpreter's runs of one sample, rather too many. What the interpreter takes
// per element is timed for a fifth of a second first, on the machine as busy as it is.
double check_seconds(const Graph& primitives);

}  // namespace korch
