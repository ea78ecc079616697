// Walks a reduction: the input in row-major order, in runs with their places in the output.
#pragma once

#include <cstdint>
#include <vector>

#include "korch/base/stop_check.h"
#include "korch/interp/strided.h"

namespace korch {

// Stride in the output (with or without the reduced axes, as row-major elements) of each input axis; 0 if
// reduced.
Shape reduction_strides(const Shape& input, const std::vector<int64_t>& axes);
// How many input elements each output element reduces.
int64_t reduced_elements(const Shape& input, const std::vector<int64_t>& axes);

// Calls f(input position, output position, output stride, count); the stride is 0 where the run is reduced.
template <typename F>
void for_each_reduction_run(const Shape& input, const std::vector<int64_t>& axes, StopCheck& stop, F&& f) {
  const StridedSpace space(input, reduction_strides(input, axes));
  space.for_each_run(0, element_count(input),
                     [&](int64_t output, int64_t stride, int64_t position, int64_t count) {
                       stop.after(count);
                       f(position, output, stride, count);
                     });
}

// accumulate(out[j], in[i]) for every element of the input and the output element it is reduced into.
template <typename In, typename Out, typename Accumulate>
void reduce_into(const In* in, const Shape& input, const std::vector<int64_t>& axes, Out* out,
                 StopCheck& stop, Accumulate&& accumulate) {
  for_each_reduction_run(input, axes, stop, [&](int64_t from, int64_t to, int64_t stride, int64_t count) {
    if (stride == 0) {
      Out value = out[to];
      for (int64_t i = 0; i < count; ++i) accumulate(value, in[from + i]);
      out[to] = value;
    } else {
      for (int64_t i = 0; i < count; ++i) accumulate(out[to + i * stride], in[from + i]);
    }
  });
}

}  // namespace korch
