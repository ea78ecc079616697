// Random graphs that the rewrite rules match.
#pragma once

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// Builds a random graph that a rule matches.
class Instance {
 public:
  explicit Instance(uint64_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool coin() { return pick(0, 1) == 1; }
  ValueId input(Shape shape) {
    return graph.add_input({DType::f32, std::move(shape)}, "x" + std::to_string(graph.inputs().size()));
  }
  ValueId weights(Shape shape) {
    HostTensor tensor(TensorType{DType::f32, std::move(shape)});
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<float>()[i] = normal(random_);
    return graph.add_constant(tensor);
  }
  ValueId number(float value) { return graph.add_constant(HostTensor::of<float>(DType::f32, {}, {value})); }
  ValueId indices(const std::vector<int64_t>& values) {
    return graph.add_constant(
        HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values));
  }
  ValueId op(Op op, std::vector<ValueId> inputs, Attrs attrs = NoAttrs{}) {
    return graph.add(op, std::move(attrs), std::move(inputs));
  }
  ValueId conv(ValueId x, ValueId w, int64_t pad = 0) {
    ConvAttrs attrs;
    attrs.strides = attrs.dilations = {1, 1};
    attrs.pads_before = attrs.pads_after = {pad, pad};
    return op(Op::Conv, {x, w}, attrs);
  }
  ValueId matmul(ValueId a, ValueId b, bool ta = false, bool tb = false) {
    return op(Op::MatMul, {a, b}, MatMulAttrs{ta, tb});
  }
  ValueId slice(ValueId x, int64_t axis, int64_t start, int64_t size) {
    SliceAttrs cut{Shape(shape(x).size(), 0), shape(x), Shape(shape(x).size(), 1)};
    cut.starts[static_cast<size_t>(axis)] = start;
    cut.sizes[static_cast<size_t>(axis)] = size;
    return op(Op::Slice, {x}, cut);
  }
  // Linear along one axis: two gathers with weights, as fission makes of Resize.
  ValueId twice_as_long(ValueId x, int64_t axis) {
    const int64_t extent = shape(x)[static_cast<size_t>(axis)];
    std::vector<int64_t> left, right;
    for (int64_t i = 0; i < 2 * extent; ++i) {
      left.push_back(i / 2);
      right.push_back(std::min(i / 2 + 1, extent - 1));
    }
    Shape along(shape(x).size(), 1);
    along[static_cast<size_t>(axis)] = 2 * extent;
    const ValueId a = op(Op::Mul, {op(Op::Gather, {x, indices(left)}, AxisAttrs{axis}), weights(along)});
    const ValueId b = op(Op::Mul, {weights(along), op(Op::Gather, {x, indices(right)}, AxisAttrs{axis})});
    return op(Op::Add, {a, b});
  }
  ValueId nearest(ValueId x, int64_t factor) {
    const Shape s = shape(x);
    const ValueId apart = op(Op::Reshape, {x}, ShapeAttrs{{s[0], s[1], s[2], 1, s[3], 1}});
    const ValueId repeated = op(Op::Expand, {apart}, ShapeAttrs{{s[0], s[1], s[2], factor, s[3], factor}});
    return op(Op::Reshape, {repeated}, ShapeAttrs{{s[0], s[1], s[2] * factor, s[3] * factor}});
  }
  ValueId repeated_rows(ValueId x, int64_t factor) {
    const Shape s = shape(x);
    const ValueId apart = op(Op::Reshape, {x}, ShapeAttrs{{s[0], s[1], s[2], 1, s[3]}});
    const ValueId repeated = op(Op::Expand, {apart}, ShapeAttrs{{s[0], s[1], s[2], factor, s[3]}});
    return op(Op::Reshape, {repeated}, ShapeAttrs{{s[0], s[1], s[2] * factor, s[3]}});
  }
  const Shape& shape(ValueId value) const { return graph.value(value).type.shape; }
  Graph finish(std::vector<ValueId> outputs) {
    std::vector<std::string> names;
    for (size_t i = 0; i < outputs.size(); ++i) names.push_back("y" + std::to_string(i));
    graph.set_outputs(std::move(outputs), names);
    return graph;
  }

  Graph graph;

 private:
  std::mt19937_64 random_;
};

// Of each rule, by its name.
using MakeInstance = Graph (*)(Instance&);
const std::map<std::string, MakeInstance>& instances();

// Mean and variance of long rows: an instance of squares_in_one_pass.
Graph mean_and_squares(Instance& g);

// A centred square window of stride 1.
PoolAttrs window(int64_t extent);

}  // namespace korch
