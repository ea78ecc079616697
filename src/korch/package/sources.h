// The generated sources of a plan's kernels, as an executable keeps them for people to read.
#pragma once

#include <string>
#include <vector>

#include "korch/plan/plan.h"

namespace korch {

// Section content: the size of a JSON text in decimal, a line feed, the text deflated. It is an array with a
// string per kernel of the plan, empty for a library call.
std::string pack_sources(const Plan& plan);

// The sources that pack_sources was given; nothing for older executables without them. Throws as
// read_executable, and Error{io} on a section that pack_sources did not write.
std::vector<std::string> read_sources(const std::string& path);

}  // namespace korch
