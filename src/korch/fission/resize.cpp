// Resize, axis by axis, as what each tap reads (ir/resize_taps.h) times its weights.
#include <algorithm>

#include "korch/fission/rules.h"
#include "korch/ir/resize_taps.h"

namespace korch::rules {
namespace {

bool all_equal(const std::vector<double>& weights, double value) {
  return std::all_of(weights.begin(), weights.end(), [&](double w) { return w == value; });
}

// The step between successive positions when it is constant and not 0, else 0.
int64_t constant_step(const std::vector<int64_t>& index) {
  if (index.size() < 2) return 1;
  for (size_t i = 2; i < index.size(); ++i) {
    if (index[i] - index[i - 1] != index[1] - index[0]) return 0;
  }
  return index[1] - index[0];
}

// Reads the given positions of one axis: nothing, a strided slice or a gather.
ValueId read_positions(Emitter& e, ValueId x, int64_t axis, const std::vector<int64_t>& index) {
  const Shape shape = e.shape(x);
  const size_t a = static_cast<size_t>(axis);
  const int64_t step = constant_step(index);
  if (step == 0)
    return e.emit(Op::Gather, AxisAttrs{axis},
                  {x, e.int_constant({static_cast<int64_t>(index.size())}, index)});
  SliceAttrs slice{Shape(shape.size(), 0), shape, Shape(shape.size(), 1)};
  slice.starts[a] = index[0];
  slice.sizes[a] = static_cast<int64_t>(index.size());
  slice.steps[a] = step;
  const bool whole = slice.sizes == shape && slice.starts[a] == 0 && step == 1;
  return whole ? x : e.emit(Op::Slice, slice, {x});
}

bool repeats_each(const std::vector<int64_t>& index, int64_t in) {
  const int64_t out = static_cast<int64_t>(index.size());
  if (in == 0 || out % in != 0) return false;
  for (int64_t o = 0; o < out; ++o) {
    if (index[static_cast<size_t>(o)] != o / (out / in)) return false;
  }
  return true;
}

ValueId nearest(Emitter& e, const ResizeAttrs& attrs, const std::vector<size_t>& axes, ValueId x) {
  std::vector<int64_t> repeat(e.shape(x).size(), 1);
  for (const size_t axis : axes) {
    const int64_t in = e.shape(x)[axis];
    const std::vector<int64_t> index = resize_taps(attrs, axis, in)[0].index;
    if (repeats_each(index, in))
      repeat[axis] = attrs.sizes[axis] / in;
    else
      x = read_positions(e, x, static_cast<int64_t>(axis), index);
  }
  // Whole repetitions, all axes at once: [n] -> [n, 1] -> [n, k] -> [n * k]; then the index map is h / k.
  const Shape shape = e.shape(x);
  Shape split, expanded, result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    split.push_back(shape[axis]);
    expanded.push_back(shape[axis]);
    if (repeat[axis] != 1) {
      split.push_back(1);
      expanded.push_back(repeat[axis]);
    }
    result.push_back(shape[axis] * repeat[axis]);
  }
  return e.reshape(e.expand(e.reshape(x, split), expanded), result);
}

ValueId interpolate_axis(Emitter& e, const ResizeAttrs& attrs, size_t axis, ValueId x) {
  const auto along = static_cast<int64_t>(axis);
  ValueId total = kNoId;
  for (const ResizeTap& tap : resize_taps(attrs, axis, e.shape(x)[axis])) {
    if (all_equal(tap.weight, 0)) continue;
    ValueId term = read_positions(e, x, along, tap.index);
    if (!all_equal(tap.weight, 1)) {
      const ValueId weights = e.constant_like(term, {attrs.sizes[axis]}, tap.weight);
      term = e.mul(term, e.along_axis(weights, along, e.rank(x)));
    }
    total = total == kNoId ? term : e.add(total, term);
  }
  return total;
}

}  // namespace

ValueId resize(Emitter& e, const Node& node, const Inputs& in) {
  const ResizeAttrs& attrs = std::get<ResizeAttrs>(node.attrs);
  const Shape shape = e.shape(in[0]);
  if (const std::string unknown = unknown_resize_attribute(attrs); !unknown.empty()) e.refuse(unknown, in);
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (attrs.sizes[i] != shape[i] || attrs.scales[i] != 1) axes.push_back(i);
  if (attrs.mode == "nearest") return nearest(e, attrs, axes, in[0]);
  if (!is_float(e.dtype(in[0]))) e.refuse("interpolation of integers", in);
  ValueId x = in[0];
  for (const size_t axis : axes) x = interpolate_axis(e, attrs, axis, x);
  return x;
}

}  // namespace korch::rules
