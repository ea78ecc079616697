// Running one kernel alone on the device that it is for: what it costs (docs/design/profile.md), and what it
// gives. Times in microseconds.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "korch/base/result.h"
#include "korch/plan/kernel.h"

namespace korch {

// How a kernel is measured: quick tells whether it can matter, thorough what it costs. Twice: thorough again
// some time later, and the lower cost counts; what disturbs a measurement makes it longer.
enum class Care { quick, thorough, twice };
constexpr std::array<std::string_view, 3> kCareNames = {"quick", "thorough", "twice"};

struct Cost {
  double us = 0;                   // of a kernel: the mean without the slowest samples; of a plan: the median
  double low_us = 0, high_us = 0;  // first and third quartile
  int samples = 0;
  Care care = Care::quick;
};

// Slices of the value (slice / stride) % count below `needed` alone: what a run of smaller extents needs.
struct NeededSlices {
  int phase = 0;
  int64_t stride = 1, count = 1, needed = 1;
};

struct MeasuredKernel {
  const Kernel* kernel = nullptr;
  const std::string* object = nullptr;             // of Backend::compile; null or empty for library calls
  std::vector<TensorType> inputs;                  // dtype decides the random content
  std::vector<int64_t> input_bytes, output_bytes;  // physical
  std::vector<std::string> constants;              // packed
  std::vector<NeededSlices> needed;                // by phase, of each outer ones first; none: all
};

// Inputs are random, constants cycled through a working set as large as the network's, activations as warm as
// the step before would leave them; on all of the device's workers.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual Result<Cost> measure(const MeasuredKernel& kernel, Care care) = 0;
  // The bytes of all outputs after a run on random inputs, which are the same for every kernel of the same
  // inputs, beginning with zeros.
  virtual Result<std::string> outputs(const MeasuredKernel& kernel) = 0;
  // One run, slice after slice, on what stands at these addresses of this process: inputs, constants,
  // outputs, temporaries. The code that it ends with (runtime/abi.h). Not of library calls.
  virtual Result<int32_t> run(const MeasuredKernel& kernel, void* const* arguments) = 0;
  // Gives back what is kept from one kernel to the next.
  virtual void release_memory() = 0;
};

}  // namespace korch
