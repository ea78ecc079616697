// A faulty kernel as a folder that shows the fault without korch: source, compile command, launch, and where
// they were seen, arguments.
#pragma once

#include <string>

#include "korch/driver/heal.h"

namespace korch {

// `sh run.sh` in it compiles the kernel, runs it, says how far it is from the results it should have, and
// ends with 1 where that is too far (docs/design/inspect.md, "Tolerance"). Where there are no arguments it
// only compiles, and ends with 2. Of a library call there is its description. Error{io} when it cannot be
// written.
void write_reproducer(const FaultyKernel& faulty, const Device& device, const std::string& folder);

}  // namespace korch
