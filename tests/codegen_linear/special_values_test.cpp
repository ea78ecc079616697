// NaN, infinities and subnormal numbers through what is fused into products and convolutions, by the
// library's calls and by generated kernels of every instruction set: what the operators' definitions say.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness.h"

namespace korch::testing {
namespace {

constexpr float kInf = INFINITY;

ValueId scalar(Graph& graph, float value) {
  return graph.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
}

using Finish = std::function<ValueId(Graph&, ValueId)>;

Finish unary(Op op, Attrs attrs = NoAttrs{}) {
  return [=](Graph& graph, ValueId x) { return graph.add(op, attrs, {x}); };
}

ValueId swish(Graph& graph, ValueId x) {
  return graph.add(Op::Mul, NoAttrs{}, {x, graph.add(Op::Sigmoid, NoAttrs{}, {x})});
}

ValueId mish(Graph& graph, ValueId x) {
  return graph.add(Op::Mul, NoAttrs{},
                   {x, graph.add(Op::Tanh, NoAttrs{}, {graph.add(Op::Softplus, NoAttrs{}, {x})})});
}

ValueId clip(Graph& graph, ValueId x) {
  const ValueId low = graph.add(Op::Max, NoAttrs{}, {x, scalar(graph, -0.5F)});
  return graph.add(Op::Min, NoAttrs{}, {low, scalar(graph, 0.75F)});
}

ValueId residual(Graph& graph, ValueId x) {
  return graph.add(Op::Add, NoAttrs{}, {graph.add_input(graph.value(x).type, "residual"), x});
}

ValueId bias(Graph& graph, ValueId x) {
  Shape shape(graph.value(x).type.shape.size(), 1);
  const size_t channels = shape.size() == 2 ? 1 : shape.size() - 3;
  shape[channels] = graph.value(x).type.shape[channels];
  return graph.add(Op::Add, NoAttrs{}, {x, graph.add_constant(random_tensor({DType::f32, shape}, 5), "b")});
}

struct NamedTail {
  const char* name;
  Finish tail;
};

std::vector<NamedTail> finishes() {
  return {
      {"none", [](Graph&, ValueId x) { return x; }},
      {"bias", bias},
      {"relu", unary(Op::Relu)},
      {"leaky relu", unary(Op::LeakyRelu, ScalarAttrs{0.1, 0})},
      {"leaky relu of slope 0", unary(Op::LeakyRelu, ScalarAttrs{0, 0})},
      {"elu", unary(Op::Elu, ScalarAttrs{0.7, 0})},
      {"sigmoid", unary(Op::Sigmoid)},
      {"tanh", unary(Op::Tanh)},
      {"hard swish", unary(Op::HardSwish)},
      {"swish", swish},
      {"mish", mish},
      {"clip", clip},
      {"residual", residual},
      {"residual, relu", [](Graph& g, ValueId x) { return g.add(Op::Relu, NoAttrs{}, {residual(g, x)}); }},
      {"relu, residual", [](Graph& g, ValueId x) { return residual(g, g.add(Op::Relu, NoAttrs{}, {x})); }}};
}

// Rows of numbers each of which holds one special value.
void put_special_values(HostTensor& data, int64_t row) {
  const float special[] = {NAN, kInf, -kInf, 1e-39F, -1e-42F, -0.0F};
  int64_t at = 0;
  for (const float value : special) {
    if (at * row < data.elements()) data.mutable_data<float>()[at * row + at % row] = value;
    ++at;
  }
}

Graph convolution(const Finish& tail, int64_t taps) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {1, 16, 9, 16}}, "x");
  ConvAttrs attrs;
  attrs.strides = attrs.dilations = {1, 1};
  attrs.pads_before = attrs.pads_after = {taps / 2, taps / 2};
  attrs.output_padding = {0, 0};
  const HostTensor w = random_tensor({DType::f32, {16, 16, taps, taps}}, 3, 0.25);
  const ValueId y = tail(graph, graph.add(Op::Conv, attrs, {x, graph.add_constant(w, "w")}));
  graph.set_outputs({y}, {"y"});
  return graph;
}

Graph product(const Finish& tail) {
  Graph graph;
  const ValueId a = graph.add_input({DType::f32, {24, 32}}, "a");
  const HostTensor b = random_tensor({DType::f32, {32, 48}}, 3, 0.25);
  const ValueId y = tail(graph, graph.add(Op::MatMul, MatMulAttrs{}, {a, graph.add_constant(b, "b")}));
  graph.set_outputs({y}, {"y"});
  return graph;
}

int check(const Graph& graph, const std::string& family, Isa isa, int64_t row) {
  HostTensor data = random_tensor(graph.value(graph.inputs()[0]).type, 9);
  put_special_values(data, row);
  return check_family(graph, family, {.isa = isa, .accuracy = Accuracy::strict, .tolerance = 5e-5},
                      {std::move(data)});
}

// All of the chain at once: each kernel takes a compilation.
TEST(SpecialValues, GeneratedKernels) {
  const Finish tail = [](Graph& graph, ValueId x) {
    return clip(graph, mish(graph, residual(graph, graph.add(Op::Relu, NoAttrs{}, {x}))));
  };
  for (const Isa isa : isas_that_run_here()) EXPECT_GE(check(product(tail), "matmul", isa, 32), 1);
  EXPECT_GE(check(convolution(tail, 3), "conv_direct", isas_that_run_here().back(), 16), 1);
}

}  // namespace
}  // namespace korch::testing
