// A faulty kernel as a folder that shows the fault without korch: source, compile command, grid, and, if they
// were kept, arguments.
#pragma once

#include <string>

#include "korch/driver/heal.h"

namespace korch {

// `sh run.sh` in the folder compiles the kernel, runs it, prints the distance from the right results, and
// ends with 1 if that is too large (docs/design/inspect.md, "Tolerance"). Without arguments it only compiles,
// and ends with 2. A library call is only described. Error{io} if the folder cannot be written.
void write_reproducer(const FaultyKernel& faulty, const Device& device, const std::string& folder);

}  // namespace korch
