// Convolution as im2col and a double-precision matrix product per image and group, in blocks of output rows;
// one input channel per group (depthwise), and weights that are not finite, tap by tap. Transposed
// convolution is the same walk backwards.
#include <algorithm>
#include <cmath>

#include "korch/interp/evaluate.h"
#include "korch/interp/gemm.h"
#include "korch/interp/window.h"

namespace korch {
namespace {

constexpr int64_t kColumnBufferElements = 1 << 21;  // 16 MiB of doubles: small beside the activations

Shape spatial(const Shape& shape) {
  return Shape(shape.begin() + 2, shape.end());
}

struct ConvShape {
  WindowGeometry geometry;
  int64_t images, groups, in_channels, out_channels;  // channels per group
  bool in_float32;
  int64_t in_plane() const { return geometry.input_elements(); }
  int64_t out_plane() const { return geometry.output_elements(); }
  int64_t depth() const { return in_channels * geometry.taps(); }  // products per output element
  int64_t rows_per_block() const {
    const int64_t row_elements = std::max<int64_t>(1, depth() * geometry.output.back());
    return std::max<int64_t>(1, kColumnBufferElements / row_elements);
  }
  // The input is its own column matrix.
  bool is_pointwise() const {
    const auto& g = geometry;
    const auto stays = [](const Coordinate& c) { return c.scale == 1 && c.offset == 0; };
    return g.taps() == 1 && std::all_of(g.places.begin(), g.places.end(), stays) && g.input == g.output;
  }
};

// columns[channel * taps + tap][position]: the input element each tap reads, zero where it reads padding.
void gather_columns(const ConvShape& s, const double* x, int64_t row_begin, int64_t row_end,
                    std::vector<double>& columns) {
  const int64_t positions = (row_end - row_begin) * s.geometry.output.back();
  const int64_t first = row_begin * s.geometry.output.back();
  const int64_t taps = s.geometry.taps(), step = s.geometry.step();
  columns.assign(s.depth() * positions, 0);
  for (int64_t channel = 0; channel < s.in_channels; ++channel) {
    const double* plane = x + channel * s.in_plane();
    for (int64_t tap = 0; tap < taps; ++tap) {
      double* row = columns.data() + (channel * taps + tap) * positions;
      s.geometry.for_each_run(tap, row_begin, row_end, [&](int64_t to, int64_t from, int64_t count) {
        for (int64_t i = 0; i < count; ++i) row[to - first + i] = plane[from + i * step];
      });
    }
  }
}

void conv_by_columns(const ConvShape& s, const double* x, const double* w, double* y, StopCheck& stop) {
  if (s.is_pointwise()) {
    gemm({false, false, s.in_float32, s.out_channels, s.out_plane(), s.in_channels, s.in_plane(),
          s.out_plane(), 1},
         w, x, y, stop);
    return;
  }
  std::vector<double> columns;
  const int64_t rows = s.geometry.output_rows(), block = s.rows_per_block(), width = s.geometry.output.back();
  for (int64_t row = 0; row < rows; row += block) {
    const int64_t end = std::min(rows, row + block);
    gather_columns(s, x, row, end, columns);
    const int64_t positions = (end - row) * width;
    gemm({false, false, s.in_float32, s.out_channels, positions, s.depth(), positions, s.out_plane(), 1}, w,
         columns.data(), y + row * width, stop);
  }
}

void conv_by_taps(const ConvShape& s, const double* x, const double* w, double* y, StopCheck& stop) {
  const int64_t taps = s.geometry.taps(), step = s.geometry.step();
  for (int64_t channel = 0; channel < s.out_channels; ++channel) {
    double* plane = y + channel * s.out_plane();
    for (int64_t term = 0; term < s.depth(); ++term) {
      const double weight = w[channel * s.depth() + term];
      const double* data = x + term / taps * s.in_plane();
      s.geometry.for_each_run(term % taps, 0, s.geometry.output_rows(),
                              [&](int64_t to, int64_t from, int64_t count) {
                                stop.after(count);
                                if (step == 1) {
                                  for (int64_t i = 0; i < count; ++i)
                                    plane[to + i] += weight * data[from + i];
                                } else {
                                  for (int64_t i = 0; i < count; ++i)
                                    plane[to + i] += weight * data[from + i * step];
                                }
                              });
    }
  }
}

HostTensor start_from_bias(const Evaluation& e) {
  HostTensor out = doubles(e.output_shape());
  if (e.inputs.size() < 3) return out;
  const int64_t channels = out.shape()[1];
  const int64_t plane = element_count(spatial(out.shape()));
  const HostTensor bias = converted(e.inputs[2], DType::f64);
  for (int64_t i = 0; i < out.shape()[0] * channels; ++i)
    std::fill_n(out.mutable_data<double>() + i * plane, plane, bias.data<double>()[i % channels]);
  return out;
}

// Adds the transposed convolution of one image and group to y; the geometry is that of the convolution whose
// gradient this is: its output is our input.
void transposed_conv(const ConvShape& s, const double* x, const double* w, double* y, StopCheck& stop) {
  const int64_t taps = s.geometry.taps(), step = s.geometry.step(), width = s.geometry.output.back();
  const int64_t rows = s.geometry.output_rows(), block = s.rows_per_block();
  for (int64_t row = 0; row < rows; row += block) {
    const int64_t end = std::min(rows, row + block);
    const int64_t positions = (end - row) * width, first = row * width;
    std::vector<double> columns(s.depth() * positions);
    gemm({true, false, s.in_float32, s.depth(), positions, s.out_channels, s.out_plane(), positions, 0}, w,
         x + first, columns.data(), stop);
    for (int64_t line = 0; line < s.depth(); ++line) {
      stop.after(positions);
      double* plane = y + line / taps * s.in_plane();
      const double* from_line = columns.data() + line * positions;
      s.geometry.for_each_run(line % taps, row, end, [&](int64_t from, int64_t to, int64_t count) {
        for (int64_t i = 0; i < count; ++i) plane[to + i * step] += from_line[from - first + i];
      });
    }
  }
}

// Adds the convolution of x and w, all in float64.
void add_convolution(const Evaluation& e, const HostTensor& x, const HostTensor& w, HostTensor& out) {
  const auto& attrs = e.attrs<ConvAttrs>();
  const ConvShape s{WindowGeometry(index_maps(Op::Conv, attrs, {x.type(), w.type()}, out.shape())),
                    x.shape()[0],
                    attrs.group,
                    w.shape()[1],
                    w.shape()[0] / attrs.group,
                    e.sums_in_float32()};
  if (s.depth() == 0) return;
  // Columns hold zeros where a tap reads padding, which has no part in the sum: an infinite weight shows it.
  const double* weights = w.data<double>();
  const bool are_finite =
      std::all_of(weights, weights + w.elements(), [](double weight) { return std::isfinite(weight); });
  const auto convolve = s.in_channels == 1 || !are_finite ? conv_by_taps : conv_by_columns;
  for (int64_t i = 0; i < s.images * s.groups; ++i) {
    const int64_t group = i % s.groups;
    convolve(s, x.data<double>() + i * s.in_channels * s.in_plane(),
             w.data<double>() + group * s.out_channels * s.depth(),
             out.mutable_data<double>() + i * s.out_channels * s.out_plane(), e.stop);
  }
}

// x = low + 2^16 high; sums of products of such halves are exact in float64.
struct Halves {
  HostTensor low, high;
};
Halves halves_of(const HostTensor& x) {
  Halves halves{doubles(x.shape()), doubles(x.shape())};
  for (int64_t i = 0; i < x.elements(); ++i) {
    const auto low = static_cast<int16_t>(x.data<int32_t>()[i]);
    halves.low.mutable_data<double>()[i] = low;
    halves.high.mutable_data<double>()[i] = static_cast<double>((int64_t{x.data<int32_t>()[i]} - low) >> 16);
  }
  return halves;
}

// Sums of int32 wrap around.
HostTensor integer_convolution(const Evaluation& e) {
  const Halves x = halves_of(converted(e.inputs[0], DType::i32)),
               w = halves_of(converted(e.inputs[1], DType::i32));
  HostTensor low = start_from_bias(e), high = doubles(low.shape());
  add_convolution(e, x.low, w.low, low);
  add_convolution(e, x.low, w.high, high);
  add_convolution(e, x.high, w.low, high);
  HostTensor out(TensorType{DType::i32, low.shape()});
  for (int64_t i = 0; i < out.elements(); ++i)
    out.mutable_data<int32_t>()[i] =
        static_cast<int32_t>(static_cast<uint64_t>(static_cast<int64_t>(low.data<double>()[i])) +
                             (static_cast<uint64_t>(static_cast<int64_t>(high.data<double>()[i])) << 16));
  return out;
}

}  // namespace

Results evaluate_conv(const Evaluation& e) {
  if (element_count(e.output_shape()) == 0) return {start_from_bias(e)};
  if (!is_float(e.inputs[0].dtype())) return {integer_convolution(e)};
  HostTensor out = start_from_bias(e);
  add_convolution(e, converted(e.inputs[0], DType::f64), converted(e.inputs[1], DType::f64), out);
  return {out};
}

Results evaluate_conv_transpose(const Evaluation& e) {
  const auto& attrs = e.attrs<ConvAttrs>();
  const HostTensor x = converted(e.inputs[0], DType::f64), w = converted(e.inputs[1], DType::f64);
  HostTensor out = start_from_bias(e);
  if (out.elements() == 0 || x.elements() == 0) return {out};
  const ConvShape s{WindowGeometry(index_maps(Op::Conv, attrs, {out.type(), w.type()}, x.shape())),
                    x.shape()[0],
                    attrs.group,
                    w.shape()[1],
                    w.shape()[0] / attrs.group,
                    e.sums_in_float32()};
  for (int64_t i = 0; i < s.images * s.groups; ++i) {
    const int64_t group = i % s.groups;
    transposed_conv(s, x.data<double>() + i * s.out_channels * s.out_plane(),
                    w.data<double>() + group * s.out_channels * s.depth(),
                    out.mutable_data<double>() + i * s.in_channels * s.in_plane(), e.stop);
  }
  return {out};
}

}  // namespace korch
