// What small tensors of integers hold that were made of extents.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "korch/onnx/bounded.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

constexpr size_t kMaxElements = 16;  // of a tensor whose elements are followed

constexpr double kMostExtent = 0x1p31;  // products stay inside int64
constexpr double kMostExact = 0x1p53;   // integers up to it are exact in double

// An element that the data say. A bound holds whatever they are.
Operand from_data(GraphBuilder& builder, const Operand& operand, int64_t index, const std::string& origin) {
  const Range range = builder.range(operand, index);
  const auto number = [&](double value) {
    return builder.constant(HostTensor::of<int64_t>(DType::i64, {}, {static_cast<int64_t>(value)}), {origin});
  };
  const auto emit = [&](Op op, Attrs attrs, const std::vector<Operand>& inputs) {
    return builder.emit_at_bounds(op, std::move(attrs), inputs, origin)[0];
  };
  if (range.is_one() && std::abs(range.low) <= kMostExact) return number(range.low);
  const auto [source, place] = builder.origin(operand, index);  // so that it is the same wherever it is read
  Operand element = source;
  if (source->rank() == 1) {
    if (source->type.elements() > 1) element = emit(Op::Slice, SliceAttrs{{place}, {1}, {1}}, {element});
    element = emit(Op::Reshape, ShapeAttrs{{}}, {element});
  }
  if (element->dtype() != DType::i64) element = emit(Op::Cast, CastAttrs{DType::i64}, {element});
  const bool is_extent = range.low >= 0 && range.high <= kMostExtent;
  if (is_extent)
    element = emit(Op::Min, NoAttrs{}, {emit(Op::Max, NoAttrs{}, {element, number(0)}), number(range.high)});
  if (element == source) element = std::make_shared<OperandState>(*source);
  element->from_data = depends_on_data(builder, element);
  if (is_extent) element->upper = static_cast<int64_t>(range.high);
  return element;
}

std::optional<int64_t> known(const Operand& element) {
  return element->constant ? std::optional(element_as_int(*element->constant, 0)) : std::nullopt;
}
std::optional<int64_t> upper_of(const Operand& element) {
  return element->constant ? known(element) : element->upper;
}

// None where the result may be less than 0: that is no extent, and means something else to who reads it.
std::optional<int64_t> upper_of(Op op, const Operand& a, const Operand& b) {
  constexpr int64_t kMost = int64_t{1} << 31;  // products stay inside int64
  const std::optional<int64_t> x = upper_of(a), y = upper_of(b);
  if (!x || !y || std::max(*x, *y) > kMost) return std::nullopt;
  if (op == Op::Max) return *x >= 0 || *y >= 0 ? std::optional(std::max(*x, *y)) : std::nullopt;
  if (*x < 0 || *y < 0) return std::nullopt;
  if (op == Op::Add) return *x + *y;
  if (op == Op::Mul) return *x * *y;
  if (op == Op::Div) return b->constant && *y > 0 ? std::optional(*x / *y) : std::nullopt;
  if (op == Op::Min) return std::min(*x, *y);
  return std::nullopt;
}

// Elements of a result, from those of the operands.
class Elements {
 public:
  Elements(GraphBuilder& builder, Op op, const Attrs& attrs, const std::vector<Operand>& inputs,
           const std::string& origin)
      : builder_(builder), op_(op), attrs_(attrs), inputs_(inputs), origin_(origin) {}

  std::vector<Operand> run() {
    for (const Operand& input : inputs_) {
      const auto elements = elements_of(builder_, input, origin_);
      if (!elements) return {};
      of_.push_back(*elements);
    }
    if (op_ == Op::Reshape || op_ == Op::Cast) return of_[0];
    if (op_ == Op::Gather) return gathered();
    if (op_ == Op::Slice) return sliced();
    if (op_ == Op::ScatterElements) return scattered();
    if (op_ == Op::Concat) {
      for (size_t i = 1; i < of_.size(); ++i) of_[0].insert(of_[0].end(), of_[i].begin(), of_[i].end());
      return of_[0];
    }
    if (op_ == Op::ReduceProd) return combined(Op::Mul);
    if (op_ == Op::ReduceSum) return combined(Op::Add);
    if (op_ == Op::ReduceMin) return combined(Op::Min);
    if (op_ == Op::ReduceMax) return combined(Op::Max);
    if (is_comparison() || op_ == Op::Where || op_ == Op::Add || op_ == Op::Sub || op_ == Op::Mul ||
        op_ == Op::Div || op_ == Op::Min || op_ == Op::Max)
      return elementwise();
    return {};
  }

 private:
  bool is_comparison() const {
    return op_ == Op::Equal || op_ == Op::Less || op_ == Op::LessOrEqual || op_ == Op::Greater ||
           op_ == Op::GreaterOrEqual;
  }
  // Among the first operand's elements.
  std::optional<size_t> place(const Operand& index) const {
    const auto count = static_cast<int64_t>(of_[0].size());
    const std::optional<int64_t> at = known(index);
    if (!at || *at < -count || *at >= count) return std::nullopt;
    return static_cast<size_t>(*at < 0 ? *at + count : *at);
  }

  std::vector<Operand> gathered() {
    std::vector<Operand> result;
    for (const Operand& index : of_[1]) {
      const std::optional<size_t> at = place(index);
      if (!at) return {};
      result.push_back(of_[0][*at]);
    }
    return result;
  }

  std::vector<Operand> sliced() {
    const auto& cut = std::get<SliceAttrs>(attrs_);
    std::vector<Operand> result;
    for (int64_t i = 0; i < cut.sizes[0]; ++i)
      result.push_back(of_[0][static_cast<size_t>(cut.starts[0] + i * cut.steps[0])]);
    return result;
  }

  std::vector<Operand> scattered() {
    std::vector<Operand> result = of_[0];
    for (size_t i = 0; i < of_[1].size(); ++i) {
      const std::optional<size_t> at = place(of_[1][i]);
      if (!at) return {};
      result[*at] = of_[2][i];
    }
    return result;
  }

  std::vector<Operand> combined(Op op) {
    if (of_[0].empty()) return {};
    Operand all = of_[0][0];
    for (size_t i = 1; i < of_[0].size(); ++i) all = scalar(op, all, of_[0][i]);
    return {all};
  }

  Operand number(int64_t value) {
    return builder_.constant(HostTensor::of<int64_t>(DType::i64, {}, {value}), {origin_});
  }

  Operand scalar(Op op, const Operand& a, const Operand& b) {
    if (op == Op::Sub)
      if (const auto difference = builder_.difference(a, 0, b, 0)) return number(*difference);
    const Operand result =
        builder_.simplified(builder_.emit_at_bounds(op, NoAttrs{}, {a, b}, origin_)[0], origin_);
    if (result->constant) return result;
    result->upper = upper_of(op, a, b);
    if (const Range range = builder_.range(result, 0);
        !result->upper && range.low >= 0 && range.high <= kMostExtent)
      result->upper = static_cast<int64_t>(range.high);
    result->from_data = a->from_data || b->from_data;
    return result;
  }

  // Null where it is not known.
  Operand is_equal(const Operand& a, const Operand& b) {
    if (const auto difference = builder_.difference(a, 0, b, 0)) return number(*difference == 0 ? 1 : 0);
    const Range x = builder_.range(a, 0), y = builder_.range(b, 0);
    if (x.high < y.low || x.low > y.high) return number(0);
    return x.is_one() && y.is_one() ? number(1) : nullptr;
  }

  // Null where it is not known.
  Operand compared(const Operand& a, const Operand& b) {
    if (op_ == Op::Equal) return is_equal(a, b);
    if (op_ == Op::Greater || op_ == Op::LessOrEqual) {  // as b < a, and not that
      const Operand less = is_less(b, a);
      return less == nullptr || op_ == Op::Greater ? less : number(1 - *known(less));
    }
    const Operand less = is_less(a, b);
    return less == nullptr || op_ == Op::Less ? less : number(1 - *known(less));
  }
  Operand is_less(const Operand& a, const Operand& b) {
    if (const auto difference = builder_.difference(a, 0, b, 0)) return number(*difference < 0 ? 1 : 0);
    const Range x = builder_.range(a, 0), y = builder_.range(b, 0);
    return x.high < y.low ? number(1) : x.low >= y.high ? number(0) : nullptr;
  }

  std::vector<Operand> elementwise() {
    size_t count = 1;
    for (const auto& elements : of_) count = elements.size() == 1 ? count : elements.size();
    std::vector<Operand> result;
    for (size_t i = 0; i < count; ++i) {
      const auto at = [&](size_t k) { return of_[k][of_[k].size() == 1 ? 0 : i]; };
      if (op_ == Op::Where) {
        const std::optional<int64_t> condition = known(at(0));
        result.push_back(condition ? at(*condition != 0 ? 1 : 2) : nullptr);
      } else {
        result.push_back(is_comparison() ? compared(at(0), at(1)) : scalar(op_, at(0), at(1)));
      }
      if (result.back() == nullptr) return {};
    }
    return result;
  }

  GraphBuilder& builder_;
  const Op op_;
  const Attrs& attrs_;
  const std::vector<Operand>& inputs_;
  const std::string& origin_;
  std::vector<std::vector<Operand>> of_;  // per input
};

}  // namespace

std::optional<std::vector<Operand>> elements_of(GraphBuilder& builder, const Operand& operand,
                                                const std::string& origin) {
  if (!operand->elements.empty()) return operand->elements;
  if (operand->rank() > 1 || is_float(operand->dtype()) || is_bounded(operand) ||
      operand->type.elements() > static_cast<int64_t>(kMaxElements))
    return std::nullopt;
  std::vector<Operand> result;
  for (int64_t i = 0; i < operand->type.elements(); ++i) {
    if (!operand->constant)
      result.push_back(from_data(builder, operand, i, origin));
    else
      result.push_back(
          builder.constant(HostTensor::of<int64_t>(DType::i64, {}, {element_as_int(*operand->constant, i)}),
                           operand->origins));
  }
  return result;
}

Operand at_most(GraphBuilder& builder, const Operand& operand, int64_t most, const std::string& name) {
  if (operand->constant) return operand;
  const std::string origin = fmt::format("{} within its bound of {}", name, most);
  const auto emit = [&](Op op, Attrs attrs, const std::vector<Operand>& inputs) {
    return builder.emit(op, std::move(attrs), inputs, origin)[0];
  };
  const auto number = [&](int64_t value) {
    return builder.constant(HostTensor::of<int64_t>(DType::i64, {}, {value}), {origin});
  };
  const Operand x =
      operand->dtype() == DType::i64 ? operand : emit(Op::Cast, CastAttrs{DType::i64}, {operand});
  const Operand inside = emit(Op::Min, NoAttrs{}, {emit(Op::Max, NoAttrs{}, {x, number(0)}), number(most)});
  const Operand one = builder.required(
      emit(Op::Equal, NoAttrs{}, {x, inside}),
      fmt::format("'{}' is more than the bound of {} that it was given, or negative", name, most), origin);
  const Operand result = emit(Op::Mul, NoAttrs{}, {inside, one});
  return operand->dtype() == DType::i64 ? result : emit(Op::Cast, CastAttrs{operand->dtype()}, {result});
}

void follow_elements(GraphBuilder& builder, Op op, const Attrs& attrs, const std::vector<Operand>& inputs,
                     const std::vector<Operand>& outputs, const std::string& origin) {
  const Operand& output = outputs[0];
  if (op == Op::Cast && is_float(output->dtype()) && inputs[0]->elements.size() == 1)
    output->integer = inputs[0]->elements[0];
  if (op == Op::Reshape && is_float(output->dtype())) output->integer = inputs[0]->integer;
  const bool made_of_extents = std::any_of(inputs.begin(), inputs.end(),
                                           [](const Operand& input) { return !input->elements.empty(); });
  // What wraps around in few bits is no extent any more.
  const bool keeps = output->dtype() == DType::bool_ ? op != Op::Cast : size_bytes(output->dtype()) >= 4;
  if (!made_of_extents || !keeps || output->constant || output->rank() > 1 || is_float(output->dtype()) ||
      output->type.elements() > static_cast<int64_t>(kMaxElements))
    return;
  std::vector<Operand> elements = Elements(builder, op, attrs, inputs, origin).run();
  if (static_cast<int64_t>(elements.size()) != output->type.elements()) return;
  const auto is_constant = [](const Operand& element) { return element->constant.has_value(); };
  if (!std::all_of(elements.begin(), elements.end(), is_constant)) {
    output->elements = std::move(elements);
    return;
  }
  std::vector<int64_t> values;
  for (const Operand& element : elements) values.push_back(element_as_int(*element->constant, 0));
  output->constant = converted(HostTensor::of<int64_t>(DType::i64, output->shape(), values), output->dtype());
  output->id = kNoId;  // what was emitted is read by nobody
  output->origins = {origin};
}

}  // namespace korch::onnx
