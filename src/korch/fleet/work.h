// A kernel to measure as a file: its code or the library's function that it calls, the sizes and types of its
// arguments, the device and the footprint to measure it with, and how carefully. No weights: whoever measures
// it fills constants by chance, as inputs are.
#pragma once

#include <string>
#include <string_view>

#include "korch/backend/meter.h"
#include "korch/device/device.h"

namespace korch {

struct KernelWork {
  struct Constant {
    DType dtype;  // before it is packed
    int64_t bytes = 0;
  };
  Device device;
  int64_t footprint_bytes = 0;
  Care care = Care::quick;
  Kernel kernel;  // what running it needs; of generated code the source says no more than that it is some
  std::vector<DType> inputs;
  std::vector<int64_t> input_bytes, output_bytes;
  std::vector<Constant> constants;
  std::vector<NeededSlices> needed;
  std::string object;
};

// Whether other constants than its own take as much time and do no harm: integers of more than a byte may be
// indices or divisors.
bool can_travel(const MeasuredKernel& kernel);
KernelWork work_of(const MeasuredKernel& kernel, const Device& device, int64_t footprint_bytes, Care care);

// With a hash in front, and the protocol of costs.
std::string to_bytes(const KernelWork& work);
// Throws Error{invalid} for other bytes than to_bytes gives, another protocol, sizes that no kernel has.
KernelWork work_from_bytes(std::string_view bytes);

// The kernel of a work that outlives it, with constants drawn by chance.
MeasuredKernel measured_kernel(const KernelWork& work);

}  // namespace korch
