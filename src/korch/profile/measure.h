// Measuring one kernel (docs/design/profile.md): the step executor and pool of the executables, the threads
// of the target, inputs random, constants cycled through a working set as large as the model's, activations
// as warm as the step before would leave them. Times in microseconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "korch/base/result.h"
#include "korch/plan/kernel.h"
#include "korch/target/target.h"

namespace korch {

// How a kernel is measured: quick tells whether it can matter, thorough what it costs. Twice: thorough again
// some time later, and the lower cost counts; what disturbs a measurement makes it longer.
enum class Care { quick, thorough, twice };

struct Cost {
  double us = 0;                   // of a kernel: the mean without the slowest samples; of a plan: the median
  double low_us = 0, high_us = 0;  // first and third quartile
  int samples = 0;
  Care care = Care::quick;
};

struct MeasuredKernel {
  const Kernel* kernel = nullptr;
  const std::string* object = nullptr;             // null or empty for library calls
  std::vector<TensorType> inputs;                  // dtype decides the random content
  std::vector<int64_t> input_bytes, output_bytes;  // physical
  std::vector<std::string> constants;              // packed
};

class Meter {
 public:
  Meter(const Target& target, int64_t footprint_bytes);  // of the network (footprint.h)
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  Result<Cost> measure(const MeasuredKernel& kernel, Care care);
  // Gives back what is kept from one kernel to the next.
  void release_memory();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace korch
