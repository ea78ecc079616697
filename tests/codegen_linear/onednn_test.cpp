// oneDNN's calls on slices, against the interpreter; generated kernels have the wider range of shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace korch::testing {
namespace {

Isa best_isa() {
  return isas_that_run_here().back();
}

struct Layer {
  Shape x, w;
  int64_t stride, dilation, pad, group;
};

enum class Tail { none, bias, swish_residual, mish, clip, relu, leaky_relu, elu, sigmoid, tanh, hardswish };

Graph layer_graph(const Layer& l, Tail tail) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, l.x}, "x");
  ConvAttrs attrs;
  attrs.strides = {l.stride, l.stride};
  attrs.dilations = {l.dilation, l.dilation};
  attrs.pads_before = attrs.pads_after = {l.pad, l.pad};
  attrs.output_padding = {0, 0};
  attrs.group = l.group;
  const double taps = static_cast<double>(element_count(l.w)) / l.w[0];
  ValueId y =
      graph.add(Op::Conv, attrs,
                {x, graph.add_constant(random_tensor({DType::f32, l.w}, 3, 1 / std::sqrt(taps)), "w")});
  const Shape shape = graph.value(y).type.shape;
  if (tail != Tail::none)
    y = graph.add(Op::Add, NoAttrs{},
                  {y, graph.add_constant(random_tensor({DType::f32, {shape[1], 1, 1}}, 4), "bias")});
  auto scalar = [&](float value) {
    return graph.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
  };
  if (tail == Tail::swish_residual) {
    y = graph.add(Op::Mul, NoAttrs{}, {y, graph.add(Op::Sigmoid, NoAttrs{}, {y})});
    y = graph.add(Op::Add, NoAttrs{}, {graph.add_input({DType::f32, shape}, "residual"), y});
  } else if (tail == Tail::mish) {
    y = graph.add(Op::Mul, NoAttrs{},
                  {y, graph.add(Op::Tanh, NoAttrs{}, {graph.add(Op::Softplus, NoAttrs{}, {y})})});
  } else if (tail == Tail::clip) {
    y = graph.add(Op::Min, NoAttrs{}, {graph.add(Op::Max, NoAttrs{}, {y, scalar(-0.5f)}), scalar(0.75f)});
  } else if (tail == Tail::relu || tail == Tail::sigmoid || tail == Tail::tanh || tail == Tail::hardswish) {
    const Op op = tail == Tail::relu      ? Op::Relu
                  : tail == Tail::sigmoid ? Op::Sigmoid
                  : tail == Tail::tanh    ? Op::Tanh
                                          : Op::HardSwish;
    y = graph.add(op, NoAttrs{}, {y});
  } else if (tail == Tail::leaky_relu || tail == Tail::elu) {
    ScalarAttrs attrs;
    attrs.alpha = 0.25f;
    y = graph.add(tail == Tail::elu ? Op::Elu : Op::LeakyRelu, attrs, {y});
  }
  graph.set_outputs({y}, {"y"});
  return graph;
}

TEST(OnednnConv, DirectAndWinograd) {
  const Layer square{{1, 32, 19, 21}, {64, 32, 3, 3}, 1, 1, 1, 1};
  for (Tail tail : {Tail::none, Tail::bias, Tail::swish_residual, Tail::mish})
    EXPECT_GE(check_family(layer_graph(square, tail), "onednn_conv", {.isa = best_isa(), .tolerance = 5e-5}),
              1);
  EXPECT_GE(check_family(layer_graph(square, Tail::bias), "onednn_conv",
                         {.isa = best_isa(), .accuracy = Accuracy::strict}),
            1);
}

// Of what the library would compute behind a layer, what loses a NaN is left to others.
TEST(OnednnConv, NanStays) {
  const Layer layers[] = {{{1, 32, 19, 21}, {64, 32, 3, 3}, 1, 1, 1, 1},
                          {{1, 24, 13, 9}, {40, 24, 1, 1}, 1, 1, 0, 1},
                          {{1, 3, 16, 17}, {16, 3, 5, 5}, 2, 1, 2, 1},
                          {{1, 32, 17, 15}, {32, 1, 5, 5}, 1, 1, 2, 32}};
  for (const Layer& layer : layers)
    for (Tail tail : {Tail::none, Tail::bias, Tail::swish_residual, Tail::mish, Tail::clip, Tail::relu,
                      Tail::leaky_relu, Tail::elu, Tail::sigmoid, Tail::tanh, Tail::hardswish}) {
      SCOPED_TRACE(static_cast<int>(tail));
      const Graph graph = layer_graph(layer, tail);
      HostTensor x = random_tensor({DType::f32, layer.x}, 7);
      x.mutable_data<float>()[x.elements() / 2] = std::numeric_limits<float>::quiet_NaN();
      std::vector<HostTensor> inputs(graph.inputs().size());
      for (size_t i = 0; i < inputs.size(); ++i)
        inputs[i] = graph.value(graph.inputs()[i]).name == "x"
                        ? x
                        : random_tensor(graph.value(graph.inputs()[i]).type, 8);
      const bool loses = tail == Tail::relu || tail == Tail::clip;
      EXPECT_EQ(check_family(graph, "onednn_conv",
                             {.isa = best_isa(), .accuracy = Accuracy::strict, .tolerance = 5e-5}, inputs),
                loses ? 0 : 1);
    }
}

// The caller's thread is a worker, and may use OpenMP itself.
TEST(OnednnConv, CallersOpenMpThreadsStay) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  EXPECT_GE(check_family(layer_graph({{1, 32, 19, 21}, {64, 32, 3, 3}, 1, 1, 1, 1}, Tail::bias),
                         "onednn_conv", {.isa = best_isa(), .tolerance = 5e-5}),
            1);
  EXPECT_EQ(omp_get_max_threads(), 3);
  omp_set_num_threads(before);
}

TEST(OnednnConv, ShapesAndSlices) {
  const Layer layers[] = {
      {{3, 16, 12, 11}, {32, 16, 3, 3}, 2, 1, 1, 1}, {{1, 24, 33, 9}, {40, 24, 1, 1}, 1, 1, 0, 1},
      {{1, 16, 20, 20}, {16, 16, 3, 3}, 1, 2, 2, 1}, {{1, 3, 30, 31}, {16, 3, 7, 7}, 2, 1, 3, 1},
      {{1, 32, 17, 15}, {32, 1, 5, 5}, 1, 1, 2, 32}, {{2, 32, 5, 3}, {48, 32, 3, 3}, 1, 1, 1, 1},
  };
  for (const Layer& layer : layers)
    EXPECT_GE(check_family(layer_graph(layer, Tail::swish_residual), "onednn_conv",
                           {.isa = best_isa(), .tolerance = 5e-5}),
              1);
}

// What the library takes for some slices and refuses for others is refused as a whole, before it is planned;
// one image in few rows, and strides, make slices that differ.
TEST(OnednnConv, RefusedSlicesRefuseTheCall) {
  const Layer layers[] = {
      {{1, 32, 48, 48}, {96, 32, 3, 3}, 2, 1, 1, 1}, {{1, 16, 23, 40}, {64, 16, 3, 3}, 2, 1, 1, 1},
      {{1, 64, 17, 17}, {32, 64, 5, 5}, 2, 1, 2, 1}, {{1, 24, 33, 9}, {40, 24, 3, 3}, 3, 1, 1, 1},
      {{1, 16, 31, 8}, {32, 16, 7, 7}, 1, 1, 6, 1},
  };
  for (const Layer& layer : layers)
    for (Tail tail : {Tail::none, Tail::mish, Tail::swish_residual})
      for (int threads : {1, 2, 3, 8})
        check_family(layer_graph(layer, tail), "onednn_conv",
                     {.isa = best_isa(), .threads = threads, .tolerance = 5e-5});
}

// Padding wider than the result, a result of one pixel: implementations of the library that add the residual
// from the wrong places must not be used.
TEST(OnednnConv, ResidualsOfNarrowResults) {
  const Layer layers[] = {
      {{1, 16, 4, 4}, {32, 16, 7, 7}, 2, 1, 3, 1}, {{1, 16, 3, 3}, {32, 16, 5, 5}, 1, 1, 4, 1},
      {{2, 8, 5, 2}, {16, 8, 7, 7}, 1, 1, 5, 1},   {{1, 9, 2, 3}, {7, 9, 6, 6}, 2, 1, 4, 1},
      {{1, 32, 1, 1}, {19, 32, 3, 3}, 1, 3, 3, 1}, {{1, 32, 1, 1}, {32, 1, 3, 3}, 1, 1, 1, 32},
      {{1, 32, 2, 2}, {32, 1, 2, 2}, 2, 1, 0, 32}, {{3, 20, 3, 3}, {20, 1, 3, 3}, 3, 1, 0, 20},
      {{1, 16, 6, 1}, {32, 16, 3, 3}, 3, 3, 3, 1},
  };
  for (const Layer& layer : layers)
    check_family(layer_graph(layer, Tail::swish_residual), "onednn_conv",
                 {.isa = best_isa(), .tolerance = 5e-5});
}

TEST(OnednnMatMul, ConstantAndDynamic) {
  struct Case {
    Shape a, b;
    bool transpose_a, transpose_b, constant;
  };
  const Case cases[] = {
      {{67, 48}, {48, 35}, false, false, true},
      {{2, 19, 40}, {40, 56}, false, false, true},
      {{29, 24}, {50, 24}, false, true, true},
      {{3, 2, 17, 21}, {3, 2, 21, 37}, false, false, false},
      {{1, 4, 33, 24}, {1, 4, 47, 24}, false, true, false},
      {{24, 29}, {24, 50}, true, false, true},
  };
  for (const Case& c : cases) {
    Graph graph;
    const ValueId a = graph.add_input({DType::f32, c.a}, "a");
    const ValueId b = c.constant ? graph.add_constant(random_tensor({DType::f32, c.b}, 5), "b")
                                 : graph.add_input({DType::f32, c.b}, "b");
    ValueId y = graph.add(Op::MatMul, MatMulAttrs{c.transpose_a, c.transpose_b}, {a, b});
    if (c.constant)
      y = graph.add(
          Op::Add, NoAttrs{},
          {y, graph.add_constant(random_tensor({DType::f32, {graph.value(y).type.shape.back()}}, 6))});
    y = graph.add(Op::HardSwish, NoAttrs{}, {y});
    graph.set_outputs({y}, {"y"});
    EXPECT_EQ(check_family(graph, "onednn_matmul", {.isa = best_isa()}), 1);
  }
}

// What is not exactly a chain of post-ops is left to others.
TEST(OnednnConv, DeclinesOtherEpilogues) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {1, 16, 8, 8}}, "x");
  ConvAttrs attrs;
  attrs.strides = attrs.dilations = {1, 1};
  attrs.pads_before = attrs.pads_after = attrs.output_padding = {0, 0};
  const ValueId y = graph.add(Op::Conv, attrs,
                              {x, graph.add_constant(random_tensor({DType::f32, {16, 16, 1, 1}}, 3), "w")});
  graph.set_outputs({graph.add(Op::Mul, NoAttrs{}, {y, graph.add(Op::Tanh, NoAttrs{}, {y})})}, {"y"});
  EXPECT_EQ(check_family(graph, "onednn_conv", {.isa = best_isa()}), 0);
}

}  // namespace
}  // namespace korch::testing
