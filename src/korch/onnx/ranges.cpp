#include "korch/onnx/ranges.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "korch/ir/index_map.h"

namespace korch::onnx {
namespace {

constexpr int kDeepest = 200;                            // nodes above an element that are looked at
constexpr int64_t kMostSearched = int64_t{1} << 16;      // of a constant that is searched
constexpr int64_t kMostCompared = 16;                    // of what one is the greatest of
constexpr double kMostExactDouble = 9007199254740992.0;  // 2^53: integers up to it are exact in double

// Of an operand that is broadcast to the result's shape.
int64_t broadcast_index(int64_t index, const Shape& result, const Shape& operand) {
  return index == kAny || result == operand ? index : element_read(broadcast_map(operand, result), index);
}

// Where an element of a node's result comes from, when the node only moves elements.
std::optional<Element> moved(const Graph& graph, const Node& node, int64_t index) {
  const Element any{node.inputs.empty() ? kNoId : node.inputs[0], kAny};
  if (node.op == Op::Cast) {
    const DType from = graph.value(any.value).type.dtype, to = graph.value(node.outputs[0]).type.dtype;
    const bool keeps = is_integer(from) && is_integer(to) && size_bytes(to) >= size_bytes(from);
    return keeps ? std::optional(Element{any.value, index}) : std::nullopt;
  }
  if (node.op == Op::GatherND) return any;
  if (info(node.op).category != Category::layout || node.op == Op::Pad) return std::nullopt;
  if (index == kAny) return node.op == Op::Concat ? std::nullopt : std::optional(any);
  const IndexMaps maps = index_maps(graph, node);
  int64_t looked_up = 0;
  if (looks_up(node.op)) {
    const HostTensor* indices = graph.constant(node.inputs[1]);
    if (indices == nullptr) return any;
    const int64_t extent = maps.operands[0].operand[std::get<AxisAttrs>(node.attrs).axis];
    looked_up = element_as_int(*indices, element_read(maps.operands[1], index));
    if (looked_up < 0) looked_up += extent;
    if (looked_up < 0 || looked_up >= extent) return any;
  }
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (const int64_t at = element_read(maps.operands[i], index, {}, looked_up); at >= 0)
      return Element{node.inputs[i], at};
  return std::nullopt;
}

Range joined(Range a, Range b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Of the greater, or the lesser, of two numbers.
Range greater(Range a, Range b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
Range lesser(Range a, Range b) {
  return {std::min(a.low, b.low), std::min(a.high, b.high)};
}

// As the type rounds what lies at the ends: rounding keeps the order.
Range rounded(Range range, DType type) {
  if (std::isnan(range.low) || std::isnan(range.high)) return {};
  if (type == DType::f64) return range;
  if (type == DType::f32)
    return {static_cast<double>(static_cast<float>(range.low)),
            static_cast<double>(static_cast<float>(range.high))};
  if (is_float(type)) {  // bfloat16 rounds by 2^-9
    const auto wider = [](double x, double sign) { return x + sign * std::fabs(x) * 0x1p-8; };
    return {wider(range.low, -1), wider(range.high, 1)};
  }
  // Integers wrap around.
  const double most = type == DType::i64 ? kMostExactDouble : static_cast<double>(int64_t{1} << 31) - 1;
  if (type != DType::i64 && type != DType::i32) return {};
  return range.low < -most || range.high > most ? Range{} : range;
}

// Over the corners of what the operands can be. 0 times infinity stands for a number times 0.
template <typename Function>
Range over_corners(Range a, Range b, Function function) {
  Range result{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      const double corner = function(x, y), there = std::isnan(corner) ? 0 : corner;
      result = joined(result, {there, there});
    }
  return result;
}

Range product(Range a, Range b) {
  return over_corners(a, b, std::multiplies<>());
}

Range quotient(Range a, Range b, bool whole) {
  if (b.low <= 0 && b.high >= 0) return {};
  const Range result = over_corners(a, b, std::divides<>());
  return whole ? Range{std::trunc(result.low), std::trunc(result.high)} : result;
}

Range converted_to(Range range, DType from, DType to) {
  if (is_float(to)) return rounded(range, to);
  if (to == DType::bool_) return {0, 1};
  if (is_float(from)) range = {std::trunc(range.low), std::trunc(range.high)};
  return rounded(range, to);
}

Range of_constant(const HostTensor& tensor, int64_t index) {
  if (index != kAny) {
    const double x = element_as_double(tensor, index);
    return std::isnan(x) ? Range{} : Range{x, x};
  }
  if (tensor.elements() == 0 || tensor.elements() > kMostSearched) return {};
  Range result{element_as_double(tensor, 0), element_as_double(tensor, 0)};
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = element_as_double(tensor, i);
    if (std::isnan(x)) return {};
    result = joined(result, {x, x});
  }
  return result;
}

Range of_type(DType type) {
  if (type == DType::bool_) return {0, 1};
  if (type == DType::u8) return {0, 255};
  if (type == DType::i8) return {-128, 127};
  return {};
}

}  // namespace

Range Ranges::of(Element element, int depth) {
  if (element.index == kAny && graph_.value(element.value).type.elements() == 1) element.index = 0;
  if (const auto found = known_.find(element); found != known_.end()) return found->second;
  const Value& value = graph_.value(element.value);
  Range range = of_type(value.type.dtype);
  const auto& inputs = graph_.inputs();
  const std::vector<OpenDimension>& open = graph_.open_dimensions();
  for (size_t d = 0; d < open.size(); ++d)
    if (inputs[inputs.size() - open.size() + d] == element.value)
      range = {static_cast<double>(open[d].least), static_cast<double>(open[d].most)};
  if (!value.producers.empty() && depth < kDeepest && value.type.elements() > 0) {
    const Range result = computed(graph_.node(value.producers[0]), element, depth + 1);
    range = {std::max(range.low, result.low), std::min(range.high, result.high)};
  }
  return known_[element] = range;
}

Range Ranges::computed(const Node& node, Element element, int depth) {
  const Value& value = graph_.value(element.value);
  const auto input = [&](size_t i) { return of({node.inputs[i], kAny}, depth); };
  const auto extent = [&](size_t i, int64_t axis) {
    return static_cast<double>(graph_.value(node.inputs[i]).type.shape[static_cast<size_t>(axis)]);
  };
  if (const HostTensor* constant = graph_.constant(element.value))
    return of_constant(*constant, element.index);
  if (const auto from = moved(graph_, node, element.index)) return of(*from, depth);
  if (info(node.op).category == Category::elementwise) return elementwise(node, element, depth);
  if (node.op == Op::Concat || node.op == Op::VariadicMax || node.op == Op::VariadicMin) {
    Range all = input(0);
    for (size_t i = 1; i < node.inputs.size(); ++i)
      all = node.op == Op::Concat        ? joined(all, input(i))
            : node.op == Op::VariadicMax ? greater(all, input(i))
                                         : lesser(all, input(i));
    return all;
  }
  if (node.op == Op::Pad) {
    const double fill = std::get<PadAttrs>(node.attrs).value;
    return joined(input(0), {fill, fill});
  }
  if (node.op == Op::ScatterElements || node.op == Op::ScatterND) return joined(input(0), input(2));
  if (node.op == Op::Append) return joined(joined(input(0), input(1)), {0, 0});
  if (node.op == Op::ReduceMax || node.op == Op::ReduceMin) {
    const int64_t elements = graph_.value(node.inputs[0]).type.elements();
    if (value.type.elements() != 1 || elements > kMostCompared) return input(0);
    Range all = of({node.inputs[0], 0}, depth);
    for (int64_t i = 1; i < elements; ++i) {
      const Range each = of({node.inputs[0], i}, depth);
      all = node.op == Op::ReduceMax ? greater(all, each) : lesser(all, each);
    }
    return all;
  }
  if (node.op == Op::ReduceMean || node.op == Op::WindowMax) return input(0);
  if (node.op == Op::ReduceSum)
    return rounded(
        product(input(0), Range{0, static_cast<double>(graph_.value(node.inputs[0]).type.elements() /
                                                       std::max<int64_t>(value.type.elements(), 1))}),
        value.type.dtype);
  if (node.op == Op::ArgMax || node.op == Op::ArgMin)
    return {0, extent(0, std::get<ArgReduceAttrs>(node.attrs).axis) - 1};
  if (node.op == Op::TopK)
    return element.value == node.outputs[0]
               ? input(0)
               : Range{0, std::max(extent(0, std::get<TopKAttrs>(node.attrs).axis) - 1, 0.0)};
  if (node.op == Op::Softmax) return {0, 1};
  // the number of the step
  if (node.op == Op::LoopBegin)
    return element.value == node.outputs[0] ? Range{0, std::max(input(0).high - 1, 0.0)} : Range{};
  if (node.op == Op::LoopEnd)
    return element.value == node.outputs[0] ? Range{0, std::max(input(1).high, 0.0)} : Range{};
  return {};
}

Range Ranges::elementwise(const Node& node, Element element, int depth) {
  const TensorType& type = graph_.value(element.value).type;
  const auto input = [&](size_t i) {
    const Shape& shape = graph_.value(node.inputs[i]).type.shape;
    return of({node.inputs[i], broadcast_index(element.index, type.shape, shape)}, depth);
  };
  const auto within = [&](Range range) { return rounded(range, type.dtype); };
  if (node.op == Op::Cast) return converted_to(input(0), graph_.value(node.inputs[0]).type.dtype, type.dtype);
  if (node.op == Op::Neg) return within({-input(0).high, -input(0).low});
  if (node.op == Op::Abs) {
    const Range x = input(0);
    const double far = std::max(std::fabs(x.low), std::fabs(x.high));
    return within({x.low > 0 ? x.low : x.high < 0 ? -x.high : 0, far});
  }
  if (node.op == Op::Relu) return {std::max(input(0).low, 0.0), std::max(input(0).high, 0.0)};
  if (node.op == Op::Floor) return {std::floor(input(0).low), std::floor(input(0).high)};
  if (node.op == Op::Ceil) return {std::ceil(input(0).low), std::ceil(input(0).high)};
  if (node.op == Op::Round) return {std::nearbyint(input(0).low), std::nearbyint(input(0).high)};
  if (node.op == Op::Sqrt)
    return within({std::sqrt(std::max(input(0).low, 0.0)), std::sqrt(std::max(input(0).high, 0.0))});
  if (node.op == Op::Sigmoid || node.op == Op::HardSigmoid) return {0, 1};
  if (node.op == Op::Tanh || node.op == Op::Sin || node.op == Op::Cos || node.op == Op::Erf) return {-1, 1};
  if (node.op == Op::Add) return within({input(0).low + input(1).low, input(0).high + input(1).high});
  if (node.op == Op::Sub) return within({input(0).low - input(1).high, input(0).high - input(1).low});
  if (node.op == Op::Mul) return within(product(input(0), input(1)));
  if (node.op == Op::Div) return within(quotient(input(0), input(1), is_integer(type.dtype)));
  if (node.op == Op::Reciprocal) return within(quotient({1, 1}, input(0), false));
  // of the divisor's sign
  if (node.op == Op::Mod) return input(1).low > 0 ? Range{0, input(1).high} : Range{};
  if (node.op == Op::Max) return greater(input(0), input(1));
  if (node.op == Op::Min) return lesser(input(0), input(1));
  if (node.op == Op::Where) return joined(input(1), input(2));
  return {};
}

std::pair<Element, int64_t> Ranges::origin(Element element) {
  int64_t offset = 0;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const Value& value = graph_.value(element.value);
    if (value.producers.empty() || element.index == kAny) break;
    const Node& node = graph_.node(value.producers[0]);
    if (const auto from = moved(graph_, node, element.index)) {
      if (from->index == kAny) break;
      element = *from;
      continue;
    }
    const bool is_sum = node.op == Op::Add || node.op == Op::Sub;
    if ((!is_sum && node.op != Op::Max && node.op != Op::Min) || !is_integer(value.type.dtype)) break;
    const auto operand = [&](size_t i) {
      const Shape& shape = graph_.value(node.inputs[i]).type.shape;
      return Element{node.inputs[i], broadcast_index(element.index, value.type.shape, shape)};
    };
    const Element a = operand(0), b = operand(1);
    if (!is_sum) {
      const Range x = of(a), y = of(b);
      const bool is_max = node.op == Op::Max;
      if (is_max ? x.low < y.high : x.high > y.low) break;
      element = a;
      continue;
    }
    const HostTensor *first = graph_.constant(a.value), *second = graph_.constant(b.value);
    const bool by_second = second != nullptr;
    if (!by_second && (first == nullptr || node.op == Op::Sub)) break;
    const int64_t step = element_as_int(by_second ? *second : *first, by_second ? b.index : a.index);
    constexpr int64_t kMost = int64_t{1} << 40;
    if (step < -kMost || step > kMost) break;
    offset += node.op == Op::Sub ? -step : step;
    element = by_second ? a : b;
  }
  return {element, offset};
}

std::optional<Element> Ranges::whole(Element element, Element other) {
  const auto [at, offset] = origin(element);
  const Value& value = graph_.value(at.value);
  if (offset != 0 || value.producers.empty() || at.index == kAny) return std::nullopt;
  const Node& node = graph_.node(value.producers[0]);
  if (node.op != Op::Sub || !is_integer(value.type.dtype)) return std::nullopt;
  const auto operand = [&](size_t i) {
    const Shape& shape = graph_.value(node.inputs[i]).type.shape;
    return Element{node.inputs[i], broadcast_index(at.index, value.type.shape, shape)};
  };
  return origin(operand(1)) == origin(other) ? std::optional(operand(0)) : std::nullopt;
}

double Ranges::growth(Element element, Element than, int& nodes_left) {
  if (element == than) return 0;
  const double itself = std::max(of(element).high, 0.0);  // than what is not negative
  const Value& value = graph_.value(element.value);
  if (value.producers.empty() || --nodes_left < 0) return itself;
  const Node& node = graph_.node(value.producers[0]);
  if (const auto source = moved(graph_, node, element.index))
    return std::min(itself, growth(*source, than, nodes_left));
  const auto operand = [&](size_t i) {
    const Shape& shape = graph_.value(node.inputs[i]).type.shape;
    return Element{node.inputs[i], broadcast_index(element.index, value.type.shape, shape)};
  };
  const auto from = [&](size_t i) { return growth(operand(i), than, nodes_left); };
  if (node.op == Op::Add)
    return std::min({itself, from(0) + of(operand(1)).high, from(1) + of(operand(0)).high});
  if (node.op == Op::Sub) return std::min(itself, from(0) - of(operand(1)).low);
  if (node.op == Op::Min) return std::min({itself, from(0), from(1)});
  if (node.op == Op::Max) return std::min(itself, std::max(from(0), from(1)));
  if (node.op == Op::Where) return std::min(itself, std::max(from(1), from(2)));
  return itself;
}

}  // namespace korch::onnx
