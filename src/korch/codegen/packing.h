// Constant operands in the form that a kernel wants them (Packing, plan/kernel.h). Kinds are rows of one table.
#pragma once

#include <string>

#include "korch/plan/kernel.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

// The packed bytes. The table stands in packing.cpp; kernel families add rows there.
std::string pack(const HostTensor& constant, const Packing& packing);

}  // namespace korch
