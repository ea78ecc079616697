#include "oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/interp/interpreter.h"

namespace korch::fuzz {
namespace {

// Disturbance of an element: relative to itself, to the root of the mean square of its tensor (Winograd's
// transforms are the noisiest: some 1e-5 of it), and where numbers are small, the distance between them, or
// to 0.
struct Amplitude {
  double relative, absolute, smallest;
};
Amplitude amplitude(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {1e-9, 1e-9, 1e-35};
    case DType::f16:
      return {2e-4, 1e-4, 0x1p-24};
    case DType::bf16:
      return {1.6e-3, 8e-4, 1e-35};
    default:
      return {4e-6, 2e-6, 1e-35};
  }
}

constexpr double kFactor = 25;      // of what an element moves: what it may be off
constexpr int kRuns = 4;            // before a first look
constexpr int kMoreRuns = 120;      // before a difference is believed
constexpr double kMoreScale = 8;    // how much stronger these disturb, to see what flips
constexpr double kTooLarge = 1e15;  // squares of squares leave float32's range

double mean_square_root(const HostTensor& tensor) {
  double squares = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = element_as_double(tensor, i);
    if (!std::isfinite(x)) continue;
    squares += x * x;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

bool rounds(const Node& node, DType result) {
  if (!is_float(result)) return false;
  switch (node.op) {
    case Op::Neg:
    case Op::Abs:
    case Op::Relu:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Sign:
    case Op::Max:
    case Op::Min:
    case Op::Where:
    case Op::ReduceMax:
    case Op::ReduceMin:
    case Op::WindowMax:
    case Op::TopK:
    case Op::VariadicMax:
    case Op::VariadicMin:
    case Op::GatherElements:
    case Op::GatherND:
    case Op::ScatterElements:
    case Op::ScatterND:
    case Op::Append:
    case Op::Tile:
    case Op::DepthToSpace:
    case Op::DepthToSpaceCRD:
    case Op::SpaceToDepth:
    case Op::Trilu:
    case Op::Hardmax:
    case Op::OneHot:
    case Op::Constant:
      return false;
    case Op::Pad:
      return std::get<PadAttrs>(node.attrs).mode == PadMode::constant;  // its value may need rounding
    default:
      return info(node.op).category != Category::layout;
  }
}

Oracle::Oracle(const Graph& graph, const std::vector<HostTensor>& inputs, DType products)
    : graph_(graph),
      loops_(graph),
      products_(products),
      is_rounded_(graph.value_count(), false),
      exact_(graph.value_count()) {
  for (const HostTensor& input : inputs)
    inputs_.push_back(is_float(input.dtype()) ? converted(input, DType::f64) : input);
  std::vector<bool> known(graph.value_count(), false);
  for (ValueId input : graph.inputs()) known[input] = true;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (!std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return known[v]; })) continue;
    order_.push_back(id);
    for (ValueId output : node.outputs) {
      known[output] = known[output] || is_first(id);
      is_rounded_[output] =
          is_rounded_[output] || rounds(node, graph.value(output).type.dtype) ||
          std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return is_rounded_[v]; });
    }
  }
  order_loops();
  exact_ = evaluate(nullptr);
}

// A loop's nodes between its ends. What a step makes is rounded, and so is what the next one reads.
void Oracle::order_loops() {
  if (loops_.empty()) return;
  std::vector<LoopItem> items;
  for (NodeId id : order_) items.push_back(loops_.item(id));
  std::vector<NodeId> order;
  for (size_t item : order_by_loops(items, loops_)) order.push_back(order_[item]);
  order_ = order;
  for (NodeId id : order_)
    for (ValueId value : graph_.node(id).outputs)
      if (loops_.of_value(value) >= 0 || is_loop_end(graph_.node(id).op))
        is_rounded_[value] = is_float(graph_.value(value).type.dtype);
}

bool Oracle::is_first(NodeId id) const {
  return graph_.value(graph_.node(id).outputs[0]).producers[0] == id;
}

void Oracle::disturb(HostTensor& tensor, DType dtype, double scale, Random& random) const {
  HostTensor result(tensor.type());
  const Amplitude a = amplitude(dtype);
  const double absolute = a.absolute * mean_square_root(tensor);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double x = tensor.data<double>()[i];
    // Not by the same amount: of numbers that rounding makes equal, each is to be the largest once.
    const double sign = (random.one_in(2) ? scale : -scale) * (0.25 + 0.75 * random.uniform());
    const double by = a.relative * std::fabs(x) + absolute + (x == 0 ? 0 : a.smallest);
    const bool vanishes = std::fabs(x) < a.smallest && random.one_in(2);
    result.mutable_data<double>()[i] = vanishes ? 0 : std::isfinite(x) ? x + sign * by : x;
  }
  tensor = result;
}

// The results of a node: disturbed, each operand as either of two computations of it left it.
std::vector<HostTensor> Oracle::results_of(const Node& node, const Values& values, const Values& again,
                                           const Disturbance* disturbance, Random& random) const {
  std::vector<HostTensor> inputs;
  for (ValueId value : node.inputs) {
    const bool is_again = disturbance != nullptr && again[value].raw() != nullptr && random.one_in(2);
    inputs.push_back(is_again ? again[value] : values[value]);
    const DType dtype = graph_.value(value).type.dtype;
    // Sums round on their way, whatever they read.
    const bool sums =
        info(node.op).category == Category::reduce && rounds(node, graph_.value(node.outputs[0]).type.dtype);
    const bool is_narrowed =
        dtype == DType::f32 && products_ != dtype &&
        (info(node.op).category == Category::linear || info(node.op).category == Category::composite);
    if (disturbance != nullptr && (is_rounded_[value] || sums || is_narrowed) && is_float(dtype))
      disturb(inputs.back(), is_narrowed ? products_ : dtype, disturbance->scale, random);
  }
  std::vector<TensorType> types;
  for (ValueId output : node.outputs) types.push_back(graph_.value(output).type);
  std::vector<HostTensor> results = evaluate_node(node, inputs, types, Precision::float64);
  if (disturbance != nullptr && node.op == Op::Equal) join_where_crossing(node, inputs, results[0]);
  return results;
}

Oracle::Values Oracle::evaluate(const Disturbance* disturbance) const {
  Values values(graph_.value_count()), again(graph_.value_count());
  for (size_t i = 0; i < inputs_.size(); ++i) values[graph_.inputs()[i]] = inputs_[i];
  Random random(disturbance == nullptr ? 0 : disturbance->seed);
  std::vector<size_t> begins;  // of the loops that are open
  for (size_t at = 0; at < order_.size(); ++at) {
    const NodeId id = order_[at];
    const Node& node = graph_.node(id);
    if (disturbance != nullptr && !is_loop_end(node.op) && (is_first(id) || random.one_in(2))) {
      const std::vector<HostTensor> results = results_of(node, values, again, disturbance, random);
      for (size_t i = 0; i < results.size(); ++i) again[node.outputs[i]] = results[i];
    }
    if (!is_first(id) && (disturbance == nullptr || random.one_in(2))) continue;
    const std::vector<HostTensor> results = results_of(node, values, again, disturbance, random);
    for (size_t i = 0; i < results.size(); ++i) values[node.outputs[i]] = results[i];
    if (!is_loop_end(node.op)) continue;
    const bool goes_on = element_as_int(results[1], 0) != 0;
    if (node.op == Op::LoopBegin && goes_on) {
      begins.push_back(at);
    } else if (node.op == Op::LoopEnd && !goes_on) {
      begins.pop_back();
    } else if (node.op == Op::LoopEnd) {  // the next step
      at = begins.back();
      for (size_t i = 0; i < results.size(); ++i) values[graph_.node(order_[at]).outputs[i]] = results[i];
    } else {  // none at all
      const NodeId end = loops_.loops()[loops_.of_value(node.outputs[0])].end;
      while (order_[at] != end) ++at;
      for (size_t i = 0; i < results.size(); ++i) values[graph_.node(end).outputs[i]] = results[i];
    }
  }
  return values;
}

// Numbers that disturbances make unequal are not made equal by any, but roundings may meet where two numbers
// change places.
void Oracle::join_where_crossing(const Node& equal, const std::vector<HostTensor>& disturbed,
                                 HostTensor& result) const {
  Node less = equal;
  less.op = Op::Less;
  std::vector<HostTensor> calm;
  for (ValueId value : equal.inputs) calm.push_back(exact_[value]);
  const HostTensor before = evaluate_node(less, calm, {result.type()}, Precision::float64)[0],
                   after = evaluate_node(less, disturbed, {result.type()}, Precision::float64)[0];
  for (int64_t i = 0; i < result.elements(); ++i)
    if (before.data<bool>()[i] != after.data<bool>()[i]) result.mutable_data<bool>()[i] = true;
}

void Oracle::add_runs(int count, double scale) {
  for (int i = 0; i < count; ++i) {
    const Disturbance disturbance{scale, runs_.size() + 1};
    runs_.push_back({scale, evaluate(&disturbance)});
  }
}

bool Oracle::is_moderate(bool may_be_special) const {
  for (ValueId value = 0; value < graph_.value_count(); ++value) {
    const HostTensor& tensor = exact_[value];
    if (tensor.raw() == nullptr || !is_float(graph_.value(value).type.dtype)) continue;
    const double limit = graph_.value(value).type.dtype == DType::f16 ? 3e4 : kTooLarge;
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      const double x = element_as_double(tensor, i);
      if (!(std::fabs(x) < limit) && !(may_be_special && !std::isfinite(x))) return false;
    }
  }
  return true;
}

// From the runs so far.
std::vector<double> Oracle::tolerance_now(ValueId value) const {
  const HostTensor& exact = exact_[value];
  const DType dtype = graph_.value(value).type.dtype;
  const int64_t count = exact.elements();
  const bool is_rounded = is_rounded_[value] && is_float(dtype);
  const Amplitude a = amplitude(dtype);
  const double absolute = a.absolute * mean_square_root(exact);
  std::vector<double> moved(static_cast<size_t>(count), 0);
  for (const Run& run : runs_)
    for (int64_t i = 0; i < count; ++i) {
      const double x = element_as_double(exact, i), y = element_as_double(run.values[value], i);
      if (same(x, y)) continue;
      const double by = is_float(dtype) ? std::fabs(x - y) / run.scale : INFINITY;
      moved[i] = std::max(moved[i], std::isnan(by) ? INFINITY : by);
    }
  double usual = 0;
  if (is_rounded && count > 0) {
    std::vector<double> sorted = moved;
    std::nth_element(sorted.begin(), sorted.begin() + count / 2, sorted.end());
    usual = std::isfinite(sorted[count / 2]) ? sorted[count / 2] : 0;
  }
  for (int64_t i = 0; i < count; ++i) {
    moved[i] = kFactor * std::max(moved[i], usual);
    if (is_rounded)
      moved[i] += kFactor * (a.relative * std::fabs(element_as_double(exact, i)) + absolute) + a.smallest;
  }
  return moved;
}

std::optional<std::string> Oracle::compare(ValueId value, const HostTensor& got) const {
  const HostTensor& exact = exact_[value];
  const std::vector<double> tolerance = tolerance_now(value);
  int64_t wrong = 0, worst_at = -1;
  double worst = 0;
  for (int64_t i = 0; i < exact.elements(); ++i) {
    const double x = element_as_double(exact, i), y = element_as_double(got, i);
    const double off = std::fabs(x - y);
    if (same(x, y) || off <= tolerance[i] || std::isinf(tolerance[i])) continue;
    ++wrong;
    const double by = std::isnan(off) ? INFINITY : off / std::max(tolerance[i], 1e-300);
    if (worst_at < 0 || by > worst) {
      worst = by;
      worst_at = i;
    }
  }
  if (wrong == 0) return std::nullopt;
  return fmt::format(
      "{} of {} elements are wrong, element {}: {:.9g} instead of {:.9g} ({:.3g} times the tolerance)", wrong,
      exact.elements(), worst_at, element_as_double(got, worst_at), element_as_double(exact, worst_at),
      worst);
}

std::vector<double> Oracle::tolerance(ValueId value) {
  if (runs_.empty()) add_runs(kRuns, 1);
  if (runs_.size() == kRuns) add_runs(kMoreRuns, kMoreScale);
  return tolerance_now(value);
}

std::optional<std::string> Oracle::difference(ValueId value, const HostTensor& got) {
  try {
    if (runs_.empty()) add_runs(kRuns, 1);
    if (!compare(value, got)) return std::nullopt;
    if (runs_.size() == kRuns) add_runs(kMoreRuns, kMoreScale);
  } catch (const Error&) {
    return std::nullopt;  // an index that rounding decides left its axis
  }
  return compare(value, got);
}

}  // namespace korch::fuzz
