// reduce_strength and constants_second: the same result by cheaper arithmetic, or by one form of it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "korch/fission/replace.h"
#include "korch/fission/simplify.h"

namespace korch::passes {
namespace {

// The one value of a constant whose elements are all equal.
std::optional<double> uniform_value(const Graph& graph, ValueId value) {
  const HostTensor* constant = graph.constant(value);
  if (constant == nullptr || constant->elements() == 0) return std::nullopt;
  const double first = element_as_double(*constant, 0);
  for (int64_t i = 1; i < constant->elements(); ++i) {
    if (element_as_double(*constant, i) != first) return std::nullopt;
  }
  return first;
}

constexpr int kSignSearchDepth = 8;  // producers looked through; deeper is not worth the walk

// True when no element can be negative, -0 included: then x^0.5 is sqrt(x) also at -0 and -infinity.
bool never_negative(const Graph& graph, ValueId value, int depth = kSignSearchDepth) {
  static const std::set<Op> always = {Op::Exp, Op::Abs, Op::Sigmoid, Op::Softplus};
  static const std::set<Op> when_operands_are = {Op::Mul,       Op::Div,  Op::Add,     Op::ReduceSum,
                                                 Op::WindowSum, Op::Sqrt, Op::Reshape, Op::Transpose,
                                                 Op::Expand,    Op::Slice};
  const std::optional<double> uniform = uniform_value(graph, value);
  if (uniform) return *uniform > 0;
  if (depth == 0 || graph.value(value).producers.size() != 1) return false;
  const Node& node = graph.node(graph.value(value).producers[0]);
  if (always.contains(node.op)) return true;
  if (node.op == Op::Mul && node.inputs[0] == node.inputs[1]) return true;
  if (!when_operands_are.contains(node.op)) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId input) { return never_negative(graph, input, depth - 1); });
}

bool is_whole_type(const Graph& graph, const Node& node) {
  return graph.value(node.inputs[0]).type == graph.value(node.outputs[0]).type;
}

bool simplify_power(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const std::optional<double> exponent = uniform_value(graph, node.inputs[1]);
  if (!exponent || !is_whole_type(graph, node)) return false;
  const ValueId x = node.inputs[0];
  if (*exponent == 2) {
    replace_by_node(graph, id, Op::Mul, NoAttrs{}, {x, x});
    return true;
  }
  if (!is_float(graph.value(x).type.dtype)) return false;
  if (*exponent == 3) {
    const std::string name = graph.value(node.outputs[0]).name + ".square";
    const ValueId square = graph.add(Op::Mul, NoAttrs{}, {x, x}, node.origins, name);
    replace_by_node(graph, id, Op::Mul, NoAttrs{}, {square, x});
    return true;
  }
  if (*exponent == -1) {
    replace_by_node(graph, id, Op::Reciprocal, NoAttrs{}, {x});
    return true;
  }
  if (*exponent == 0.5 && never_negative(graph, x)) {
    replace_by_node(graph, id, Op::Sqrt, NoAttrs{}, {x});
    return true;
  }
  return false;
}

// Powers of two whose reciprocal is normal too: x / d and x * (1 / d) round the same exact number.
bool has_exact_reciprocal(double value, DType dtype) {
  const int largest_exponent = dtype == DType::f64 ? 1021 : dtype == DType::f16 ? 13 : 125;
  int exponent = 0;
  return std::abs(std::frexp(value, &exponent)) == 0.5 && std::abs(exponent) <= largest_exponent;
}

bool simplify_division(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const HostTensor* divisor = graph.constant(node.inputs[1]);
  const DType dtype = graph.value(node.inputs[0]).type.dtype;
  if (divisor == nullptr || !is_float(dtype)) return false;
  std::vector<double> reciprocals;
  for (int64_t i = 0; i < divisor->elements(); ++i) {
    const double value = element_as_double(*divisor, i);
    if (!has_exact_reciprocal(value, dtype)) return false;
    reciprocals.push_back(1 / value);
  }
  const HostTensor factor =
      converted(HostTensor::of<double>(DType::f64, divisor->shape(), reciprocals), dtype);
  const std::string name = graph.value(node.inputs[1]).name + ".reciprocal";
  const ValueId constant = graph.add_constant(factor, name, node.origins);
  replace_by_node(graph, id, Op::Mul, NoAttrs{}, {node.inputs[0], constant});
  return true;
}

}  // namespace

int reduce_strength(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op == Op::Pow) changes += simplify_power(graph, id);
    if (graph.node(id).op == Op::Div) changes += simplify_division(graph, id);
  }
  return changes;
}

int constants_second(Graph& graph) {
  int changes = 0;
  for (NodeId id : graph.topological_order()) {
    const Node node = graph.node(id);
    if (node.op != Op::Add && node.op != Op::Mul) continue;
    if (graph.constant(node.inputs[0]) == nullptr || graph.constant(node.inputs[1]) != nullptr) continue;
    replace_by_node(graph, id, node.op, NoAttrs{}, {node.inputs[1], node.inputs[0]});
    ++changes;
  }
  return changes;
}

}  // namespace korch::passes
