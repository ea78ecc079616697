// What an executable is run with when the network is not at hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/package/loaded.h"

namespace korch {

// Random from `seed` (integers are 0 or 1, which every index and mask allows), except for the inputs that
// `files` names: input name -> .npy file. Throws Error{invalid} for an unknown name or another type.
std::vector<HostTensor> executable_inputs(const LoadedExecutable& executable, uint64_t seed,
                                          const std::map<std::string, std::string>& files = {});

}  // namespace korch
