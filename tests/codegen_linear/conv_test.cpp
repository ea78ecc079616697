#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness.h"
#include "korch/ir/winograd.h"

namespace korch::testing {
namespace {

struct ConvCase {
  const char* name;
  Shape x, w;
  std::vector<int64_t> strides, dilations, before, after;
  int64_t group;
};

ConvAttrs attrs_of(const ConvCase& c) {
  ConvAttrs attrs;
  attrs.strides = c.strides;
  attrs.dilations = c.dilations;
  attrs.pads_before = c.before;
  attrs.pads_after = c.after;
  attrs.output_padding.assign(c.strides.size(), 0);
  attrs.group = c.group;
  return attrs;
}

HostTensor weights(const Shape& shape, int64_t seed, bool transposed = false) {
  double taps = static_cast<double>(element_count(shape)) / shape[0];
  if (transposed) taps = static_cast<double>(element_count(shape)) / shape[1];
  return random_tensor({DType::f32, shape}, seed, 1 / std::sqrt(taps));
}

Shape channel_shape(int64_t channels, size_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = channels;
  return shape;
}

enum class Epilogue { none, bias_swish_residual };

// Inputs per axis of the tiles that a convolution has by Winograd's primitives.
std::vector<int64_t> winograd_inputs(const ConvCase& c) {
  std::vector<int64_t> result;
  for (int64_t inputs : {6, 4, 2})
    if (is_winograd(inputs - c.w[2] + 1, c.w[2])) result.push_back(inputs);
  return result;
}

// By Winograd's primitives, with tiles of so many inputs per axis.
ValueId add_winograd(Graph& graph, const ConvCase& c, ValueId x, ValueId w, int64_t inputs) {
  WinogradAttrs attrs;
  attrs.taps = c.w[2];
  attrs.tile = inputs - attrs.taps + 1;
  WinogradAttrs input = attrs, output = attrs;
  input.pads_before = c.before;
  input.pads_after = c.after;
  output.shape = winograd_result(input, graph.value(x).type.shape);
  output.shape[1] = c.w[0];
  const ValueId v = graph.add(Op::WinogradInput, input, {x});
  return graph.add(Op::WinogradOutput, output, {graph.add(Op::WinogradProduct, attrs, {v, w})});
}

// `inputs`: per axis of a tile, for a convolution by Winograd's primitives.
Graph conv_graph(const ConvCase& c, Epilogue epilogue, Op op = Op::Conv, int64_t inputs = 0) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, c.x}, "x");
  const ValueId w = graph.add_constant(weights(c.w, 11, op == Op::ConvTranspose), "w");
  ValueId y = inputs > 0 ? add_winograd(graph, c, x, w, inputs) : graph.add(op, attrs_of(c), {x, w});
  if (epilogue == Epilogue::bias_swish_residual) {
    const Shape shape = graph.value(y).type.shape;
    const ValueId bias =
        graph.add_constant(random_tensor({DType::f32, channel_shape(shape[1], shape.size())}, 12), "bias");
    const ValueId residual = graph.add_input({DType::f32, shape}, "residual");
    y = graph.add(Op::Add, NoAttrs{}, {y, bias});
    y = graph.add(Op::Mul, NoAttrs{}, {y, graph.add(Op::Sigmoid, NoAttrs{}, {y})});
    y = graph.add(Op::Add, NoAttrs{}, {y, residual});
  }
  graph.set_outputs({y}, {"y"});
  return graph;
}

const ConvCase kDense[] = {
    {"pointwise", {1, 24, 9, 7}, {40, 24, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_images", {3, 16, 5, 6}, {32, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_strided", {1, 17, 9, 7}, {3, 17, 1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_conflicting_stride", {1, 512, 5, 5}, {21, 512, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_channel", {1, 9, 5, 7}, {1, 9, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_one_wide", {1, 24, 9, 1}, {40, 24, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_images_one_wide", {3, 16, 5, 1}, {32, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_one_high", {3, 16, 1, 6}, {32, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_one_pixel", {5, 16, 1, 1}, {32, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"pointwise_one_axis", {5, 16, 1}, {32, 16, 1}, {1}, {1}, {0}, {0}, 1},
    {"one_pixel_wide", {1, 9, 7, 1}, {33, 9, 3, 1}, {1, 1}, {1, 1}, {1, 0}, {1, 0}, 1},
    {"padded", {1, 20, 13, 15}, {37, 20, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"asymmetric", {2, 5, 11, 10}, {19, 5, 3, 2}, {2, 1}, {1, 1}, {0, 1}, {2, 0}, 1},
    {"dilated", {1, 8, 14, 13}, {16, 8, 3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}, 1},
    {"first_layer", {1, 3, 20, 21}, {32, 3, 5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}, 1},
    {"last_layer", {1, 32, 12, 17}, {3, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"patches", {1, 12, 16, 24}, {33, 12, 4, 4}, {4, 4}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"grouped", {1, 24, 8, 9}, {36, 6, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 4},
    {"one_axis", {2, 10, 31}, {18, 10, 5}, {2}, {1}, {2}, {1}, 1},
    {"large", {1, 64, 30, 31}, {96, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"many_columns", {1, 128, 6, 6}, {600, 128, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"parts_of_tap_rows", {1, 200, 7, 9}, {50, 200, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"parts_of_taps", {1, 300, 6, 5}, {50, 300, 3, 2}, {1, 2}, {2, 1}, {1, 1}, {1, 0}, 1},
    {"parts_of_channels", {1, 1600, 5, 6}, {70, 1600, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"parts_of_taps_and_channels", {1, 1024, 5, 4}, {40, 1024, 1, 3}, {1, 1}, {1, 1}, {0, 1}, {0, 1}, 1},
    {"padded_one_high", {2, 12, 1, 9}, {20, 12, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"padded_one_pixel", {2, 12, 1, 1}, {20, 12, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"one_result_pixel", {1, 12, 3, 5}, {20, 12, 3, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"padding_beyond_input", {1, 4, 2, 2}, {4, 4, 5, 5}, {1, 1}, {1, 1}, {4, 4}, {4, 4}, 1},
};

// Rows of an image and their tiles, shared out in other numbers of blocks.
TEST(Rescheduled, ConvolutionsMatchTheInterpreter) {
  for (const ConvCase& c : kDense) {
    if (std::string(c.name) != "asymmetric" && std::string(c.name) != "grouped") continue;
    EXPECT_GE(check_family(conv_graph(c, Epilogue::bias_swish_residual), "conv_direct",
                           {.isa = vector_isas().back(), .rescheduled = true}),
              4)
        << c.name;
  }
}

class ConvDirect : public ::testing::TestWithParam<std::tuple<ConvCase, Isa>> {};

TEST_P(ConvDirect, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  EXPECT_GE(check_family(conv_graph(c, Epilogue::bias_swish_residual), "conv_direct", {.isa = isa}), 1);
}

std::string case_name(const ::testing::TestParamInfo<std::tuple<ConvCase, Isa>>& info) {
  return std::string(std::get<0>(info.param).name) + "_" +
         std::to_string(static_cast<int>(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvDirect,
                         ::testing::Combine(::testing::ValuesIn(kDense), ::testing::ValuesIn(vector_isas())),
                         case_name);

const ConvCase kFewChannels[] = {
    {"three", {1, 32, 12, 32}, {3, 32, 9, 9}, {1, 1}, {1, 1}, {4, 4}, {4, 4}, 1},
    {"odd", {2, 7, 11, 37}, {5, 7, 3, 4}, {2, 1}, {1, 2}, {1, 0}, {0, 3}, 1},
    {"one_high", {2, 7, 1, 3}, {3, 7, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"one_wide", {2, 7, 6, 1}, {1, 7, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"one", {1, 6, 9, 150}, {1, 6, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
};

class ConvPixels : public ::testing::TestWithParam<std::tuple<ConvCase, Isa>> {};

TEST_P(ConvPixels, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  EXPECT_EQ(check_family(conv_graph(c, Epilogue::bias_swish_residual), "conv_pixels", {.isa = isa}), 2);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvPixels,
                         ::testing::Combine(::testing::ValuesIn(kFewChannels),
                                            ::testing::ValuesIn(vector_isas())),
                         case_name);

const ConvCase kDepthwise[] = {
    {"three", {1, 40, 13, 17}, {40, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 40},
    {"three_strided", {2, 24, 14, 15}, {24, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 24},
    {"five", {1, 19, 12, 29}, {19, 1, 5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, 19},
    {"five_strided", {1, 64, 17, 33}, {64, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}, 64},
    {"dilated", {1, 16, 15, 15}, {16, 1, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, 16},
    {"narrow", {1, 32, 7, 2}, {32, 1, 5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, 32},
    {"one_axis", {1, 18, 21}, {18, 1, 3}, {1}, {1}, {1}, {1}, 18},
    {"one_pixel", {2, 18, 1, 1}, {18, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 18},
    {"one_high", {1, 18, 1, 9}, {18, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 18},
    {"one_wide", {1, 18, 9, 1}, {18, 1, 3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}, 18},
    {"unpadded", {1, 8, 9, 9}, {8, 1, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 8},
};

class Depthwise : public ::testing::TestWithParam<std::tuple<ConvCase, Isa>> {};

TEST_P(Depthwise, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  EXPECT_GE(check_family(conv_graph(c, Epilogue::bias_swish_residual), "depthwise", {.isa = isa}), 1);
}

// Data that are stored in 16 bits are converted by every tap, and the result may be stored so, too.
TEST(DepthwiseData, ReadAndStoredInSixteenBits) {
  for (const Isa isa : vector_isas())
    for (const DType type : {DType::bf16, DType::f16})
      for (const ConvCase& c : kDepthwise) {
        Graph graph;
        const ValueId stored = graph.add_input({type, c.x}, "x");
        const ValueId x = graph.add(Op::Cast, CastAttrs{DType::f32}, {stored});
        ValueId y = graph.add(Op::Conv, attrs_of(c), {x, graph.add_constant(weights(c.w, 3), "w")});
        y = graph.add(Op::Relu, NoAttrs{}, {y});
        const bool wide = c.group % 3 == 0;
        if (!wide) y = graph.add(Op::Cast, CastAttrs{type}, {y});
        graph.set_outputs({y}, {"y"});
        const double tolerance = wide ? 1e-5 : type == DType::bf16 ? 0x1p-5 : 0x1p-8;
        EXPECT_GE(check_family(graph, "depthwise", {.isa = isa, .tolerance = tolerance}), 1)
            << c.name << " of " << name(type) << " for " << name(isa);
      }
}

// Pixels become tokens behind the convolution: the kernel divides a pixel's number by an extent that no pixel
// of a tile exceeds, with and without borders, tiles of one length and of two.
TEST(DepthwiseEpilogue, PixelsBecomeTokens) {
  for (Isa isa : isas_that_run_here())
    for (int64_t channels : {8, 32, 20})
      for (int64_t width : {4, 7, 16})
        for (int64_t padding : {0, 1}) {
          const int64_t out = width - 2 + 2 * padding;
          const Shape pads(2, padding);
          const ConvCase c{
              "", {1, channels, width, width}, {channels, 1, 3, 3}, {1, 1}, {1, 1}, pads, pads, channels};
          Graph graph;
          const ValueId x = graph.add_input({DType::f32, c.x}, "x");
          ValueId y = graph.add(Op::Conv, attrs_of(c), {x, graph.add_constant(weights(c.w, 3), "w")});
          y = graph.add(Op::Transpose, PermAttrs{{0, 2, 3, 1}}, {y});
          y = graph.add(Op::Reshape, ShapeAttrs{{1, out * out, channels}}, {y});
          graph.set_outputs({y}, {"y"});
          EXPECT_GE(check_family(graph, "depthwise", {.isa = isa}), 1)
              << channels << " channels, width " << width << ", padding " << padding;
        }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Depthwise,
                         ::testing::Combine(::testing::ValuesIn(kDepthwise),
                                            ::testing::ValuesIn(vector_isas())),
                         case_name);

const ConvCase kWinograd[] = {
    {"even", {1, 32, 16, 16}, {32, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"odd", {1, 21, 13, 15}, {37, 21, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"unpadded_images", {2, 16, 11, 9}, {5, 16, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"many_tiles", {1, 64, 50, 51}, {48, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"many_channels", {1, 256, 13, 13}, {64, 256, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"two_taps", {1, 21, 13, 16}, {37, 21, 2, 2}, {1, 1}, {1, 1}, {1, 0}, {1, 1}, 1},
    {"two_taps_images", {2, 16, 9, 12}, {5, 16, 2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"two_taps_many_tiles", {1, 64, 50, 51}, {48, 64, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"two_taps_many_channels", {1, 256, 13, 13}, {64, 256, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"four_taps", {1, 19, 14, 13}, {33, 19, 4, 4}, {1, 1}, {1, 1}, {1, 2}, {2, 1}, 1},
    {"one_tap", {1, 32, 12, 12}, {64, 32, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_tap_odd_pixels", {1, 42, 5, 7}, {74, 42, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_tap_images", {3, 38, 5, 5}, {10, 38, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_tap_many_tiles", {1, 128, 50, 51}, {96, 128, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_tap_many_channels", {1, 512, 7, 7}, {130, 512, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_pixel", {2, 16, 1, 1}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"one_wide", {1, 16, 9, 1}, {16, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"one_tap_one_pixel", {5, 16, 1, 1}, {16, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"one_tap_of_one_pixel", {1, 32, 1, 1}, {32, 32, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"five_taps", {2, 17, 12, 15}, {20, 17, 5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, 1},
};

class Winograd : public ::testing::TestWithParam<std::tuple<ConvCase, Isa>> {};

TEST_P(Winograd, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  for (int64_t inputs : winograd_inputs(c)) {
    const Graph graph = conv_graph(c, Epilogue::bias_swish_residual, Op::Conv, inputs);
    EXPECT_EQ(check_family(graph, "conv_winograd", {.isa = isa}), 1) << inputs;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Winograd,
                         ::testing::Combine(::testing::ValuesIn(kWinograd),
                                            ::testing::ValuesIn(vector_isas())),
                         case_name);

// Each of the three primitives alone, transformed tiles in memory.
TEST_P(Winograd, Parts) {
  const auto& [c, isa] = GetParam();
  for (int64_t inputs : winograd_inputs(c)) {
    const Graph whole = conv_graph(c, Epilogue::none, Op::Conv, inputs);
    for (NodeId id : whole.topological_order()) {
      const Node& node = whole.node(id);
      if (node.op == Op::Constant) continue;
      Graph part;
      std::vector<ValueId> operands;
      for (ValueId input : node.inputs)
        operands.push_back(whole.constant(input) != nullptr ? part.add_constant(*whole.constant(input), "w")
                                                            : part.add_input(whole.value(input).type, "x"));
      part.set_outputs({part.add(node.op, node.attrs, operands)}, {"y"});
      EXPECT_EQ(check_family(part, "winograd_part", {.isa = isa}), 1) << name(node.op) << " of " << inputs;
    }
  }
}

// Weights that are computed are left to others: there are none.
TEST(Winograd, StandsBack) {
  Graph graph;
  const ConvCase c{"", {1, 6, 9, 9}, {8, 6, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  const ValueId x = graph.add_input({DType::f32, c.x}, "x"), w = graph.add_input({DType::f32, c.w}, "w");
  graph.set_outputs({add_winograd(graph, c, x, w, 6)}, {"y"});
  EXPECT_EQ(check_family(graph, "conv_winograd", {.isa = vector_isas()[0]}), 0);
}

// A stride's phases as channels, after a normalization and a border, are computed while data is transformed.
TEST(Winograd, PrologueOnTheData) {
  for (Isa isa : isas_that_run_here()) {
    for (const int64_t channels : {16, 5}) {
      Graph graph;
      const ValueId x = graph.add_input({DType::f32, {1, channels, 14, 18}}, "x");
      const ValueId scale = graph.add_input({DType::f32, {1, channels, 1, 1}}, "scale");
      ValueId y = graph.add(Op::Relu, NoAttrs{}, {graph.add(Op::Mul, NoAttrs{}, {x, scale})});
      y = graph.add(Op::Pad, PadAttrs{{0, 0, 1, 1}, {0, 0, 1, 1}, PadMode::reflect, 0}, {y});
      y = graph.add(Op::Reshape, ShapeAttrs{{1, channels, 8, 2, 10, 2}}, {y});
      y = graph.add(Op::Transpose, PermAttrs{{0, 3, 5, 1, 2, 4}}, {y});
      y = graph.add(Op::Reshape, ShapeAttrs{{1, 4 * channels, 8, 10}}, {y});
      const ConvCase c{"", {}, {24, 4 * channels, 2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
      y = add_winograd(graph, c, y, graph.add_constant(weights(c.w, 3), "w"), 6);
      y = graph.add(Op::Tanh, NoAttrs{}, {y});
      graph.set_outputs({y}, {"y"});
      EXPECT_EQ(check_family(graph, "conv_winograd", {.isa = isa}), 1);
    }
  }
}

// Two pixels of another image, or none, end a tile; what is computed on the way differs between the halves.
TEST(Winograd, PrologueOnPairsOfPixels) {
  for (Isa isa : isas_that_run_here()) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {3, 36, 5, 6}}, "x");
    const ValueId scale = graph.add_input({DType::f32, {1, 36, 1, 1}}, "scale");
    ValueId y = graph.add(Op::Relu, NoAttrs{}, {graph.add(Op::Mul, NoAttrs{}, {x, scale})});
    y = graph.add(Op::Slice, SliceAttrs{{0, 0, 0, 0}, {3, 36, 3, 3}, {1, 1, 2, 2}}, {y});
    const ConvCase c{"", {}, {24, 36, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
    y = add_winograd(graph, c, y, graph.add_constant(weights(c.w, 3), "w"), 2);
    graph.set_outputs({graph.add(Op::Tanh, NoAttrs{}, {y})}, {"y"});
    EXPECT_EQ(check_family(graph, "conv_winograd", {.isa = isa}), 1);
  }
}

const ConvCase kGeneric[] = {
    {"grouped", {2, 12, 7, 9}, {18, 4, 3, 2}, {2, 1}, {1, 2}, {1, 0}, {0, 2}, 3},
    {"one_axis", {1, 3, 40}, {5, 3, 7}, {3}, {2}, {3}, {4}, 1},
    {"one_column", {1, 4, 9, 3}, {6, 4, 3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1},
    {"three_axes", {1, 4, 5, 6, 7}, {6, 4, 3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, 1},
    {"one_pixel", {2, 4, 1, 1}, {6, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
    {"two_filters_each", {1, 2, 9, 1}, {4, 1, 5, 5}, {1, 1}, {1, 1}, {7, 1}, {8, 3}, 2},
};

TEST(LinearGeneric, Convolutions) {
  for (const ConvCase& c : kGeneric)
    for (Isa isa : isas_that_run_here())
      EXPECT_EQ(check_family(conv_graph(c, Epilogue::bias_swish_residual), "linear_generic", {.isa = isa}), 1)
          << c.name;
}

// It is listed where no other kernel is.
TEST(LinearGeneric, StandsBack) {
  const Device target;
  const auto families = [&](const Graph& graph) {
    std::set<std::string> names;
    for (const Implementation& i : implementations(graph, whole_graph(graph), target, Accuracy::standard))
      names.insert(i.family);
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(families(conv_graph(kGeneric[0], Epilogue::none)).count("linear_generic"), 0u);
  EXPECT_EQ(families(conv_graph(kGeneric[5], Epilogue::none)), Names{"linear_generic"});
  EXPECT_EQ(families(conv_graph(kGeneric[5], Epilogue::bias_swish_residual)), Names{"linear_generic"});
  EXPECT_EQ(families(conv_graph(kGeneric[3], Epilogue::none)).count("linear_generic"), 1u);
}

TEST(LinearGeneric, TransposedConvolutions) {
  const ConvCase cases[] = {
      {"plain", {1, 6, 5, 7}, {6, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 1},
      {"grouped", {2, 6, 5, 4}, {6, 2, 2, 3}, {1, 3}, {2, 1}, {0, 1}, {1, 0}, 3},
      {"one_axis", {1, 4, 9}, {4, 3, 4}, {2}, {1}, {1}, {1}, 1},
  };
  for (const ConvCase& c : cases)
    EXPECT_EQ(check_family(conv_graph(c, Epilogue::bias_swish_residual, Op::ConvTranspose), "linear_generic"),
              1)
        << c.name;
}

// Reflect padding and a normalization are computed while the panel is filled.
TEST(ConvDirect, PrologueOnTheData) {
  for (Isa isa : isas_that_run_here()) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {1, 20, 9, 11}}, "x");
    const ValueId scale = graph.add_input({DType::f32, {1, 20, 1, 1}}, "scale");
    ValueId y = graph.add(Op::Relu, NoAttrs{}, {graph.add(Op::Mul, NoAttrs{}, {x, scale})});
    y = graph.add(Op::Pad, PadAttrs{{0, 0, 2, 2}, {0, 0, 2, 2}, PadMode::reflect, 0}, {y});
    const ConvCase c{"", {}, {24, 20, 5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
    y = graph.add(Op::Conv, attrs_of(c), {y, graph.add_constant(weights(c.w, 3), "w")});
    y = graph.add(Op::Tanh, NoAttrs{}, {y});
    graph.set_outputs({y}, {"y"});
    EXPECT_GE(check_family(graph, "conv_direct", {.isa = isa}), 1);
  }
}

// Rows of a pointwise convolution run over pixels and images alike; so does what is computed before it.
TEST(ConvDirect, PrologueOfPixelsInOneColumn) {
  for (const Shape& shape : {Shape{1, 20, 9, 1}, Shape{3, 20, 7, 1}, Shape{5, 20, 1, 1}, Shape{3, 20, 1, 6}})
    for (int64_t taps : {1, 3}) {
      const Isa isa = isas_that_run_here().back();
      Graph graph;
      const ValueId x = graph.add_input({DType::f32, shape}, "x");
      const ValueId shift = graph.add_input({DType::f32, shape}, "shift");
      const ValueId sum = graph.add(Op::Relu, NoAttrs{}, {graph.add(Op::Add, NoAttrs{}, {x, shift})});
      const std::vector<int64_t> padding(2, taps / 2);
      const ConvCase c{"", {}, {24, 20, taps, taps}, {1, 1}, {1, 1}, padding, padding, 1};
      ValueId y = graph.add(Op::Conv, attrs_of(c), {sum, graph.add_constant(weights(c.w, 3), "w")});
      y = graph.add(Op::Tanh, NoAttrs{}, {y});
      graph.set_outputs({y}, {"y"});
      EXPECT_GE(check_family(graph, "conv_direct", {.isa = isa}), 1) << to_string(shape);
    }
}

// A depthwise convolution is computed while the panel of a pointwise one is filled: borders and inside,
// blocks of pixels and single ones, channels that are no whole vectors, groups.
TEST(ConvDirect, DepthwiseWindowInThePrologue) {
  struct Case {
    Shape x;
    PoolAttrs pool;
    int64_t features, group;
  };
  const Case cases[] = {
      {{1, 32, 13, 15}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 24, 1},
      {{2, 20, 9, 12}, {{5, 5}, {2, 2}, {1, 1}, {2, 2}, {1, 2}}, 40, 1},
      {{1, 16, 3, 4}, {{5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}}, 8, 1},
      {{1, 24, 11, 9}, {{3, 2}, {1, 2}, {2, 1}, {0, 0}, {0, 0}}, 36, 3},
  };
  for (Isa isa : isas_that_run_here())
    for (const Case& c : cases) {
      Graph graph;
      const ValueId x = graph.add_input({DType::f32, c.x}, "x");
      Shape taps = c.pool.kernel;
      taps.push_back(c.x[1]);
      const HostTensor filters = random_tensor({DType::f32, taps}, 5, 0.3);
      ValueId y = graph.add(Op::WindowDot, c.pool, {x, graph.add_constant(filters, "filters")});
      y = graph.add(Op::Mul, NoAttrs{}, {y, graph.add(Op::Sigmoid, NoAttrs{}, {y})});
      const ConvCase pointwise{"",     {},     {c.features, c.x[1] / c.group, 1, 1}, {1, 1}, {1, 1}, {0, 0},
                               {0, 0}, c.group};
      y = graph.add(Op::Conv, attrs_of(pointwise), {y, graph.add_constant(weights(pointwise.w, 3), "w")});
      graph.set_outputs({y}, {"y"});
      EXPECT_GE(check_family(graph, "conv_direct", {.isa = isa}), 1);
      EXPECT_GE(check_family(graph, "conv_direct", {.isa = isa, .l2_bytes = 4 << 10, .l3_bytes = 16 << 10}),
                1);
    }
}

// Tensors beyond the caches: prefetching, stores that bypass them, weights streamed once, rows cut into
// strips.
TEST(Linear, BeyondCaches) {
  const ConvCase pointwise{"", {1, 32, 20, 21}, {48, 32, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  const ConvCase square{"", {1, 32, 20, 21}, {48, 32, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1};
  const ConvCase two_taps{"", {1, 32, 20, 21}, {48, 32, 2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1};
  const ConvCase deep{"", {1, 32, 20, 37}, {32, 1, 5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}, 32};
  for (Isa isa : isas_that_run_here()) {
    const CheckOptions options{.isa = isa, .l2_bytes = 16 << 10, .l3_bytes = 32 << 10};
    for (const ConvCase& c : {pointwise, square})
      EXPECT_GE(check_family(conv_graph(c, Epilogue::bias_swish_residual), "conv_direct", options), 1);
    for (const ConvCase& c : {pointwise, square, two_taps})
      for (int64_t inputs : winograd_inputs(c))
        EXPECT_EQ(check_family(conv_graph(c, Epilogue::bias_swish_residual, Op::Conv, inputs),
                               "conv_winograd", options),
                  1);
    EXPECT_EQ(check_family(conv_graph(deep, Epilogue::bias_swish_residual), "depthwise", options), 1);
  }
}

// Heads split off the result of a pointwise convolution; two outputs.
TEST(ConvDirect, LayoutEpilogue) {
  for (Isa isa : isas_that_run_here()) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {1, 24, 6, 7}}, "x");
    const ConvCase c{"", {}, {48, 24, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
    const ValueId y = graph.add(Op::Conv, attrs_of(c), {x, graph.add_constant(weights(c.w, 3), "w")});
    const ValueId relu = graph.add(Op::Relu, NoAttrs{}, {y});
    const ValueId heads = graph.add(Op::Reshape, ShapeAttrs{{1, 3, 16, 42}}, {relu});
    const ValueId turned = graph.add(Op::Transpose, PermAttrs{{0, 1, 3, 2}}, {heads});
    graph.set_outputs({relu, turned}, {"relu", "turned"});
    EXPECT_GE(check_family(graph, "conv_direct", {.isa = isa}), 1);
  }
}

}  // namespace
}  // namespace korch::testing
