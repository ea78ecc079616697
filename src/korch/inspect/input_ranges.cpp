#include "korch/inspect/input_ranges.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "korch/inspect/intervals.h"

namespace korch {
namespace {

constexpr int64_t kFlag = 1, kNumber = 9, kSteps = 9;  // the most
constexpr double kMostHint = 1 << 20;                  // a larger constant stands for no limit at all

bool is_comparison(Op op) {
  return op == Op::Equal || op == Op::Less || op == Op::LessOrEqual || op == Op::Greater ||
         op == Op::GreaterOrEqual;
}

// Operators one of whose operands limits what the other is taken for.
bool is_limit(Op op) {
  return is_comparison(op) || op == Op::Min || op == Op::Max || op == Op::VariadicMin ||
         op == Op::VariadicMax || op == Op::Mod || op == Op::Fmod || op == Op::Div;
}

// The elements of a Value as those of the input: scale x + offset.
struct Affine {
  double scale = 1, offset = 0;
  double input_for(double value) const { return (value - offset) / scale; }
};

// What a graph does with one of its inputs.
class Uses {
 public:
  Uses(const Graph& graph, const std::vector<NodeId>& order, ValueId input)
      : graph_(graph), affine_(graph.value_count()), depends_(graph.value_count(), false) {
    affine_[input] = Affine{};
    depends_[input] = true;
    for (NodeId id : order) {
      const Node& node = graph.node(id);
      if (std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return depends_[v]; }))
        continue;
      read(node);
      for (ValueId output : node.outputs) depends_[output] = true;
      if (node.outputs.size() == 1) affine_[node.outputs[0]] = image(node);
    }
  }
  bool reaches(ValueId value) const { return depends_[value]; }

  bool is_index = false;   // or the number of a loop's steps
  bool is_truth = false;   // read as a truth value
  bool is_number = false;  // something is computed from it
  bool is_other = false;   // ... that is no integer, or in a way that nothing is known of
  // The most that it may mean: of axes; of constants; of what a float is scaled by.
  std::optional<double> axis, limit, scale;
  std::vector<int64_t> compared;  // numbers that it is compared with
  std::optional<int64_t> direct;  // of the shortest axis that its elements index as they are

 private:
  const HostTensor* one_number(ValueId value) const {
    const HostTensor* constant = graph_.constant(value);
    return constant != nullptr && constant->elements() == 1 ? constant : nullptr;
  }

  static void raise(std::optional<double>& hint, double value) {
    if (std::isfinite(value) && value <= kMostHint) hint = std::max(hint.value_or(kFlag), value);
  }

  void read(const Node& node) {
    const Category category = info(node.op).category;
    const DType made = graph_.value(node.outputs[0]).type.dtype;
    const bool moves = category == Category::layout || node.op == Op::Cast;
    is_number = is_number || !moves;
    const int index = index_operand(node);
    const bool indexes = index >= 0 && depends_[node.inputs[static_cast<size_t>(index)]];
    const bool counts = node.op == Op::LoopBegin && depends_[node.inputs[0]];
    is_other = is_other || indexes || category == Category::opaque || !is_integer(made);
    is_index = is_index || indexes || counts;
    if (indexes) read_index(node.inputs[static_cast<size_t>(index)], index_interval(graph_, node).most);
    if (counts) read_index(node.inputs[0], kSteps);
    if (node.op == Op::OneHot && affine_[node.inputs[0]])
      raise(limit, affine_[node.inputs[0]]->input_for(
                       static_cast<double>(std::get<OneHotAttrs>(node.attrs).depth) - 1));
    const bool is_logic = node.op == Op::Not || node.op == Op::And || node.op == Op::Or || node.op == Op::Xor;
    is_truth = is_truth || is_logic || (node.op == Op::Cast && made == DType::bool_);
    if (is_limit(node.op)) read_limit(node);
    read_scale(node);
  }

  void read_index(ValueId value, double most) {
    raise(axis, affine_[value] ? affine_[value]->input_for(most) : most);
    if (affine_[value] && affine_[value]->scale == 1 && affine_[value]->offset == 0)
      direct = std::min(direct.value_or(INT64_MAX), static_cast<int64_t>(most));
  }

  void read_limit(const Node& node) {
    if (node.op == Op::Div && !is_integer(graph_.value(node.outputs[0]).type.dtype)) return;
    for (ValueId operand : node.inputs)
      for (ValueId other : node.inputs) {
        const HostTensor* constant = graph_.constant(other);
        if (!affine_[operand] || constant == nullptr || constant->elements() == 0) continue;
        const double most = affine_[operand]->input_for(interval_of(*constant).most);
        raise(limit, std::floor(most) + (constant->elements() == 1 ? 1 : 0));
        if (is_comparison(node.op) && constant->elements() == 1 && std::fabs(most) < 0x1p53)
          compared.push_back(static_cast<int64_t>(std::floor(most)));
      }
  }

  // A float is used otherwise than to be scaled: what makes it one?
  void read_scale(const Node& node) {
    if (image(node)) return;
    for (ValueId operand : node.inputs)
      if (affine_[operand] && is_float(graph_.value(operand).type.dtype) &&
          std::fabs(affine_[operand]->scale) <= 0.5)
        raise(scale, std::ceil(1 / std::fabs(affine_[operand]->scale) - 1e-3));
  }

  // Of a node with one output.
  std::optional<Affine> image(const Node& node) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<Affine>& operand = affine_[node.inputs[i]];
      if (!operand) continue;
      const bool moves = info(node.op).category == Category::layout && (i == 0 || node.op == Op::Concat);
      if (moves || (node.op == Op::Cast && std::get<CastAttrs>(node.attrs).to != DType::bool_))
        return operand;
      if (node.op == Op::Neg) return Affine{-operand->scale, -operand->offset};
      const HostTensor* constant = node.inputs.size() == 2 ? one_number(node.inputs[1 - i]) : nullptr;
      if (constant != nullptr) return image(node.op, *operand, element_as_double(*constant, 0), i == 0);
    }
    return std::nullopt;
  }

  static std::optional<Affine> image(Op op, const Affine& x, double constant, bool is_first) {
    if (op == Op::Add) return Affine{x.scale, x.offset + constant};
    if (op == Op::Sub && is_first) return Affine{x.scale, x.offset - constant};
    if (op == Op::Sub) return Affine{-x.scale, constant - x.offset};
    if (op == Op::Mul && constant != 0) return Affine{x.scale * constant, x.offset * constant};
    if (op == Op::Div && is_first && constant != 0) return Affine{x.scale / constant, x.offset / constant};
    return std::nullopt;
  }

  const Graph& graph_;
  std::vector<std::optional<Affine>> affine_;
  std::vector<bool> depends_;
};

// The ranges of a graph's inputs, one after the other; of those that are not known yet, flags.
class Ranges {
 public:
  Ranges(const Graph& graph, const std::vector<int64_t>& extents)
      : graph_(graph), order_(graph.topological_order()), intervals_(graph.value_count()) {
    for (ValueId input : graph.inputs()) {
      const bool is_whole = !is_float(graph.value(input).type.dtype);
      intervals_[input] = is_whole ? Interval{0, kFlag} : Interval{};
    }
    const size_t tensors = graph.inputs().size() - graph.open_dimensions().size();
    for (size_t i = 0; i < graph.open_dimensions().size(); ++i) {
      const auto extent = static_cast<double>(extents[i]);
      intervals_[graph.inputs()[tensors + i]] = {extent, extent};
    }
    for (NodeId id : order_)
      if (const Node& node = graph.node(id); node.op == Op::Constant)
        intervals_[node.outputs[0]] = interval_of(graph, node, {});
  }

  InputRange add(ValueId input) {
    InputRange range;
    const DType type = graph_.value(input).type.dtype;
    if (type == DType::bool_) {
      const Uses uses(graph_, order_, input);
      if (uses.is_index) range = accepted(input, uses, {kFlag, 0}).value_or(range);
    } else if (is_integer(type)) {
      range = range_of(input, type);
      const Interval all = interval_of(type);
      range.most = static_cast<int64_t>(std::min(static_cast<double>(range.most), all.most));
    }
    if (!is_float(type))
      intervals_[input] = {static_cast<double>(range.least), static_cast<double>(range.most)};
    return range;
  }

 private:
  InputRange range_of(ValueId input, DType type) {
    const Uses uses(graph_, order_, input);
    if (uses.is_index) {
      std::vector<int64_t> numbers;
      for (int64_t number : uses.compared) numbers.insert(numbers.end(), {number, number - 1, number + 1});
      if (const auto one = accepted(input, uses, numbers)) return *one;
      return {0, largest_index(input, uses)};
    }
    const bool is_byte = size_bytes(type) == 1 && !uses.is_truth && uses.limit.value_or(2) > kFlag;
    if (is_byte && (uses.is_number || uses.is_other)) {
      const Interval all = interval_of(type);
      return {static_cast<int64_t>(all.least), static_cast<int64_t>(all.most)};
    }
    if (uses.limit) return {0, static_cast<int64_t>(*uses.limit)};
    if (uses.scale) return {0, static_cast<int64_t>(*uses.scale)};
    return {0, uses.is_number && !uses.is_other ? kNumber : kFlag};
  }

  // The first of these numbers that keeps all indices in their axes, unless each number up to a flag does: a
  // network may be one for one sample rate.
  std::optional<InputRange> accepted(ValueId input, const Uses& uses, const std::vector<int64_t>& numbers) {
    intervals_[input] = {0, kFlag};
    if (keeps_indices(uses)) return std::nullopt;
    for (int64_t number : numbers) {
      intervals_[input] = {static_cast<double>(number), static_cast<double>(number)};
      if (keeps_indices(uses)) return InputRange{number, number};
    }
    return std::nullopt;
  }

  // By halving: what holds for a range holds for a part of it.
  int64_t largest_index(ValueId input, const Uses& uses) {
    int64_t right = -1, wrong = static_cast<int64_t>(std::max<double>(kFlag, uses.axis.value_or(kFlag))) + 1;
    while (wrong - right > 1) {
      const int64_t middle = right + (wrong - right) / 2;
      intervals_[input] = {0, static_cast<double>(middle)};
      (keeps_indices(uses) ? right : wrong) = middle;
    }
    // Nothing is known of an index that is computed from it, or from it among others.
    return right >= 0 ? right : std::max<int64_t>(0, uses.direct.value_or(kFlag));
  }

  bool keeps_indices(const Uses& uses) {
    for (NodeId id : order_) {
      const Node& node = graph_.node(id);
      if (std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return uses.reaches(v); }))
        continue;
      std::vector<Interval> operands;
      for (ValueId value : node.inputs) operands.push_back(intervals_[value]);
      const int index = index_operand(node);
      if (index >= 0 && uses.reaches(node.inputs[static_cast<size_t>(index)]) &&
          !index_interval(graph_, node).holds(operands[static_cast<size_t>(index)]))
        return false;
      if (node.op == Op::LoopBegin && uses.reaches(node.inputs[0]) && operands[0].most > kSteps) return false;
      const Interval result = interval_of(graph_, node, operands);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        intervals_[node.outputs[i]] = i == 0 && node.outputs.size() == 1 ? result : Interval{};
    }
    return true;
  }

  const Graph& graph_;
  const std::vector<NodeId> order_;
  std::vector<Interval> intervals_;
};

}  // namespace

std::vector<InputRange> input_ranges(const Graph& graph, const std::vector<int64_t>& extents) {
  KORCH_ASSERT(extents.size() == graph.open_dimensions().size(), "an extent for each open dimension");
  Ranges ranges(graph, extents);
  std::vector<InputRange> result;
  for (size_t i = 0; i + extents.size() < graph.inputs().size(); ++i)
    result.push_back(ranges.add(graph.inputs()[i]));
  return result;
}

}  // namespace korch
