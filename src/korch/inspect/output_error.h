// How far outputs are from what they should be, as users state it (--accuracy relaxed:ERROR): the root mean
// square of the differences over that of the exact output.
#pragma once

#include <vector>

#include "korch/tensor/host_tensor.h"

namespace korch {

// Of floats that are finite in both; 0 if there are none, or the tensor is no float.
double relative_error(const HostTensor& got, const HostTensor& exact);
// The largest of all outputs.
double relative_error(const std::vector<HostTensor>& got, const std::vector<HostTensor>& exact);

}  // namespace korch
