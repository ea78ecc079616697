// A network behind the C interface (c_api_network.cpp): y = 8 x in three steps. The first waits at a gate
// while it is closed; the second is one chunk.
#pragma once

#include <atomic>
#include <vector>

#include "korch/runtime/korch.h"

namespace korch::rt {

inline constexpr int64_t kCount = 1000, kGrain = 10;
inline constexpr int kStepCount = 3;

extern std::atomic<bool> gate_is_open;
extern std::atomic<int> workers_at_the_gate;
extern std::atomic<int64_t> slices_run;  // of all steps
// Set by the kernel that ends with so many slices run.
extern std::atomic<int32_t> cancel;
extern std::atomic<int64_t> cancel_at;

struct Call {
  explicit Call(float first) : input(kCount), output(kCount, -1) {
    for (int64_t i = 0; i < kCount; ++i) input[static_cast<size_t>(i)] = first + static_cast<float>(i);
  }
  korch_status run(korch_instance* instance, const korch_run_options* options = nullptr) {
    const void* inputs[] = {input.data()};
    void* outputs[] = {output.data()};
    return options == nullptr ? korch_run(instance, inputs, outputs)
                              : korch_run_with(instance, inputs, outputs, options);
  }
  korch_status run_until(korch_instance* instance, const std::atomic<int32_t>& cancel) {
    korch_run_options options{};
    options.struct_size = sizeof options;
    options.cancel = reinterpret_cast<const int32_t*>(&cancel);
    return run(instance, &options);
  }
  bool is_right() const {
    for (size_t i = 0; i < input.size(); ++i)
      if (output[i] != 8 * input[i]) return false;
    return true;
  }
  bool is_untouched() const { return output == std::vector<float>(kCount, -1); }
  std::vector<float> input, output;
};

}  // namespace korch::rt
