#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace korch {

// How a constant operand is stored for a kernel: codegen/packing.h turns (HostTensor, Packing) into bytes.
struct Packing {
  std::string kind = "row_major";  // row_major, and what the kernel families add
  std::vector<int64_t> params;
  bool operator==(const Packing&) const = default;
};

}  // namespace korch
