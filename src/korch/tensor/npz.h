// NumPy's archives: zip files whose members are .npy files, stored or deflated.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "korch/tensor/host_tensor.h"

namespace korch {

// By the members' names without ".npy". Error{io} or Error{invalid}.
std::map<std::string, HostTensor> read_npz(const std::string& path);
// The bytes of a file, which errors call `where`.
std::map<std::string, HostTensor> parse_npz(std::string_view data, const std::string& where);

// The bytes of an archive, its members stored, as numpy.load reads them. Equal tensors give equal bytes.
std::string npz_of(const std::map<std::string, HostTensor>& tensors);

}  // namespace korch
