#include "term_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch::groups {
namespace {

using block::Term;
using block::TermKind;

HostTensor random_values(const TensorType& type, std::mt19937_64& random) {
  HostTensor tensor(type.dtype == DType::f32 ? TensorType{DType::f64, type.shape} : type);
  std::uniform_real_distribution<double> real(-1, 1);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (type.dtype == DType::f32) tensor.mutable_data<double>()[i] = real(random);
    if (type.dtype == DType::bool_) tensor.mutable_data<uint8_t>()[i] = random() % 2;
    if (type.dtype == DType::i64) tensor.mutable_data<int64_t>()[i] = static_cast<int64_t>(random() % 2);
  }
  return tensor;
}

// Tensors have an axis for each of the group's, of extent 1 where they do not depend on it.
class Evaluator {
 public:
  Evaluator(const GroupTerms& group, const std::map<ValueId, HostTensor>& values)
      : group_(group), values_(values) {
    for (const Term& term : group.terms.terms) tensors_.push_back(value_of(term));
  }

  // The element of a term where the axes have these values.
  double at(int term, const Shape& place) const {
    return element_as_double(tensors_[static_cast<size_t>(term)], index_in(term, place));
  }
  // The element of a Value at the coordinates.
  int64_t index_of(const Place& leaf, const Shape& shape, const Shape& place) const {
    int64_t index = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t coordinate = 0;
      for (int axis : leaf.at[d]) coordinate = coordinate * extent(axis) + place[static_cast<size_t>(axis)];
      index = index * shape[d] + coordinate;
    }
    return index;
  }
  Shape full() const {
    Shape shape;
    for (const block::Axis& axis : group_.terms.axes) shape.push_back(axis.extent);
    return shape;
  }
  static Shape place_of(int64_t index, const Shape& shape) {
    Shape place(shape.size());
    for (size_t i = shape.size(); i-- > 0; index /= shape[i]) place[i] = index % shape[i];
    return place;
  }

 private:
  int64_t extent(int axis) const { return group_.terms.axes[static_cast<size_t>(axis)].extent; }

  Shape shape_of(block::AxisSet set) const {
    Shape shape = full();
    for (size_t i = 0; i < shape.size(); ++i)
      if ((set & block::axis_set(static_cast<int>(i))) == 0) shape[i] = 1;
    return shape;
  }

  int64_t index_in(int term, const Shape& place) const {
    const Shape& shape = tensors_[static_cast<size_t>(term)].shape();
    int64_t index = 0;
    for (size_t i = 0; i < shape.size(); ++i) index = index * shape[i] + (shape[i] == 1 ? 0 : place[i]);
    return index;
  }

  HostTensor value_of(const Term& term) const {
    switch (term.kind) {
      case TermKind::leaf:
        return leaf_values(term);
      case TermKind::number:
        return HostTensor::of<double>(DType::f64, shape_of(0), {term.number});
      case TermKind::call: {
        Node node;
        node.op = term.op;
        node.attrs = block::op_attrs(term.op, term.scalars);
        std::vector<HostTensor> args;
        for (int arg : term.args) args.push_back(tensors_[static_cast<size_t>(arg)]);
        return evaluate_node(node, args, {{term.type, shape_of(term.axes)}}, Precision::float64)[0];
      }
      case TermKind::fold:
        return folded(term);
      case TermKind::window:
        return through_window(term);
    }
    return {};
  }

  HostTensor through_window(const Term& term) const {
    const block::Window& window = term.window;
    HostTensor result({DType::f64, shape_of(term.axes)});
    for (int64_t i = 0; i < result.elements(); ++i) {
      Shape place = place_of(i, result.shape());
      int64_t read = window.offset;
      for (const block::Window::Part& part : window.parts)
        read += part.times * place[static_cast<size_t>(part.axis)];
      place[static_cast<size_t>(window.of)] = read;
      result.mutable_data<double>()[i] = read >= 0 && read < extent(window.of) ? at(term.args[0], place) : 0;
    }
    return result;
  }

  HostTensor leaf_values(const Term& term) const {
    const Place& leaf = group_.leaves[static_cast<size_t>(term.leaf)];
    const HostTensor& value = values_.at(leaf.value);
    HostTensor result({value.dtype(), shape_of(term.axes)});
    const size_t size = size_bytes(value.dtype());
    for (int64_t i = 0; i < result.elements(); ++i) {
      const int64_t from = index_of(leaf, value.shape(), place_of(i, result.shape()));
      std::copy_n(static_cast<const std::byte*>(value.raw()) + from * static_cast<int64_t>(size), size,
                  static_cast<std::byte*>(result.mutable_raw()) + i * static_cast<int64_t>(size));
    }
    return result;
  }

  HostTensor folded(const Term& term) const {
    HostTensor result({DType::f64, shape_of(term.axes)});
    const Shape over = shape_of(term.over);
    for (int64_t i = 0; i < result.elements(); ++i) {
      double sum = 0;
      const Shape place = place_of(i, result.shape());
      for (int64_t j = 0; j < element_count(over); ++j) {
        Shape inner = place_of(j, over);
        for (size_t axis = 0; axis < inner.size(); ++axis) inner[axis] += place[axis];
        const double value = at(term.args[0], inner);
        if (j == 0)
          sum = value;
        else if (term.combine == ScalarFn::add)
          sum += value;
        else if (term.combine == ScalarFn::mul)
          sum *= value;
        else
          sum = term.combine == ScalarFn::max ? std::max(sum, value) : std::min(sum, value);
      }
      result.mutable_data<double>()[i] = sum;
    }
    return result;
  }

  const GroupTerms& group_;
  const std::map<ValueId, HostTensor>& values_;
  std::vector<HostTensor> tensors_;
};

}  // namespace

void expect_equal_values(const Graph& graph, const Candidate& candidate, const GroupTerms& group,
                         uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<ValueId, HostTensor> values;
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs()) {
    values[input] = random_values(graph.value(input).type, random);
    inputs.push_back(values[input]);
  }
  for (ValueId value = 0; value < graph.value_count(); ++value)
    if (const HostTensor* constant = graph.constant(value))
      values[value] = constant->dtype() == DType::f32 ? converted(*constant, DType::f64) : *constant;
  interpret(graph, inputs,
            {.observe = [&](ValueId value, const HostTensor& tensor) { values[value] = tensor; }});
  const Evaluator evaluator(group, values);
  ASSERT_EQ(group.results.size(), candidate.outputs.size());
  for (size_t i = 0; i < group.results.size(); ++i) {
    const Place& result = group.results[i];
    ASSERT_EQ(result.value, candidate.outputs[i]);
    const HostTensor& expected = values.at(result.value);
    const Shape full = evaluator.full();
    std::vector<bool> seen(static_cast<size_t>(expected.elements()), false);
    for (int64_t j = 0; j < element_count(full); ++j) {
      const Shape place = Evaluator::place_of(j, full);
      const int64_t element = evaluator.index_of(result, expected.shape(), place);
      if (seen[static_cast<size_t>(element)]) continue;
      seen[static_cast<size_t>(element)] = true;
      const double wanted = element_as_double(expected, element),
                   got = evaluator.at(group.terms.results[i], place);
      ASSERT_NEAR(got, wanted, 1e-12 * std::max(1.0, std::abs(wanted)))
          << print(graph) << block::structure_text(group.terms);
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0) << "elements without a term";
  }
}

Candidate all_of(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id : graph.topological_order())
    if (graph.constant(graph.node(id).outputs[0]) == nullptr) nodes.push_back(id);
  return make_candidate(graph, nodes, graph.outputs());
}

}  // namespace korch::groups
