// Long operators ask whether they may go on: how often is counted, nothing is timed.
#include "check.h"
#include "korch/base/stop_check.h"

namespace korch {
namespace {

constexpr int64_t kMostBetween = 1'000'000;  // elements

HostTensor zeros(const Shape& shape) {
  return HostTensor(TensorType{DType::f32, shape});
}

struct Case {
  Op op;
  Attrs attrs;
  std::vector<Shape> inputs;
  Shape output;
  int64_t elements;  // that it reads or computes
};

std::vector<Case> long_operators() {
  constexpr int64_t kMany = 1 << 22, kSide = 1 << 11;
  PoolAttrs window;
  window.kernel = {1024};
  window.strides = window.dilations = {1};
  window.pads_before = {512};
  window.pads_after = {511};
  ReduceAttrs rows;
  rows.axes = {1};
  rows.keepdims = false;
  return {
      {Op::Relu, NoAttrs{}, {{kMany}}, {kMany}, kMany},
      {Op::Add, NoAttrs{}, {{kSide, kSide}, {kSide}}, {kSide, kSide}, kSide * kSide},
      {Op::Transpose, PermAttrs{{1, 0}}, {{kSide, kSide}}, {kSide, kSide}, kSide * kSide},
      {Op::ReduceSum, rows, {{kSide, kSide}}, {kSide}, kSide * kSide},
      {Op::ReduceMax, rows, {{1, kMany}}, {1}, kMany},  // one run
      {Op::WindowMax, window, {{1, 1, 1 << 13}}, {1, 1, 1 << 13}, (1 << 13) * 512},
      {Op::Einsum, EinsumAttrs{"ij,jk->ik"}, {{256, 256}, {256, 256}}, {256, 256}, 256 * 256 * 256},
      {Op::Softmax, AxisAttrs{1}, {{kSide, kSide}}, {kSide, kSide}, kSide * kSide},
  };
}

Node node_of(const Case& c) {
  Node node;
  node.op = c.op;
  node.attrs = c.attrs;
  return node;
}

TEST(StopCheck, LongOperatorsAskOften) {
  for (const Case& c : long_operators()) {
    std::vector<HostTensor> inputs;
    for (const Shape& shape : c.inputs) inputs.push_back(zeros(shape));
    StopCheck stop;
    evaluate_node(node_of(c), inputs, {{DType::f32, c.output}}, Precision::native, stop);
    EXPECT_GE(stop.asked(), c.elements / kMostBetween) << name(c.op);
  }
}

TEST(StopCheck, AnOperatorEndsWithTheDeadline) {
  for (const Case& c : long_operators()) {
    std::vector<HostTensor> inputs;
    for (const Shape& shape : c.inputs) inputs.push_back(zeros(shape));
    StopCheck stop(Deadline(-1));
    EXPECT_THROW(evaluate_node(node_of(c), inputs, {{DType::f32, c.output}}, Precision::native, stop),
                 BudgetSpent)
        << name(c.op);
  }
}

TEST(StopCheck, AGraphEndsWithinItsOnlyNode) {
  constexpr int64_t kMany = 1 << 20;
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {kMany}}, "x");
  graph.set_outputs({graph.add(Op::Relu, NoAttrs{}, {x})}, {"y"});
  InterpretOptions options;
  options.deadline = Deadline(-1);
  EXPECT_THROW(interpret(graph, {zeros({kMany})}, options), BudgetSpent);
}

}  // namespace
}  // namespace korch
