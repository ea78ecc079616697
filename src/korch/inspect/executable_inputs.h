// What an executable is run with when the network is not at hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/package/loaded.h"

namespace korch {

// Random from `seed` (integers are 0 or 1, which every index and mask allows), except for the inputs that
// `files` names: input name -> .npy file, or .npz file with a member of this name. Open dimensions have the
// extents that `files` and `extents` (by their names) say, else the largest. Throws Error{invalid} for an
// unknown name or another type, Error{usage} for an extent of none.
std::vector<HostTensor> executable_inputs(const LoadedExecutable& executable, uint64_t seed,
                                          const std::map<std::string, std::string>& files = {},
                                          const std::map<std::string, int64_t>& extents = {});

// Those of `extents` that are the executable's: others may be of another one.
std::map<std::string, int64_t> own_extents(const LoadedExecutable& executable,
                                           const std::map<std::string, int64_t>& extents);

}  // namespace korch
