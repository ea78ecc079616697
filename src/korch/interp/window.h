// The geometry of sliding windows: which input element each tap of each output position reads. Convolution
// and (with input and output exchanged) transposed convolution walk it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "korch/ir/index_map.h"

namespace korch {

struct WindowGeometry {
  Shape input, output, kernel;     // spatial extents only, at least one axis
  std::vector<Coordinate> places;  // in the input, one per axis

  // Of the first operand of a window or convolution.
  explicit WindowGeometry(const IndexMaps& maps)
      : input(maps.operands[0].operand.begin() + 2, maps.operands[0].operand.end()),
        output(maps.result.begin() + 2, maps.result.end()),
        kernel(maps.taps.end() - static_cast<std::ptrdiff_t>(input.size()), maps.taps.end()),
        places(maps.operands[0].coordinates.begin() + 2, maps.operands[0].coordinates.end()) {}

  int64_t taps() const { return element_count(kernel); }
  int64_t input_elements() const { return element_count(input); }
  int64_t output_elements() const { return element_count(output); }
  // Rows along the last spatial axis.
  int64_t output_rows() const { return output.back() == 0 ? 0 : output_elements() / output.back(); }
  // Of the input, from one output of a row to the next.
  int64_t step() const { return places.back().scale; }

  // For one tap and the output rows [row_begin, row_end): calls f(output position, input position, count) for
  // each run of output positions whose input element exists; the input advances by step() per output.
  template <typename F>
  void for_each_run(int64_t tap, int64_t row_begin, int64_t row_end, F&& f) const {
    const size_t last = kernel.size() - 1;
    const TapRun run = tap_run(places[last], tap % kernel[last], input[last], output[last]);
    if (run.count == 0) return;
    for (int64_t row = row_begin; row < row_end; ++row) {
      const int64_t input_row = row_of_input(tap / kernel[last], row);
      if (input_row >= 0) f(row * output[last] + run.first, input_row * input[last] + run.from, run.count);
    }
  }

 private:
  // The input row that the outer part of a tap reads for an output row; -1 outside.
  int64_t row_of_input(int64_t outer_tap, int64_t output_row) const {
    int64_t result = 0, scale = 1;
    for (size_t axis = kernel.size() - 1; axis-- > 0;) {
      const int64_t at = places[axis].at(output_row % output[axis], outer_tap % kernel[axis], input[axis]);
      if (at < 0) return -1;
      result += at * scale;
      scale *= input[axis];
      output_row /= output[axis];
      outer_tap /= kernel[axis];
    }
    return result;
  }
};

}  // namespace korch
