// Text of NVIDIA's virtual machine (PTX), looked through for a mistake that versions of NVRTC are known to
// make.
#pragma once

#include <string>
#include <string_view>

namespace korch {

// The instruction that computes an index wrongly, or "". NVRTC makes sums of two small products dp2a or dp4a,
// in 32 bits, and takes the sum for unsigned where it goes on in 64; version 12.1 does so where what is added
// is negative. An instruction whose result is extended with zeros must add what is known not to be negative.
std::string ptx_fault(std::string_view ptx);

}  // namespace korch
