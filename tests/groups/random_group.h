// Random groups of all primitives that terms have, and of some that they do not.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::groups {

class RandomGroup {
 public:
  explicit RandomGroup(uint64_t seed, std::vector<int64_t> extents = {1, 2, 3, 4, 6},
                       int64_t most_elements = 300)
      : random_(seed), extents_(std::move(extents)), most_elements_(most_elements) {}

  Graph make() {
    for (int i = 0; i < 2; ++i) values_.push_back(input(random_shape()));
    const int64_t primitives = 3 + below(8);
    for (int64_t i = 0; i < primitives; ++i) grow();
    std::vector<ValueId> outputs;
    for (ValueId value = 0; value < graph.value_count(); ++value)
      if (!graph.is_input(value) && graph.constant(value) == nullptr && graph.value(value).users.empty())
        outputs.push_back(value);
    if (outputs.empty()) return graph;
    outputs = {outputs.back()};
    graph.set_outputs(outputs, {"y"});
    graph.remove_dead_nodes();
    return graph;
  }
  Graph graph;

 private:
  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }
  bool one_in(int64_t n) { return below(n) == 0; }

  int64_t any_extent() { return extents_[static_cast<size_t>(below(static_cast<int64_t>(extents_.size())))]; }
  Shape random_shape() {
    Shape shape(static_cast<size_t>(2 + below(2)));
    for (int64_t& extent : shape) extent = any_extent();
    return shape;
  }
  ValueId input(Shape shape, DType type = DType::f32) {
    return graph.add_input({type, std::move(shape)}, "x" + std::to_string(graph.value_count()));
  }
  // An input, or a constant.
  ValueId operand(const Shape& shape) {
    if (!one_in(4)) return input(shape);
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(below(2001) - 1000) / 1000;
    return graph.add_constant(HostTensor::of<float>(DType::f32, shape, values));
  }
  void add(ValueId value) {
    if (graph.value(value).type.elements() <= most_elements_) values_.push_back(value);
  }
  // Recent ones often, so that groups are deep.
  ValueId pick() {
    const auto count = static_cast<int64_t>(values_.size());
    const int64_t from = one_in(3) ? 0 : std::max<int64_t>(0, count - 3);
    return values_[static_cast<size_t>(from + below(count - from))];
  }
  const Shape& shape(ValueId value) const { return graph.value(value).type.shape; }
  ValueId bounded(ValueId value) { return graph.add(Op::Tanh, NoAttrs{}, {value}); }

  // Of the same shape, or one that is broadcast to it.
  ValueId partner(ValueId value) {
    for (int tries = 0; tries < 4; ++tries) {
      const ValueId other = pick();
      if (other != value && shape(other) == shape(value)) return other;
    }
    Shape wanted = shape(value);
    if (!wanted.empty() && one_in(2))
      wanted[static_cast<size_t>(below(static_cast<int64_t>(wanted.size())))] = 1;
    if (!wanted.empty() && one_in(4)) wanted.erase(wanted.begin());
    return operand(wanted);
  }

  void grow() {
    switch (below(10)) {
      case 0:
        return add(elementwise());
      case 1:
      case 2:
        return add(reduction());
      case 3:
      case 4:
        return add(product());
      case 5:
        return add(transposed());
      case 6:
        return add(reshaped());
      case 7:
        return add(rearranged());
      case 8:
        return add(chosen());
      case 9:
        return add(softmax());
    }
  }

  ValueId elementwise() {
    const ValueId x = pick();
    const ValueId two = graph.add_constant(HostTensor::of<float>(DType::f32, {}, {2.5f}));
    switch (below(5)) {
      case 0:
        return graph.add(Op::Exp, NoAttrs{}, {bounded(x)});
      case 1:
        return graph.add(Op::Sub, NoAttrs{}, {x, partner(x)});
      case 2:
        return graph.add(Op::Elu, ScalarAttrs{.alpha = 0.75}, {x});
      case 3:
        return graph.add(Op::Div, NoAttrs{}, {x, graph.add(Op::Add, NoAttrs{}, {bounded(partner(x)), two})});
      default:
        return graph.add(Op::Mul, NoAttrs{}, {x, x});
    }
  }
  ValueId reduction() {
    static const std::vector<Op> ops = {Op::ReduceSum, Op::ReduceMax, Op::ReduceMin, Op::ReduceProd};
    const ValueId x = pick();
    if (shape(x).empty()) return x;
    const int64_t rank = static_cast<int64_t>(shape(x).size()), axis = below(rank);
    std::vector<int64_t> axes = {axis};
    if (one_in(4) && axis + 1 < rank) axes.push_back(axis + 1);
    return graph.add(ops[static_cast<size_t>(below(4))], ReduceAttrs{axes, one_in(2)}, {bounded(x)});
  }
  ValueId softmax() {
    const ValueId x = pick();
    if (shape(x).empty()) return x;
    const ReduceAttrs over{{below(static_cast<int64_t>(shape(x).size()))}, true};
    const ValueId centred = graph.add(Op::Sub, NoAttrs{}, {x, graph.add(Op::ReduceMax, over, {x})});
    const ValueId weights = graph.add(Op::Exp, NoAttrs{}, {centred});
    return graph.add(Op::Div, NoAttrs{}, {weights, graph.add(Op::ReduceSum, over, {weights})});
  }
  ValueId product() {
    const ValueId a = pick();
    if (shape(a).size() < 2) return a;
    const bool turn_a = one_in(3), turn_b = one_in(2);
    Shape wanted = shape(a);
    const int64_t k = wanted[wanted.size() - (turn_a ? 2 : 1)];
    wanted[wanted.size() - 2] = turn_b ? any_extent() : k;
    wanted[wanted.size() - 1] = turn_b ? k : any_extent();
    if (wanted.size() == 3 && one_in(3)) wanted.erase(wanted.begin());
    ValueId b = kNoId;
    for (ValueId value : values_)
      if (shape(value) == wanted && value != a) b = value;
    if (b == kNoId) b = one_in(5) && shape(a) == wanted ? a : operand(wanted);
    const ValueId y = graph.add(Op::MatMul, MatMulAttrs{turn_a, turn_b, false}, {a, b});
    return bounded(y);
  }
  ValueId transposed() {
    const ValueId x = pick();
    std::vector<int64_t> perm(shape(x).size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
    std::shuffle(perm.begin(), perm.end(), random_);
    return graph.add(Op::Transpose, PermAttrs{perm}, {x});
  }
  ValueId reshaped() {
    const ValueId x = pick();
    Shape to = shape(x);
    if (to.empty()) return x;
    const auto at = static_cast<size_t>(below(static_cast<int64_t>(to.size())));
    if (one_in(6)) {
      std::reverse(to.begin(), to.end());
    } else if (one_in(2) && at + 1 < to.size()) {
      to[at] *= to[at + 1];
      to.erase(to.begin() + static_cast<int64_t>(at) + 1);
    } else if (to[at] % 2 == 0) {
      to[at] /= 2;
      to.insert(to.begin() + static_cast<int64_t>(at) + (one_in(2) ? 1 : 0), 2);
    } else {
      to.insert(to.begin() + static_cast<int64_t>(at), 1);
    }
    return graph.add(Op::Reshape, ShapeAttrs{to}, {x});
  }
  ValueId rearranged() {
    const ValueId x = pick();
    Shape to = shape(x);
    if (to.empty()) return x;
    const auto at = static_cast<size_t>(below(static_cast<int64_t>(to.size())));
    const auto axis = static_cast<int64_t>(at);
    if (to[at] == 1) {
      to[at] = 3;
      return graph.add(Op::Expand, ShapeAttrs{to}, {x});
    }
    if (one_in(3)) {
      Shape starts(to.size(), 0), steps(to.size(), 1);
      starts[at] = 1;
      to[at] -= 1;
      return graph.add(Op::Slice, SliceAttrs{starts, to, steps}, {x});
    }
    if (one_in(2)) return graph.add(Op::Concat, AxisAttrs{axis}, {x, operand(to)});
    const ValueId rows = graph.add_constant(HostTensor::of<int64_t>(DType::i64, {3}, {1, 0, -1}));
    return graph.add(Op::Gather, AxisAttrs{axis}, {x, rows});
  }
  ValueId chosen() {
    const ValueId x = pick(), zero = graph.add_constant(HostTensor::of<float>(DType::f32, {}, {0}));
    if (one_in(2)) return graph.add(Op::Where, NoAttrs{}, {input(shape(x), DType::bool_), x, zero});
    return graph.add(Op::Where, NoAttrs{}, {graph.add(Op::Less, NoAttrs{}, {x, partner(x)}), x, partner(x)});
  }

  std::mt19937_64 random_;
  std::vector<int64_t> extents_;
  int64_t most_elements_;
  std::vector<ValueId> values_;
};

}  // namespace korch::groups
