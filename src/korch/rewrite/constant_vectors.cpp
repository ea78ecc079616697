// Constant vectors next to linear primitives with constant weights: into the weights, and with each other.
#include <algorithm>
#include <cmath>
#include <optional>

#include "korch/rewrite/linear_patterns.h"
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// Numbers that let no product overflow or vanish, wherever they are applied; zeros only to multiply with.
bool are_harmless_factors(const Rewriter& r, ValueId value, bool dividing) {
  constexpr double kLargest = 1 << 20;
  const HostTensor* constant = r.graph().constant(value);
  if (constant == nullptr) return false;
  for (int64_t i = 0; i < constant->elements(); ++i) {
    const double size = std::fabs(element_as_double(*constant, i));
    if (size == 0 ? dividing : !(size <= kLargest && size >= 1 / kLargest)) return false;
  }
  return true;
}

// y = x op v, for a constant v along one axis of y.
struct WithVector {
  Op op;
  ValueId x, vector;
};

std::optional<WithVector> with_vector(const Rewriter& r, const Node& node, int64_t axis) {
  if (node.op != Op::Mul && node.op != Op::Div && node.op != Op::Add && node.op != Op::Sub)
    return std::nullopt;
  const ValueId y = node.outputs[0];
  for (size_t side : {1, 0}) {
    const ValueId vector = node.inputs[side], x = node.inputs[1 - side];
    if (side == 0 && (node.op == Op::Div || node.op == Op::Sub)) continue;
    if (!is_along(r, vector, y, axis) || r.shape(x) != r.shape(y) || r.is_constant(x)) continue;
    if (node.op == Op::Mul || node.op == Op::Div)
      if (!are_harmless_factors(r, vector, node.op == Op::Div)) continue;
    return WithVector{node.op, x, vector};
  }
  return std::nullopt;
}

// The axis of its input, and of its weights, that a linear primitive with constant weights sums over.
struct Summed {
  int64_t of_input, of_weights;
};

std::optional<Summed> summed_of(const Rewriter& r, const Node& node) {
  if (!features_of(r, node)) return std::nullopt;
  if (node.op == Op::Conv) return Summed{1, 1};
  const auto& attrs = std::get<MatMulAttrs>(node.attrs);
  if (attrs.transpose_a) return std::nullopt;
  return Summed{r.rank(node.inputs[0]) - 1, attrs.transpose_b ? 1 : 0};
}

// The vector as an operand of `rank` axes that varies along one of them.
ValueId along(Rewriter& r, ValueId vector, int64_t rank, int64_t axis) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = r.elements(vector);
  return r.reshape(vector, shape);
}

// What the primitive makes of an input that is the vector everywhere: one number per feature, broadcasting
// to its output.
ValueId image_of(Rewriter& r, const Node& linear, ValueId vector, ValueId weights, const Summed& summed) {
  const Features features = *features_of(r, linear);
  const int64_t rank = r.rank(weights);
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != features.of_weights) axes.push_back(axis);
  const ValueId products = r.emit(Op::Mul, {weights, along(r, vector, rank, summed.of_weights)});
  const ValueId sums = r.emit(Op::ReduceSum, ReduceAttrs{axes, true}, {products});
  Shape shape(static_cast<size_t>(r.rank(linear.outputs[0]) - features.of_output), 1);
  shape[0] = r.elements(sums);
  return r.reshape(sums, shape);
}

bool has_padding(const Node& conv) {
  const auto& attrs = std::get<ConvAttrs>(conv.attrs);
  const auto padded = [](int64_t pad) { return pad != 0; };
  return std::any_of(attrs.pads_before.begin(), attrs.pads_before.end(), padded) ||
         std::any_of(attrs.pads_after.begin(), attrs.pads_after.end(), padded);
}

// Whether a constant vector of features is added to the primitive's result, and nothing else reads that.
bool has_bias(const Rewriter& r, const Node& linear) {
  if (!r.has_one_reader(linear.outputs[0])) return false;
  const std::optional<WithVector> bias =
      with_vector(r, r.node(r.graph().value(linear.outputs[0]).users[0]), features_of(r, linear)->of_output);
  return bias && bias->op == Op::Add;
}

// The linear primitives that sum over this axis of the Value, views of its rows between, where nothing else
// reads it and all of them can take a vector.
std::optional<std::vector<Node>> linear_readers(const Rewriter& r, ValueId value, int64_t axis) {
  const auto& outputs = r.graph().outputs();
  if (std::count(outputs.begin(), outputs.end(), value) != 0) return std::nullopt;
  std::vector<Node> readers;
  for (const NodeId user : r.users(value)) {
    const Node node = r.node(user);
    if (const std::optional<Summed> summed = summed_of(r, node);
        summed && node.inputs[0] == value && summed->of_input == axis) {
      readers.push_back(node);
      continue;
    }
    if (!is_view_of_rows(r, node) || axis != r.rank(value) - 1) return std::nullopt;
    const auto behind = linear_readers(r, node.outputs[0], r.rank(node.outputs[0]) - 1);
    if (!behind) return std::nullopt;
    readers.insert(readers.end(), behind->begin(), behind->end());
  }
  return readers;
}

// Whether a linear primitive makes the Value: what is added to its result costs it nothing.
bool is_linear_result(const Rewriter& r, ValueId value) {
  const std::vector<NodeId>& makers = r.graph().value(value).producers;
  return std::any_of(makers.begin(), makers.end(),
                     [&](NodeId maker) { return info(r.node(maker).op).category == Category::linear; });
}

// Whether a term before these moved behind them leaves no more sums than there were, and one fewer that
// costs.
bool can_take_term(const Rewriter& r, ValueId value, ValueId without_term, const std::vector<Node>& readers) {
  if (is_linear_result(r, behind_views_of_rows(r, without_term))) return false;
  return std::all_of(readers.begin(), readers.end(), [&](const Node& linear) {
    const bool is_alone = readers.size() == 1 && r.elements(linear.outputs[0]) <= r.elements(value);
    return (is_alone || has_bias(r, linear)) && !(linear.op == Op::Conv && has_padding(linear));
  });
}

}  // namespace

void vector_before_linear(Rewriter& r, NodeId id) {
  const Node linear = r.node(id);
  const std::optional<Summed> summed = summed_of(r, linear);
  if (!summed || !r.is_float32(linear.outputs[0])) return;
  const bool of_rows = linear.op == Op::MatMul;
  const ValueId x = of_rows ? behind_views_of_rows(r, linear.inputs[0]) : linear.inputs[0];
  const int64_t axis = of_rows ? r.rank(x) - 1 : summed->of_input;
  if (r.graph().value(x).producers.size() != 1) return;
  const std::optional<WithVector> v = with_vector(r, r.node(r.graph().value(x).producers[0]), axis);
  const auto readers = v ? linear_readers(r, x, axis) : std::nullopt;
  const bool is_term = v && (v->op == Op::Add || v->op == Op::Sub);
  if (!readers || (is_term && !can_take_term(r, x, v->x, *readers))) return;
  r.covers({r.node(r.graph().value(x).producers[0])});
  const ValueId input = r.reshape(v->x, r.shape(linear.inputs[0]));
  const ValueId weights = linear.inputs[1];
  if (is_term) {
    const ValueId product = r.emit(linear.op, linear.attrs, {input, weights});
    r.equate(linear.outputs[0], r.emit(v->op, {product, image_of(r, linear, v->vector, weights, *summed)}));
  } else {
    const ValueId factors = along(r, v->vector, r.rank(weights), summed->of_weights);
    r.equate(linear.outputs[0], r.emit(linear.op, linear.attrs, {input, r.emit(v->op, {weights, factors})}));
  }
}

void factors_after_linear(Rewriter& r, NodeId id) {
  const Node scaling = r.node(id);
  if (!r.is_float32(scaling.outputs[0])) return;
  for (int64_t axis = 0; axis < r.rank(scaling.outputs[0]); ++axis) {
    const std::optional<WithVector> v = with_vector(r, scaling, axis);
    if (!v || !r.has_one_reader(v->x) || r.graph().is_input(v->x)) continue;
    const auto scaled = [&](ValueId value) -> std::optional<ValueId> {
      if (r.graph().is_input(value) || !r.has_one_reader(value)) return std::nullopt;
      const Node linear = r.node(r.graph().value(value).producers[0]);
      const std::optional<Features> features = features_of(r, linear);
      if (!features || features->of_output != axis) return std::nullopt;
      const ValueId weights = linear.inputs[1];
      r.covers({linear});
      const ValueId factors = along(r, v->vector, r.rank(weights), features->of_weights);
      return r.emit(linear.op, linear.attrs, {linear.inputs[0], r.emit(v->op, {weights, factors})});
    };
    if (const std::optional<ValueId> product = scaled(v->x)) {
      r.equate(scaling.outputs[0], *product);
      return;
    }
    const std::optional<WithVector> bias = with_vector(r, r.node(r.graph().value(v->x).producers[0]), axis);
    if (!bias || (bias->op != Op::Add && bias->op != Op::Sub)) continue;
    if (const std::optional<ValueId> product = scaled(bias->x)) {
      r.covers({r.node(r.graph().value(v->x).producers[0])});
      r.equate(scaling.outputs[0],
               r.emit(bias->op,
                      {*product,
                       r.emit(v->op, {bias->vector, along(r, v->vector, r.rank(bias->vector),
                                                          axis - r.rank(v->x) + r.rank(bias->vector))})}));
      return;
    }
  }
}

void constants_together(Rewriter& r, NodeId id) {
  const Node outer = r.node(id);
  if (!r.is_float32(outer.outputs[0])) return;
  for (size_t side : {1, 0}) {
    const ValueId second = outer.inputs[side], value = outer.inputs[1 - side];
    if (!r.is_constant(second) || r.shape(value) != r.shape(outer.outputs[0])) continue;
    const std::optional<Node> inner = r.producer(value, outer.op);
    if (!inner || !r.has_one_reader(value) || r.graph().value(value).producers.size() != 1) return;
    for (size_t inner_side : {1, 0}) {
      const ValueId first = inner->inputs[inner_side], x = inner->inputs[1 - inner_side];
      if (!r.is_constant(first) || r.shape(x) != r.shape(value)) continue;
      if (outer.op == Op::Mul &&
          !(are_harmless_factors(r, first, false) && are_harmless_factors(r, second, false)))
        return;
      r.covers({*inner});
      const ValueId both = r.emit(outer.op, {first, second});
      if (r.elements(both) > std::max(r.elements(first), r.elements(second))) return;
      r.equate(outer.outputs[0], r.emit(outer.op, {x, both}));
      return;
    }
  }
}

}  // namespace korch::rules
