// The geometry of sliding windows: which input element each tap of each output position reads. Convolution
// and (with input and output exchanged) transposed convolution walk it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "korch/tensor/shape.h"

namespace korch {

struct WindowGeometry {
  Shape input, output, kernel;  // spatial extents only, at least one axis
  std::vector<int64_t> strides, dilations, pads_before;

  int64_t taps() const { return element_count(kernel); }
  int64_t input_elements() const { return element_count(input); }
  int64_t output_elements() const { return element_count(output); }
  // Rows along the last spatial axis.
  int64_t output_rows() const { return output.back() == 0 ? 0 : output_elements() / output.back(); }

  // For one tap and the output rows [row_begin, row_end): calls f(output position, input position, count) for
  // each run of output positions whose input element exists; the input advances by strides.back() per output.
  template <typename F>
  void for_each_run(int64_t tap, int64_t row_begin, int64_t row_end, F&& f) const {
    const size_t last = kernel.size() - 1;
    const int64_t shift = tap % kernel[last] * dilations[last] - pads_before[last];
    const int64_t step = strides[last];
    // The output positions o with 0 <= o * step + shift < input.
    const int64_t first = shift >= 0 ? 0 : (-shift + step - 1) / step;
    const int64_t room = input[last] - shift;
    const int64_t end = std::min(output[last], room <= 0 ? 0 : (room + step - 1) / step);
    if (first >= end) return;
    for (int64_t row = row_begin; row < row_end; ++row) {
      const int64_t input_row = row_of_input(tap / kernel[last], row);
      if (input_row >= 0)
        f(row * output[last] + first, input_row * input[last] + first * step + shift, end - first);
    }
  }

 private:
  // The input row that the outer part of a tap reads for an output row; -1 outside.
  int64_t row_of_input(int64_t outer_tap, int64_t output_row) const {
    int64_t result = 0, scale = 1;
    for (size_t axis = kernel.size() - 1; axis-- > 0;) {
      const int64_t at = output_row % output[axis] * strides[axis] - pads_before[axis] +
                         outer_tap % kernel[axis] * dilations[axis];
      if (at < 0 || at >= input[axis]) return -1;
      result += at * scale;
      scale *= input[axis];
      output_row /= output[axis];
      outer_tap /= kernel[axis];
    }
    return result;
  }
};

}  // namespace korch
