// NumPy files: .npy (versions 1 to 3, C order, little-endian).
#pragma once

#include <string>
#include <string_view>

#include "korch/tensor/host_tensor.h"

namespace korch {

HostTensor read_npy(const std::string& path);  // Error{io} or Error{invalid}
// The bytes of a file, which errors call `where`.
HostTensor parse_npy(std::string_view data, const std::string& where);
std::string npy_of(const HostTensor& tensor);                       // the bytes of a file
void write_npy(const std::string& path, const HostTensor& tensor);  // beside, then renamed

}  // namespace korch
