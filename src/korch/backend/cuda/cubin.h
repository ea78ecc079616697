// Machine code of NVIDIA's GPUs (a cubin, an ELF file) as ptxas makes it, read for what its functions need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/base/result.h"
#include "korch/device/function_resources.h"

namespace korch {

// Of these functions, in their order. Refuses what is no such file, or lacks one of them. Instructions are
// those of compute capability 7.0 and later, 16 bytes each.
Result<std::vector<FunctionResources>> cubin_resources(std::string_view cubin,
                                                       const std::vector<std::string>& functions);

}  // namespace korch
