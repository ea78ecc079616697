// Every fission rule against the interpreter's own definition of the operator, in float64.
#include "korch/fission/rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "check.h"
#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch::test {
namespace {

struct RuleCase {
  const char* name;
  std::vector<std::string> inputs;
  const char* node;
  const char* result;
};

const std::vector<RuleCase>& rule_cases() {
  static const std::vector<RuleCase> table = {
      {"softmax_last", {"f64[2x3x5]"}, "Softmax(%a) {axis=2}", "f64[2x3x5]"},
      {"softmax_first", {"f64[4x3]"}, "Softmax(%a) {axis=0}", "f64[4x3]"},
      {"softmax_rank_one", {"f64[7]"}, "Softmax(%a) {axis=0}", "f64[7]"},
      {"softmax_unit_axis", {"f64[2x1x5]"}, "Softmax(%a) {axis=1}", "f64[2x1x5]"},
      {"log_softmax", {"f64[2x3x5]"}, "LogSoftmax(%a) {axis=1}", "f64[2x3x5]"},
      {"hardmax", {"f64[2x3x5]"}, "Hardmax(%a) {axis=1}", "f64[2x3x5]"},
      {"layer_norm",
       {"f64[2x3x8]", "f64[8]", "f64[8]"},
       "LayerNormalization(%a, %b, %c) {axis=2, epsilon=1e-05}",
       "f64[2x3x8]"},
      {"layer_norm_two_axes_no_bias",
       {"f64[2x3x8]", "f64[3x8]"},
       "LayerNormalization(%a, %b) {axis=1, epsilon=0.1}",
       "f64[2x3x8]"},
      {"instance_norm",
       {"f64[2x3x4x5]", "f64[3]", "f64[3]"},
       "InstanceNormalization(%a, %b, %c) {epsilon=0.001}",
       "f64[2x3x4x5]"},
      {"instance_norm_rank_three",
       {"f64[2x3x9]", "f64[3]", "f64[3]"},
       "InstanceNormalization(%a, %b, %c) {epsilon=0.001}",
       "f64[2x3x9]"},
      {"group_norm_per_channel",
       {"f64[2x6x4x5]", "f64[6]", "f64[6]"},
       "GroupNormalization(%a, %b, %c) {groups=3, epsilon=0.001}",
       "f64[2x6x4x5]"},
      {"group_norm_per_group",
       {"f64[2x6x4]", "f64[3]", "f64[3]"},
       "GroupNormalization(%a, %b, %c) {groups=3, epsilon=0.001}",
       "f64[2x6x4]"},
      {"mean_variance_norm",
       {"f64[2x3x4x5]"},
       "MeanVarianceNormalization(%a) {axes=[0,2,3]}",
       "f64[2x3x4x5]"},
      {"lp_norm_one", {"f64[2x3x4]"}, "LpNormalization(%a) {axis=1, groups=1}", "f64[2x3x4]"},
      {"lp_norm_two", {"f64[2x3x4]"}, "LpNormalization(%a) {axis=2, groups=2}", "f64[2x3x4]"},
      {"lrn_odd", {"f64[2x7x3x2]"}, "LRN(%a) {alpha=0.5, beta=0.75, bias=2, size=3}", "f64[2x7x3x2]"},
      {"lrn_even", {"f64[1x5x4]"}, "LRN(%a) {alpha=0.5, beta=0.5, bias=1, size=4}", "f64[1x5x4]"},
      {"conv_bias",
       {"f64[1x3x5x5]", "f64[4x3x3x3]", "f64[4]"},
       "Conv(%a, %b, %c) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], "
       "output_padding=[0,0]}",
       "f64[1x4x5x5]"},
      {"conv_bias_one_axis",
       {"f64[2x2x6]", "f64[4x1x3]", "f64[4]"},
       "Conv(%a, %b, %c) {strides=[1], dilations=[1], pads_before=[0], pads_after=[0], output_padding=[0], "
       "group=2}",
       "f64[2x4x4]"},
      {"conv_transpose_bias",
       {"f64[1x3x4x4]", "f64[3x2x3x3]", "f64[2]"},
       "ConvTranspose(%a, %b, %c) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], "
       "output_padding=[1,1]}",
       "f64[1x2x8x8]"},
      {"gemm", {"f64[3x4]", "f64[4x5]", "f64[5]"}, "Gemm(%a, %b, %c)", "f64[3x5]"},
      {"gemm_scaled_transposed",
       {"f64[4x3]", "f64[5x4]", "f64[3x1]"},
       "Gemm(%a, %b, %c) {alpha=0.5, beta=-3, transpose_a=true, transpose_b=true}",
       "f64[3x5]"},
      {"gemm_no_bias", {"f64[3x4]", "f64[4x5]"}, "Gemm(%a, %b) {alpha=2}", "f64[3x5]"},
      {"average_pool",
       {"f64[1x2x5x6]"},
       "AveragePool(%a) {kernel=[2,3], strides=[1,2], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]}",
       "f64[1x2x4x2]"},
      {"average_pool_padded",
       {"f64[1x2x5x6]"},
       "AveragePool(%a) {kernel=[3,3], strides=[2,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1]}",
       "f64[1x2x3x6]"},
      {"average_pool_counts_padding",
       {"f64[1x2x5]"},
       "AveragePool(%a) {kernel=[3], strides=[1], dilations=[1], pads_before=[1], pads_after=[1], "
       "count_include_pad=true}",
       "f64[1x2x5]"},
      {"reduce_mean", {"f64[2x3x4]"}, "ReduceMean(%a) {axes=[0,2]}", "f64[1x3x1]"},
      {"reduce_mean_flat", {"f64[2x3x4]"}, "ReduceMean(%a) {axes=[0,1,2], keepdims=false}", "f64[]"},
      {"reduce_mean_power_of_two", {"f64[2x8]"}, "ReduceMean(%a) {axes=[1], keepdims=false}", "f64[2]"},
      {"reduce_mean_nothing", {"f64[2x8]"}, "ReduceMean(%a) {axes=[]}", "f64[2x8]"},
      {"reduce_l1", {"f64[2x3x4]"}, "ReduceL1(%a) {axes=[1]}", "f64[2x1x4]"},
      {"reduce_l2", {"f64[2x3x4]"}, "ReduceL2(%a) {axes=[1,2], keepdims=false}", "f64[2]"},
      {"reduce_log_sum", {"f64[2x3]"}, "ReduceLogSum(%a) {axes=[1]}", "f64[2x1]"},
      {"reduce_log_sum_exp", {"f64[2x3x4]"}, "ReduceLogSumExp(%a) {axes=[2], keepdims=false}", "f64[2x3]"},
      {"reduce_sum_square", {"f64[2x3x4]"}, "ReduceSumSquare(%a) {axes=[0]}", "f64[1x3x4]"},
      {"sum_of_three", {"f64[2x3]", "f64[3]", "f64[1x1]"}, "Sum(%a, %b, %c)", "f64[2x3]"},
      {"sum_of_one", {"f64[2x3]"}, "Sum(%a)", "f64[2x3]"},
      {"mean_of_three", {"f64[2x3]", "f64[3]", "f64[2x1]"}, "Mean(%a, %b, %c)", "f64[2x3]"},
      {"max_of_three", {"f64[2x3]", "f64[3]", "f64[2x1]"}, "VariadicMax(%a, %b, %c)", "f64[2x3]"},
      {"min_of_three", {"f64[2x3]", "f64[3]", "f64[2x1]"}, "VariadicMin(%a, %b, %c)", "f64[2x3]"},
      {"gelu", {"f64[4x9]"}, "Gelu(%a)", "f64[4x9]"},
      {"mish", {"f64[4x9]"}, "Mish(%a)", "f64[4x9]"},
      {"tile", {"f64[2x3x1]"}, "Tile(%a) {shape=[2,2,5]}", "f64[4x6x5]"},
      {"tile_nothing", {"f64[2x3]"}, "Tile(%a) {shape=[1,1]}", "f64[2x3]"},
      {"tile_to_empty", {"f64[2x3]"}, "Tile(%a) {shape=[1,0]}", "f64[2x0]"},
      {"depth_to_space", {"f64[2x8x3x2]"}, "DepthToSpace(%a) {axis=2}", "f64[2x2x6x4]"},
      {"depth_to_space_crd", {"f64[2x8x3x2]"}, "DepthToSpaceCRD(%a) {axis=2}", "f64[2x2x6x4]"},
      {"space_to_depth", {"f64[2x2x6x4]"}, "SpaceToDepth(%a) {axis=2}", "f64[2x8x3x2]"},
      {"one_hot_last", {"i64[2x3]", "f64[2]"}, "OneHot(%a, %b) {axis=2, depth=3}", "f64[2x3x3]"},
      {"one_hot_first", {"i32[2x3]", "f64[2]"}, "OneHot(%a, %b) {axis=0, depth=4}", "f64[4x2x3]"},
      {"trilu_upper", {"f64[2x3x5]"}, "Trilu(%a) {axis=1, reverse=true}", "f64[2x3x5]"},
      {"trilu_lower", {"f64[4x3]"}, "Trilu(%a) {axis=-1}", "f64[4x3]"},
      {"trilu_integers", {"i64[3x3]"}, "Trilu(%a) {axis=0}", "i64[3x3]"},
  };
  return table;
}

class RuleTest : public testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, EqualsTheOperator) {
  const Graph graph = one_node(GetParam().inputs, GetParam().node, GetParam().result);
  for (uint64_t seed : {1, 2, 3}) expect_fission_is_equal(graph, random_inputs(graph, seed));
}

TEST_P(RuleTest, KeepsOrigins) {
  const Graph graph = fission(one_node(GetParam().inputs, GetParam().node, GetParam().result));
  for (NodeId id : graph.topological_order()) {
    EXPECT_EQ(graph.node(id).origins, std::vector<std::string>{"node"}) << print(graph, id);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(rule_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Fission, LrnOfNothing) {
  const Graph graph =
      one_node({"f64[2x5x0x1]"}, "LRN(%a) {alpha=0.5, beta=0.5, bias=1, size=4}", "f64[2x5x0x1]");
  expect_fission_is_equal(graph, random_inputs(graph, 1));
}

// Variances must be positive, so this rule has a test of its own.
TEST(Fission, BatchNormalization) {
  const Graph graph = one_node({"f64[2x3x4x5]", "f64[3]", "f64[3]", "f64[3]", "f64[3]"},
                               "BatchNormalization(%a, %b, %c, %d, %e) {epsilon=0.001}", "f64[2x3x4x5]");
  std::vector<HostTensor> inputs = random_inputs(graph, 1);
  inputs[4] = HostTensor::of<double>(DType::f64, {3}, {0.5, 2, 1e-6});
  expect_fission_is_equal(graph, inputs);
}

TEST(Fission, BatchNormalizationOfConstantsIsOneScaleAndOneShift) {
  const Graph graph = parse_graph(R"(graph {
    input %x : f32[1x2x3x3] "x"
    %scale = Constant() {value=[1,2]} : f32[2]
    %bias = Constant() {value=[3,4]} : f32[2]
    %mean = Constant() {value=[5,6]} : f32[2]
    %variance = Constant() {value=[0.5,2]} : f32[2]
    %y = BatchNormalization(%x, %scale, %bias, %mean, %variance) {epsilon=0.001} : f32[1x2x3x3]
    output %y "y"
  })");
  const Graph result = fission(graph);
  EXPECT_EQ(count(result, Op::Constant), 2);
  EXPECT_EQ(count(result, Op::Mul), 1);
  EXPECT_EQ(count(result, Op::Add), 1);
  EXPECT_EQ(result.live_node_count(), 4u);
  const std::vector<HostTensor> inputs = random_inputs(graph, 1);
  expect_close(interpret(graph, inputs), interpret(result, inputs),
               1e-6);  // the folded constants are float32
}

TEST(Fission, EveryCompositeHasARule) {
  std::set<Op> with_rule;
  for (const FissionRule& rule : fission_rules())
    EXPECT_TRUE(with_rule.insert(rule.op).second) << name(rule.op);
#define X(op_name, category, ...) \
  EXPECT_TRUE(Category::category != Category::composite || with_rule.contains(Op::op_name)) << #op_name;
  KORCH_OPS(X)
#undef X
}

TEST(Fission, AConcatOfThousandsIsATreeOfSmallOnes) {
  for (const int count : {64, 65, 129, 5000}) {
    Graph graph;
    std::vector<ValueId> parts;
    for (int i = 0; i < count; ++i)
      parts.push_back(graph.add_input({DType::f32, {2, 1 + i % 3}}, "x" + std::to_string(i)));
    graph.set_outputs({graph.add(Op::Concat, AxisAttrs{1}, parts)}, {"y"});
    const Graph result = fission(graph);
    for (NodeId id : result.topological_order()) {
      EXPECT_EQ(result.node(id).op, Op::Concat);
      EXPECT_LE(result.node(id).inputs.size(), rules::kMostConcatInputs);
    }
    EXPECT_EQ(result.live_node_count() == 1, count == 64);
    const std::vector<HostTensor> inputs = random_inputs(graph, 1);
    expect_close(interpret(graph, inputs), interpret(result, inputs), 0);
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Fission, SoftmaxOfLargeLogitsDoesNotOverflow) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    const Graph graph = one_node({"f64[2x3]"}, std::string(op) + "(%a) {axis=1}", "f64[2x3]");
    const std::vector<HostTensor> inputs = {
        HostTensor::of<double>(DType::f64, {2, 3}, {1e4, 1e4 - 1, 0, -1e5, -1e5, -2e5})};
    expect_fission_is_equal(graph, inputs);
    for (const HostTensor& y : interpret(fission(graph), inputs)) {
      for (int64_t i = 0; i < y.elements(); ++i) EXPECT_FALSE(std::isnan(element_as_double(y, i)));
    }
  }
}

TEST(Fission, SoftmaxPropagatesNanAndInfinity) {
  const Graph graph = one_node({"f64[4x3]"}, "Softmax(%a) {axis=1}", "f64[4x3]");
  const std::vector<double> values = {1,          kNaN,       2,          -kInfinity, 1, 2,
                                      -kInfinity, -kInfinity, -kInfinity, kInfinity,  1, 2};
  expect_fission_is_equal(graph, {HostTensor::of<double>(DType::f64, {4, 3}, values)});
}

TEST(Fission, LogSumExpOfInfinities) {
  const Graph graph = one_node({"f64[4x2]"}, "ReduceLogSumExp(%a) {axes=[1], keepdims=false}", "f64[4]");
  const std::vector<double> values = {-kInfinity, -kInfinity, kInfinity, 0, 1e6, 1e6, -kInfinity, 3};
  const HostTensor x = HostTensor::of<double>(DType::f64, {4, 2}, values);
  const HostTensor y = interpret(fission(graph), {x})[0];
  EXPECT_EQ(element_as_double(y, 0), -kInfinity);
  EXPECT_EQ(element_as_double(y, 1), kInfinity);
  EXPECT_NEAR(element_as_double(y, 2), 1e6 + std::log(2.0), 1e-9);
  EXPECT_EQ(element_as_double(y, 3), 3);
}

TEST(Fission, VarianceOfLargeMeanDoesNotCancel) {
  const Graph graph = one_node({"f64[1x1x4]", "f64[1]", "f64[1]"},
                               "InstanceNormalization(%a, %b, %c) {epsilon=0}", "f64[1x1x4]");
  const HostTensor one = HostTensor::of<double>(DType::f64, {1}, {1});
  const HostTensor zero = HostTensor::of<double>(DType::f64, {1}, {0});
  const HostTensor x = HostTensor::of<double>(DType::f64, {1, 1, 4}, {1e9 - 1, 1e9 + 1, 1e9 - 1, 1e9 + 1});
  const HostTensor y = interpret(fission(graph), {x, one, zero})[0];
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(element_as_double(y, i), i % 2 == 0 ? -1 : 1, 1e-12);
}

// As ONNX Runtime: a slice of zeros stays zero.
TEST(Fission, LpNormalizationOfZeros) {
  for (const char* p : {"1", "2"}) {
    const Graph graph =
        one_node({"f64[2x2]"}, std::string("LpNormalization(%a) {axis=1, groups=") + p + "}", "f64[2x2]");
    const HostTensor x = HostTensor::of<double>(DType::f64, {2, 2}, {0, 0, 0, -4});
    const HostTensor expected = HostTensor::of<double>(DType::f64, {2, 2}, {0, 0, 0, -1});
    expect_close({expected}, interpret(fission(graph), {x}), 0);
  }
}

TEST(Fission, OneHotCountsNegativeIndicesFromTheEndAndIgnoresOthers) {
  const Graph graph = one_node({"i64[5]", "f64[2]"}, "OneHot(%a, %b) {axis=1, depth=3}", "f64[5x3]");
  expect_fission_is_equal(graph, {HostTensor::of<int64_t>(DType::i64, {5}, {-1, -3, 0, 3, -4}),
                                  HostTensor::of<double>(DType::f64, {2}, {-5, 7})});
}

TEST(Fission, NamesEveryRefusedNode) {
  const Graph graph = parse_graph(R"(graph {
    input %x : f32[2x2] "x"
    %a = LpNormalization(%x) {axis=1, groups=3} : f32[2x2] @ "first"
    %b = Resize(%a) {sizes=[4,4], scales=[2,2], coordinate_mode="tf_crop_and_resize"} : f32[4x4] @ "second"
    output %b "y"
  })");
  try {
    apply_fission_rules(graph);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    const std::string what = error.what();
    EXPECT_NE(what.find("'first'"), std::string::npos) << what;
    EXPECT_NE(what.find("'second'"), std::string::npos) << what;
    EXPECT_NE(what.find("tf_crop_and_resize"), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace korch::test
