// The time that comparing an executable with its network will take, so that a search can leave time for it.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

// Seconds of wall-clock time of the interpreter's runs of one sample, rather too many. First times the
// interpreter per element for a fifth of a second, on the machine as busy as it is.
double check_seconds(const Graph& primitives);

}  // namespace korch
