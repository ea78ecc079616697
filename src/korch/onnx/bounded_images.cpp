#include "korch/onnx/bounded_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/onnx/bounds_emitter.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

// Windows along one spatial axis.
struct Window {
  int64_t span, stride, before, after;  // span: from its first tap to its last
  int64_t taps, dilation;
};

class BoundedImages : BoundsEmitter {
 public:
  using BoundsEmitter::BoundsEmitter;

  std::vector<Operand> run() {
    require_image();
    if (op_ == Op::Conv) return conv();
    if (op_ == Op::ConvTranspose) return conv_transpose();
    if (op_ == Op::WindowSum) return windows(pooling(), HostTensor(TensorType{x()->dtype(), {}}));
    if (op_ == Op::WindowMax) return windows(pooling(), extreme(x()->dtype(), true));
    if (op_ == Op::AveragePool) return average_pool();
    if (op_ == Op::InstanceNormalization || op_ == Op::GroupNormalization)
      return is_batch_alone() ? with(x()->extents) : normalized();
    if (op_ == Op::BatchNormalization) return batch_normalization();
    if (op_ == Op::LRN) return with({masked_by_zero(x(), 1)}, extents_of(x()));
    if (op_ == Op::DepthToSpace || op_ == Op::DepthToSpaceCRD) return blocks(attrs<AxisAttrs>().axis, 1);
    if (op_ == Op::SpaceToDepth) return blocks(1, attrs<AxisAttrs>().axis);
    if (op_ == Op::Resize) return resize();
    // MaxPoolIndices
    if (!is_batch_alone()) unsupported("places in an image; export the model without them");
    return with(x()->extents);
  }

 private:
  void require_image() {
    static const std::set<Op> of_images = {Op::Conv,
                                           Op::ConvTranspose,
                                           Op::WindowSum,
                                           Op::WindowMax,
                                           Op::MaxPoolIndices,
                                           Op::AveragePool,
                                           Op::LRN,
                                           Op::GroupNormalization,
                                           Op::InstanceNormalization,
                                           Op::DepthToSpace,
                                           Op::DepthToSpaceCRD,
                                           Op::BatchNormalization,
                                           Op::SpaceToDepth,
                                           Op::Resize};
    if (of_images.count(op_) == 0) unsupported("korch does not know what that does to its result");
    require_channels();
  }
  // Of a convolution whose weights and data have open channels; or where channels are by themselves.
  void require_channels() {
    const bool is_conv = (op_ == Op::Conv || op_ == Op::ConvTranspose) && attrs<ConvAttrs>().group == 1;
    for (size_t i = 1; i < inputs_.size(); ++i)
      for (int64_t axis = 0; axis < inputs_[i]->rank(); ++axis) {
        const bool takes =
            op_ == Op::BatchNormalization || (is_conv && axis < 2) || (op_ == Op::ConvTranspose && axis > 1);
        if (extent_of(inputs_[i], axis) != nullptr && !takes) unsupported("its parameters");
      }
    const bool are_alone = op_ == Op::WindowSum || op_ == Op::WindowMax || op_ == Op::AveragePool ||
                           op_ == Op::LRN || op_ == Op::BatchNormalization || op_ == Op::Resize || is_conv;
    if (!are_alone && extent_of(x(), 1) != nullptr) unsupported("the axis of channels");
  }
  bool is_batch_alone() const {
    for (int64_t axis = 1; axis < x()->rank(); ++axis)
      if (extent_of(x(), axis) != nullptr) return false;
    return true;
  }
  size_t spatial() const { return x()->shape().size() - 2; }
  Operand spatial_extent(size_t i) const { return extent_of(x(), static_cast<int64_t>(i) + 2); }
  int64_t spatial_bound(size_t i) const { return x()->shape()[i + 2]; }

  template <typename Attributes>
  std::vector<Window> windows_of(const Attributes& a, const Shape& kernel) const {
    std::vector<Window> result;
    for (size_t i = 0; i < spatial(); ++i)
      result.push_back({(kernel[i] - 1) * a.dilations[i] + 1, a.strides[i], a.pads_before[i], a.pads_after[i],
                        kernel[i], a.dilations[i]});
    return result;
  }
  std::vector<Window> pooling() const { return windows_of(attrs<PoolAttrs>(), attrs<PoolAttrs>().kernel); }
  std::vector<Window> convolution() const {
    const Shape& weights = inputs_[1]->shape();
    return windows_of(attrs<ConvAttrs>(), Shape(weights.begin() + 2, weights.end()));
  }

  // Of data that say so little no window and no element is left.
  Operand no_less(const Operand& extent, int64_t needed) {
    return least(extent) >= needed ? extent : emit(Op::Max, NoAttrs{}, {extent, integer(needed)});
  }

  // How many windows there are along an axis.
  Operand count(const Window& window, size_t i) {
    const Operand extent = spatial_extent(i);
    if (extent == nullptr) return nullptr;
    const int64_t surplus = window.before + window.after - window.span;
    const int64_t upper = (spatial_bound(i) + surplus) / window.stride + 1;
    const auto windows = [&](const Operand& places) {
      return affine(places, 1, surplus + window.stride, window.stride, upper);
    };
    if (depends_on_data(extent)) return windows(no_less(extent, -surplus - window.stride));
    require_least(extent, -surplus,
                  fmt::format("axis {} of its data, where a window of {} must fit with padding {}+{},", i + 2,
                              window.span, window.before, window.after));
    return windows(extent);
  }
  std::vector<Operand> counts(const std::vector<Window>& windows) {
    std::vector<Operand> extents = {extent_of(x(), 0), extent_of(x(), 1)};
    for (size_t i = 0; i < windows.size(); ++i) extents.push_back(count(windows[i], i));
    return extents;
  }

  // Zeros stand in for channels beyond an extent, which are summed.
  std::vector<Operand> conv() {
    const std::vector<Window> windows = convolution();
    note_meeting(x(), 1, inputs_[1], 1);
    std::vector<Operand> inputs = inputs_, extents = counts(windows);
    inputs[0] = masked_by_zero(padded_with(HostTensor(TensorType{x()->dtype(), {}}), windows), 1);
    inputs[1] = masked_by_zero(inputs[1], 1);
    extents[1] = extent_of(inputs_[1], 0);
    if (inputs.size() > 2) note_meeting(inputs[1], 0, inputs[2], 0);
    return with(inputs, extents);
  }

  std::vector<Operand> batch_normalization() {
    for (size_t i = 1; i < inputs_.size(); ++i) note_meeting(x(), 1, inputs_[i], 0);
    std::vector<Operand> extents = extents_of(x());
    for (size_t i = 1; i < inputs_.size(); ++i)
      if (extents[1] == nullptr) extents[1] = extent_of(inputs_[i], 0);
    return with(extents);
  }

  // A window that ends within the data reads nothing beyond them: the last one does so without padding
  // behind.
  Operand padded_with(const HostTensor& value, const std::vector<Window>& windows) {
    Operand data = x();
    for (size_t i = 0; i < windows.size(); ++i)
      if (windows[i].after > 0) data = masked(data, static_cast<int64_t>(i) + 2, value);
    return data;
  }

  std::vector<Operand> windows(const std::vector<Window>& windows, const HostTensor& padding) {
    std::vector<Operand> inputs = inputs_;
    inputs[0] = padded_with(padding, windows);
    return with(inputs, counts(windows));
  }

  // Element i goes to [i * stride - before, i * stride - before + span).
  std::vector<Operand> conv_transpose() {
    const auto& conv = attrs<ConvAttrs>();
    std::vector<Window> windows = convolution();
    note_meeting(x(), 1, inputs_[1], 0);
    std::vector<Operand> inputs = inputs_, extents = {extent_of(x(), 0), extent_of(inputs_[1], 1)};
    inputs[0] = masked_by_zero(inputs[0], 1);
    inputs[1] = masked_by_zero(inputs[1], 0);
    for (size_t i = 0; i < windows.size(); ++i) {
      const Window& window = windows[i];
      const auto axis = static_cast<int64_t>(i) + 2;
      const Operand extent = spatial_extent(i);
      const int64_t behind = window.span + conv.output_padding[i] - window.after;
      extents.push_back(extent);
      if (const Operand taps = extent_of(inputs_[1], axis)) {
        inputs[0] = masked_by_zero(inputs[0], axis);
        inputs[1] = masked_by_zero(inputs[1], axis);
        extents.back() = reach(length(x(), axis), taps, window, conv.output_padding[i], i);
        continue;
      }
      if (extent == nullptr) continue;
      const int64_t surplus = behind - window.before - window.stride;
      const bool is_data = depends_on_data(extent);
      if (!is_data)
        require_least(extent, (window.stride - surplus) / window.stride,
                      fmt::format("axis {} of its data, of whose result something must be left,", i + 2));
      if (behind > window.stride) inputs[0] = masked_by_zero(inputs[0], static_cast<int64_t>(i) + 2);
      const Operand counted =
          is_data ? no_less(extent, (window.stride - 1 - surplus) / window.stride) : extent;
      extents[i + 2] = affine(counted, window.stride, surplus, 1, spatial_bound(i) * window.stride + surplus);
    }
    return with(inputs, extents);
  }

  // What elements of a transposed convolution reach, with as many taps as a run says.
  Operand reach(const Operand& count, const Operand& taps, const Window& window, int64_t more, size_t i) {
    const int64_t surplus = 1 - window.stride - window.dilation + more - window.before - window.after;
    const int64_t shortest = window.stride * least(count) + window.dilation * least(taps) + surplus;
    if (shortest < 1)
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "axis {} of its result can be as short as {}: give a range of extents that begins higher",
              i + 2, shortest));
    const int64_t upper = window.stride * spatial_bound(i) + window.dilation * window.taps + surplus;
    const Operand elements = affine(count, window.stride, surplus, 1, upper);
    const Operand result = emit(Op::Add, NoAttrs{}, {elements, affine(taps, window.dilation, 0, 1, upper)});
    result->upper = upper;
    return result;
  }

  // How many of a window's taps lie within the data: of each of `windows` along the axis.
  Operand taps_within(const Window& window, size_t i, int64_t windows) {
    Shape shape(x()->shape().size(), 1);
    shape[i + 2] = windows;
    // Those below an extent e: ceil((e - first) / dilation), of which some are below 0.
    std::vector<int64_t> first(static_cast<size_t>(windows)), below(first.size());
    for (size_t w = 0; w < first.size(); ++w) {
      first[w] = static_cast<int64_t>(w) * window.stride - window.before;
      below[w] =
          first[w] >= 0 ? 0 : std::min(window.taps, (window.dilation - 1 - first[w]) / window.dilation);
    }
    const Operand extent = spatial_extent(i) == nullptr ? integer(spatial_bound(i)) : spatial_extent(i);
    const Operand from = constant(HostTensor::of<int64_t>(DType::i64, shape, first));
    Operand taps = emit(Op::Sub, NoAttrs{}, {extent, from});
    taps = emit(Op::Add, NoAttrs{}, {taps, integer(window.dilation - 1)});
    if (window.dilation > 1) taps = emit(Op::Div, NoAttrs{}, {taps, integer(window.dilation)});
    taps = emit(Op::Min, NoAttrs{}, {taps, integer(window.taps)});
    taps = emit(Op::Sub, NoAttrs{}, {taps, constant(HostTensor::of<int64_t>(DType::i64, shape, below))});
    return emit(Op::Max, NoAttrs{}, {taps, integer(1)});
  }

  // Sums, divided by how many elements there are where padding does not count.
  std::vector<Operand> average_pool() {
    const auto& pool = attrs<PoolAttrs>();
    const std::vector<Window> windows = pooling();
    const HostTensor zero(TensorType{x()->dtype(), {}});
    bool reaches_beyond = false;
    for (size_t i = 0; i < windows.size(); ++i)
      reaches_beyond = reaches_beyond || (windows[i].after > 0 && spatial_extent(i) != nullptr);
    if (!reaches_beyond || pool.count_include_pad) return this->windows(windows, zero);
    const std::vector<Operand> extents = counts(windows);
    Operand sum = padded_with(zero, windows);
    const DType type = x()->dtype(), precise = type == DType::f64 ? type : DType::f32;
    if (type != precise) sum = emit(Op::Cast, CastAttrs{precise}, {sum});
    sum = emit(Op::WindowSum, pool, {sum});
    Operand divisor;
    for (size_t i = 0; i < windows.size(); ++i) {
      const Operand taps = taps_within(windows[i], i, sum->shape()[i + 2]);
      divisor = divisor == nullptr ? taps : emit(Op::Mul, NoAttrs{}, {divisor, taps});
    }
    Operand mean = emit(Op::Div, NoAttrs{}, {sum, emit(Op::Cast, CastAttrs{precise}, {divisor})});
    if (type != precise) mean = emit(Op::Cast, CastAttrs{type}, {mean});
    mean->extents = extents;
    return {mean};
  }

  // By the mean and deviation of what lies within the extents.
  std::vector<Operand> normalized() {
    const auto& norm = attrs<NormAttrs>();
    const auto both = [&](Op op, const Operand& a, const Operand& b) {
      return builder_.emit(op, NoAttrs{}, {a, b}, origin_)[0];
    };
    const DType type = x()->dtype(), precise = type == DType::f64 ? type : DType::f32;
    const auto cast = [&](const Operand& y, DType to) {
      return y->dtype() == to ? y : builder_.emit(Op::Cast, CastAttrs{to}, {y}, origin_)[0];
    };
    const auto reshaped = [&](const Operand& y, const Shape& shape) {
      return y->shape() == shape ? y : builder_.emit(Op::Reshape, ShapeAttrs{shape}, {y}, origin_)[0];
    };
    // A group per channel, or norm.groups of them.
    const Shape& shape = x()->shape();
    Shape grouped = shape, per_channel(shape.size() - 1, 1);
    per_channel[0] = shape[1];
    if (op_ == Op::GroupNormalization) {
      grouped[1] = norm.groups;
      grouped.insert(grouped.begin() + 2, shape[1] / norm.groups);
    }
    const Operand data = reshaped(cast(x(), precise), grouped);
    ReduceAttrs over{{}, true};
    for (int64_t axis = 2; axis < data->rank(); ++axis) over.axes.push_back(axis);
    const auto mean = [&](const Operand& y) { return builder_.emit(Op::ReduceMean, over, {y}, origin_)[0]; };
    const Operand distance = both(Op::Sub, data, mean(data));
    const Operand epsilon =
        constant(converted(HostTensor::of<double>(DType::f64, {}, {norm.epsilon}), precise));
    const Operand variance = both(Op::Add, mean(both(Op::Mul, distance, distance)), epsilon);
    const Operand deviation = builder_.emit(Op::Sqrt, NoAttrs{}, {variance}, origin_)[0];
    const auto parameter = [&](size_t i) { return reshaped(cast(inputs_[i], precise), per_channel); };
    Operand y = reshaped(both(Op::Div, distance, deviation), shape);
    y = both(Op::Add, both(Op::Mul, y, parameter(1)), parameter(2));
    return {cast(y, type)};
  }

  std::vector<Operand> blocks(int64_t times, int64_t by) {
    std::vector<Operand> extents = x()->extents;
    for (size_t i = 2; i < extents.size(); ++i)
      if (extents[i] != nullptr) extents[i] = affine(extents[i], times, 0, by, x()->shape()[i] * times / by);
    return with(extents);
  }

  // Whether elements of the result are made of what lies behind the last one of the axis.
  static bool reads_behind(const ResizeAttrs& to, double scale) {
    if (to.mode != "nearest") return to.mode != "linear" || scale > 1;
    if (to.nearest_mode == "floor" || to.nearest_mode == "ceil") return to.nearest_mode == "ceil";
    return scale > 1 && (to.coordinate_mode == "asymmetric" || to.coordinate_mode == "tf_half_pixel_for_nn");
  }

  // By scales: where an element comes from does not depend on the extents.
  std::vector<Operand> resize() {
    const auto& to = attrs<ResizeAttrs>();
    std::vector<Operand> extents = x()->extents;
    Operand data = x();
    for (size_t i = 0; i < extents.size(); ++i) {
      const double scale = to.scales[i];
      if (extents[i] == nullptr || (scale == 1 && to.sizes[i] == x()->shape()[i])) continue;
      if (depends_on_data(extents[i])) unsupported("the resized axis");
      if (to.coordinate_mode == "align_corners" || to.exclude_outside ||
          (to.coordinate_mode == "pytorch_half_pixel" && scale < 1))
        unsupported(fmt::format("{} with scales; give sizes instead", to.coordinate_mode));
      if (reads_behind(to, scale)) data = repeated_behind(data, static_cast<int64_t>(i));
      extents[i] = resized(extents[i], scale, to.sizes[i]);
      require_least(extents[i], 1, fmt::format("axis {} of its result", i));
    }
    return with({data}, extents);
  }

  // Rounded down in float, as the product of a float scale is meant.
  Operand resized(const Operand& extent, double scale, int64_t upper) {
    if (scale == std::floor(scale)) return affine(extent, static_cast<int64_t>(scale), 0, 1, upper);
    const HostTensor factor = converted(HostTensor::of<double>(DType::f64, {}, {scale}), DType::f32);
    Operand result = emit(Op::Cast, CastAttrs{DType::f32}, {extent});
    result = emit(Op::Mul, NoAttrs{}, {result, constant(factor)});
    result = emit(Op::Cast, CastAttrs{DType::i64}, {emit(Op::Floor, NoAttrs{}, {result})});
    result->upper = upper;
    return result;
  }

  // The last element of the axis again and again.
  Operand repeated_behind(const Operand& data, int64_t axis) {
    require_least(extent_of(x(), axis), 1, fmt::format("axis {} of its data", axis));
    const Operand last = affine(extent_of(x(), axis), 1, -1, 1, x()->shape()[axis]);
    const Operand at = emit(Op::Min, NoAttrs{}, {positions(x()->shape()[axis], 0, 1), last});
    return emit(Op::Gather, AxisAttrs{axis}, {data, at});
  }
};

}  // namespace

std::vector<Operand> emit_bounded_images(GraphBuilder& builder, Op op, const Attrs& attrs,
                                         const std::vector<Operand>& inputs, const std::string& origin) {
  return BoundedImages(builder, op, attrs, inputs, origin).run();
}

}  // namespace korch::onnx
