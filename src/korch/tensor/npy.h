// NumPy files: .npy (version 1 and 2, C order, little-endian) and .npz (stored or deflated members).
#pragma once

#include <map>
#include <string>

#include "korch/tensor/host_tensor.h"

namespace korch {

HostTensor read_npy(const std::string& path);                       // Error{io} or Error{invalid}
void write_npy(const std::string& path, const HostTensor& tensor);  // beside, then renamed
std::map<std::string, HostTensor> read_npz(const std::string& path);

}  // namespace korch
