// The stages a text test can run.
#pragma once

#include <string>

namespace korch {

// Parses `input`, runs the stage ("parse", "fold", "fission", "candidates") and prints its result. Throws
// Error.
std::string run_stage(const std::string& stage, const std::string& input);

}  // namespace korch
