// Measuring one kernel (docs/design/profile.md): the step executor and pool of the executables, the threads
// of the target, inputs random, constants cycled through a working set as large as the model's, activations
// as warm as the step before would leave them. Times in microseconds.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "korch/base/result.h"
#include "korch/device/device.h"
#include "korch/plan/kernel.h"

namespace korch {

namespace rt {
class Pool;
}

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
  const std::string* object = nullptr;             // null or empty for library calls
  std::vector<TensorType> inputs;                  // dtype decides the random content
  std::vector<int64_t> input_bytes, output_bytes;  // physical
  std::vector<std::string> constants;              // packed
  std::vector<NeededSlices> needed;                // by phase, of each outer ones first; none: all
};

class Meter {
 public:
  Meter(const Device& target, int64_t footprint_bytes);  // of the network (footprint.h)
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  Result<Cost> measure(const MeasuredKernel& kernel, Care care);
  // The bytes of all outputs after a run on random inputs, which are the same for every kernel of the same
  // inputs, beginning with zeros.
  Result<std::string> outputs(const MeasuredKernel& kernel);
  // Gives back what is kept from one kernel to the next.
  void release_memory();

 private:
  rt::Pool* pool();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace korch
