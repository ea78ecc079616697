#include "korch/onnx/bounded_along_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/ir/einsum.h"
#include "korch/onnx/bounds_emitter.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

bool is_reduction(Op op) {
  return op == Op::ReduceSum || op == Op::ReduceMax || op == Op::ReduceMin || op == Op::ReduceProd ||
         op == Op::ReduceMean || op == Op::ReduceL1 || op == Op::ReduceL2 || op == Op::ReduceSumSquare ||
         op == Op::ReduceLogSum || op == Op::ReduceLogSumExp;
}

class BoundedAlongAxes : BoundsEmitter {
 public:
  using BoundsEmitter::BoundsEmitter;

  std::vector<Operand> run() {
    if (op_ == Op::TopK) return top_k();
    if (op_ == Op::Softmax || op_ == Op::LogSoftmax || op_ == Op::Hardmax) return softmax();
    if (op_ == Op::ArgMax || op_ == Op::ArgMin) return arg_reduce();
    if (op_ == Op::LayerNormalization) return layer_normalization();
    if (op_ == Op::LpNormalization) return lp_normalization();
    if (op_ == Op::MeanVarianceNormalization) return mean_variance_normalization();
    if (op_ == Op::OneHot) return one_hot();
    if (op_ == Op::Einsum) return einsum();
    return reduce();
  }

 private:
  // Of what lies beyond the extent nothing is taken while there is something else.
  std::vector<Operand> top_k() {
    const auto& top = attrs<TopKAttrs>();
    std::vector<Operand> extents = x()->extents;
    extents[static_cast<size_t>(top.axis)] = nullptr;
    return with({masked(x(), top.axis, extreme(x()->dtype(), top.largest))}, extents);
  }

  std::vector<Operand> softmax() {
    return with({masked(x(), attrs<AxisAttrs>().axis, extreme(x()->dtype(), true))}, x()->extents);
  }

  std::vector<Operand> arg_reduce() {
    const auto& arg = attrs<ArgReduceAttrs>();
    const std::vector<Operand> result = with(
        {masked(x(), arg.axis, extreme(x()->dtype(), op_ == Op::ArgMax))}, without({arg.axis}, arg.keepdims));
    const Operand extent = extent_of(x(), arg.axis);
    if (!arg.select_last || extent == nullptr) return result;
    // The last of equals lies beyond the extent where all within are that extreme.
    const Operand last = emit(Op::Sub, NoAttrs{}, {extent, integer(1)});
    const Operand inside = emit(Op::Min, NoAttrs{}, {result[0], last});
    inside->extents = result[0]->extents;
    return {inside};
  }

  std::vector<Operand> without(const std::vector<int64_t>& axes, bool keepdims) const {
    std::vector<Operand> extents;
    for (int64_t axis = 0; axis < x()->rank(); ++axis) {
      const bool reduced = std::count(axes.begin(), axes.end(), axis) != 0;
      if (!reduced || keepdims) extents.push_back(reduced ? nullptr : extent_of(x(), axis));
    }
    return extents;
  }

  std::vector<Operand> reduce() {
    const auto& over = attrs<ReduceAttrs>();
    const DType type = x()->dtype();
    HostTensor neutral(TensorType{type, {}});
    if (op_ == Op::ReduceMax || op_ == Op::ReduceLogSumExp) neutral = extreme(type, true);
    if (op_ == Op::ReduceMin) neutral = extreme(type, false);
    if (op_ == Op::ReduceProd) neutral = converted(HostTensor::of<double>(DType::f64, {}, {1}), type);
    Operand data = x(), count = integer(1);
    bool counted = false;
    for (int64_t axis : over.axes) {
      const Operand extent = extent_of(x(), axis);
      counted = counted || extent != nullptr;
      count = emit(Op::Mul, NoAttrs{}, {count, extent == nullptr ? integer(x()->shape()[axis]) : extent});
      data = masked(data, axis, neutral);
    }
    const std::vector<Operand> extents = without(over.axes, over.keepdims);
    if (!counted || op_ != Op::ReduceMean) return with({data}, extents);
    // Sums of small floats are float32, as means of known extents are.
    const DType wide = is_small_float(type) ? DType::f32 : type;
    const auto as_type = [&](const Operand& y, DType to) {
      return y->dtype() == to ? y : emit(Op::Cast, CastAttrs{to}, {y});
    };
    const Operand sum = emit(Op::ReduceSum, over, {as_type(data, wide)});
    const Operand mean =
        as_type(emit(Op::Div, NoAttrs{}, {sum, emit(Op::Cast, CastAttrs{wide}, {count})}), type);
    mean->extents = extents;
    return {mean};
  }

  // Of elements with their extents.
  Operand both(Op op, const Operand& a, const Operand& b) {
    return builder_.emit(op, NoAttrs{}, {a, b}, origin_)[0];
  }
  Operand one(Op op, const Operand& a) { return builder_.emit(op, NoAttrs{}, {a}, origin_)[0]; }
  Operand as(const Operand& y, DType to) {
    return y->dtype() == to ? y : builder_.emit(Op::Cast, CastAttrs{to}, {y}, origin_)[0];
  }
  Operand over(Op op, const Operand& y, const std::vector<int64_t>& axes) {
    return builder_.emit(op, ReduceAttrs{axes, true}, {y}, origin_)[0];
  }
  Operand number(DType type, double value) {
    return constant(converted(HostTensor::of<double>(DType::f64, {}, {value}), type));
  }
  DType precise() const { return x()->dtype() == DType::f64 ? DType::f64 : DType::f32; }

  std::vector<Operand> layer_normalization() {
    const auto& norm = attrs<NormAttrs>();
    bool is_open = false;  // along a normalized axis
    for (size_t i = 0; i < inputs_.size(); ++i)
      for (int64_t axis = 0; axis < inputs_[i]->rank(); ++axis)
        is_open = is_open || (extent_of(inputs_[i], axis) != nullptr && (i > 0 || axis >= norm.axis));
    if (!is_open) return with(x()->extents);
    std::vector<int64_t> axes;
    for (int64_t axis = norm.axis; axis < x()->rank(); ++axis) axes.push_back(axis);
    const Operand data = as(x(), precise());
    const Operand distance = both(Op::Sub, data, over(Op::ReduceMean, data, axes));
    const Operand variance = over(Op::ReduceMean, both(Op::Mul, distance, distance), axes);
    const Operand deviation = one(Op::Sqrt, both(Op::Add, variance, number(precise(), norm.epsilon)));
    Operand y = both(Op::Mul, both(Op::Div, distance, deviation), as(inputs_[1], precise()));
    if (inputs_.size() > 2) y = both(Op::Add, y, as(inputs_[2], precise()));
    return {as(y, x()->dtype())};
  }

  // A norm of 0 means elements of 0.
  std::vector<Operand> lp_normalization() {
    const auto& norm = attrs<NormAttrs>();
    if (extent_of(x(), norm.axis) == nullptr) return with(x()->extents);
    const Operand data = as(x(), precise());
    const Operand length = over(norm.groups == 1 ? Op::ReduceL1 : Op::ReduceL2, data, {norm.axis});
    const Operand is_zero = both(Op::Equal, length, number(precise(), 0));
    const Operand divisor =
        builder_.emit(Op::Where, NoAttrs{}, {is_zero, number(precise(), 1), length}, origin_)[0];
    return {as(both(Op::Div, data, divisor), x()->dtype())};
  }

  std::vector<Operand> mean_variance_normalization() {
    constexpr double kDeviationEpsilon = 1e-9;  // ONNX's function body adds it to the deviation
    const std::vector<int64_t>& axes = attrs<ReduceAttrs>().axes;
    if (std::none_of(axes.begin(), axes.end(), [&](int64_t axis) { return extent_of(x(), axis) != nullptr; }))
      return with(x()->extents);
    const Operand data = as(x(), precise());
    const Operand distance = both(Op::Sub, data, over(Op::ReduceMean, data, axes));
    const Operand deviation = one(Op::Sqrt, over(Op::ReduceMean, both(Op::Mul, distance, distance), axes));
    return {as(both(Op::Div, distance, both(Op::Add, deviation, number(precise(), kDeviationEpsilon))),
               x()->dtype())};
  }

  std::vector<Operand> one_hot() {
    const auto& hot = attrs<OneHotAttrs>();
    if (is_bounded(inputs_[1])) unsupported("its values");
    std::vector<Operand> extents = x()->extents;
    extents.insert(extents.begin() + hot.axis, nullptr);
    return with(extents);
  }

  // Zeros stand in for what lies beyond labels that are summed.
  std::vector<Operand> einsum() {
    std::vector<int64_t> ranks;
    for (const Operand& input : inputs_) ranks.push_back(input->rank());
    const EinsumLabels labels = einsum_labels(attrs<EinsumAttrs>().equation, ranks);
    std::vector<Operand> inputs = inputs_;
    std::map<char, std::pair<Operand, int64_t>> seen;  // of a label with an extent: where
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t axis = 0; axis < labels.operands[i].size(); ++axis) {
        const char label = labels.operands[i][axis];
        const auto at = static_cast<int64_t>(axis);
        const Operand extent = extent_of(inputs_[i], at);
        if (extent == nullptr && inputs_[i]->shape()[axis] == 1) continue;
        const auto [place, is_new] = seen.emplace(label, std::pair{inputs_[i], at});
        if (!is_new) note_meeting(place->second.first, place->second.second, inputs_[i], at);
        if (!is_new && extent != nullptr) place->second = {inputs_[i], at};
        if (labels.result.find(label) == std::string::npos) inputs[i] = masked_by_zero(inputs[i], at);
      }
    std::vector<Operand> extents;
    for (char label : labels.result) {
      const auto found = seen.find(label);
      extents.push_back(found == seen.end() ? nullptr : extent_of(found->second.first, found->second.second));
    }
    return with(inputs, extents);
  }
};

}  // namespace

bool is_along_axes(Op op) {
  return is_reduction(op) || op == Op::TopK || op == Op::Softmax || op == Op::LogSoftmax ||
         op == Op::Hardmax || op == Op::ArgMax || op == Op::ArgMin || op == Op::LayerNormalization ||
         op == Op::LpNormalization || op == Op::MeanVarianceNormalization || op == Op::OneHot ||
         op == Op::Einsum;
}

std::vector<Operand> emit_bounded_along_axes(GraphBuilder& builder, Op op, const Attrs& attrs,
                                             const std::vector<Operand>& inputs, const std::string& origin) {
  return BoundedAlongAxes(builder, op, attrs, inputs, origin).run();
}

}  // namespace korch::onnx
