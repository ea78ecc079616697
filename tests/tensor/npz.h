// The references in models/: archives of .npy files as NumPy writes them, which are trusted.
#pragma once

#include <map>
#include <string>

#include "korch/tensor/host_tensor.h"

namespace korch {

// By the members' names without ".npy".
std::map<std::string, HostTensor> read_npz(const std::string& path);

}  // namespace korch
