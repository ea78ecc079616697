// Runs one kernel alone on the device that it is for, to get its cost (docs/design/profile.md) and its
// results. Times in microseconds.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "korch/base/result.h"
#include "korch/plan/kernel.h"

namespace korch {

// How carefully a kernel is measured. quick: enough to tell whether it can matter. thorough: its cost. twice:
// thorough again some time later; the lower cost counts, since disturbances only make a measurement longer.
enum class Care { quick, thorough, twice };
constexpr std::array<std::string_view, 3> kCareNames = {"quick", "thorough", "twice"};

struct Cost {
  double us = 0;                   // of a kernel: the mean without the slowest samples; of a plan: the median
  double low_us = 0, high_us = 0;  // first and third quartile
  int samples = 0;
  Care care = Care::quick;
};

// The slices that a run of smaller extents needs: those whose value (slice / stride) % count is below
// `needed`.
struct NeededSlices {
  int phase = 0;
  int64_t stride = 1, count = 1, needed = 1;
};

struct MeasuredKernel {
  const Kernel* kernel = nullptr;
  const std::string* object = nullptr;             // of Backend::compile; null or empty for library calls
  std::vector<TensorType> inputs;                  // dtype decides the random content
  std::vector<int64_t> input_bytes, output_bytes;  // physical
  std::vector<std::shared_ptr<const std::string>> constants;  // packed
  std::vector<DType> constant_types;                          // before that; empty: not known
  std::vector<NeededSlices> needed;                           // by phase, of each outer ones first; none: all
};

// Inputs are random, constants cycled through a working set as large as the network's, activations as warm as
// the step before would leave them; on all of the device's workers.
class Meter {
 public:
  virtual ~Meter() = default;
  virtual Result<Cost> measure(const MeasuredKernel& kernel, Care care) = 0;
  // So many kernels, each asked for when it is needed; `done` gets each one's cost, in whatever order they
  // come.
  virtual void measure_all(size_t count, const std::function<MeasuredKernel(size_t)>& kernel, Care care,
                           const std::function<void(size_t, Result<Cost>)>& done) {
    for (size_t i = 0; i < count; ++i) done(i, measure(kernel(i), care));
  }
  // That measure at once: so many times as many kernels are worth asking for together.
  virtual int machines() { return 1; }
  // The bytes of all outputs after a run on random inputs. Outputs begin as zeros; kernels with the same
  // inputs get the same numbers.
  virtual Result<std::string> outputs(const MeasuredKernel& kernel) = 0;
  // One run, slice after slice, on the data at these addresses of this process: inputs, constants, outputs,
  // temporaries. Gives the code that the run ends with (runtime/abi.h). Not for library calls.
  virtual Result<int32_t> run(const MeasuredKernel& kernel, void* const* arguments) = 0;
  // Frees the memory that is kept from one kernel to the next.
  virtual void release_memory() = 0;
};

}  // namespace korch
