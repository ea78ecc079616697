// The proof obligation of every rewrite rule: what it adds computes the same, over finite fields and in
// float64, on random instances; and how much float32 error it adds.
#include <gtest/gtest.h>

#include <cmath>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/rewrite/alternatives.h"
#include "korch/rewrite/equivalence.h"
#include "random_floats.h"
#include "rule_instances.h"
#include "variants.h"

namespace korch {
namespace {

constexpr int kInstances = 12;  // random ones per rule

Equivalence prove(const Graph& a, const Graph& b, uint64_t seed) {
  EquivalenceOptions options;
  options.seed = seed;
  options.tests = 4;
  options.inputs = random_floats;
  return check_equivalence(a, b, options);
}

// Squared float32 errors against float64, of all outputs.
double squared_error(const Graph& graph, const std::vector<HostTensor>& inputs,
                     const std::vector<HostTensor>& exact) {
  const std::vector<HostTensor> rounded = interpret(graph, inputs, {Precision::native, nullptr});
  double sum = 0;
  for (size_t o = 0; o < exact.size(); ++o)
    for (int64_t i = 0; i < exact[o].elements(); ++i) {
      const double error = element_as_double(exact[o], i) - element_as_double(rounded[o], i);
      sum += error * error;
    }
  return sum;
}

class Rule : public testing::TestWithParam<RewriteRule> {};

TEST_P(Rule, ComputesTheSame) {
  const RewriteRule& rule = GetParam();
  const auto make = instances().find(rule.name);
  ASSERT_NE(make, instances().end()) << "a rule without instances: add some to rule_instances.cpp";
  double before = 0, after = 0;
  for (uint64_t seed = 1; seed <= kInstances; ++seed) {
    Instance instance(seed);
    const Graph graph = make->second(instance);
    const std::vector<Graph> others = variants(graph, rewrite_rules(), rule.name);
    ASSERT_FALSE(others.empty()) << "the rule did not match\n" << print(graph);
    for (const Graph& other : others) {
      const Equivalence result = prove(graph, other, seed);
      EXPECT_LT(result.float64_difference, 1e-9) << print(graph) << print(other);
      if (rule.over_field) {
        EXPECT_EQ(result.verdict, Verdict::equal) << result.field.why << print(graph) << print(other);
      }
      const std::vector<HostTensor> inputs = random_floats(graph, seed);
      const std::vector<HostTensor> exact = interpret(graph, inputs);
      before += squared_error(graph, inputs, exact);
      after += squared_error(other, inputs, exact);
    }
  }
  const double added = before > 0 ? std::sqrt(after / before) : after > 0 ? INFINITY : 1;
  RecordProperty("float32_error_over_original", std::to_string(added));
  std::printf("%-40s float32 error %.2f of the original's\n", rule.name, added);
  // Another order of summation moves errors about, by small factors on small instances.
  if (rule.strict) {
    EXPECT_LT(added, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rule, testing::ValuesIn(rewrite_rules()),
                         [](const auto& info) { return std::string(info.param.name); });

// A phase that is there twice stands in for one that is not.
TEST(Rules, ConvolutionOfSomePhasesIsNotStrided) {
  for (const int64_t last : {3, 2}) {
    Instance g(1);
    const ValueId x = g.input({1, 2, 6, 6});
    std::vector<ValueId> parts;
    for (const int64_t phase : {int64_t{0}, int64_t{1}, int64_t{2}, last})
      parts.push_back(
          g.op(Op::Slice, {x}, SliceAttrs{{0, 0, phase / 2, phase % 2}, {1, 2, 3, 3}, {1, 1, 2, 2}}));
    const ValueId y = g.conv(g.op(Op::Concat, parts, AxisAttrs{1}), g.weights({3, 8, 2, 2}));
    const std::vector<Graph> others =
        variants(g.finish({y}), rewrite_rules(), "phases_into_strided_convolution");
    EXPECT_EQ(others.empty(), last == 2);
  }
}

// Of halves that do not exist, or of few channels, there is no product by Strassen.
TEST(Rules, StrassenNeedsHalvesOfManyChannels) {
  for (const auto& [from, to, fits] : {std::tuple{128, 130, true},
                                       {129, 128, false},
                                       {128, 129, false},
                                       {126, 128, false},
                                       {128, 64, false}}) {
    Instance g(1);
    const ValueId y = g.conv(g.input({1, from, 2, 3}), g.weights({to, from, 1, 1}));
    EXPECT_EQ(variants(g.finish({y}), rewrite_rules(), "strassen").empty(), !fits) << from << " to " << to;
  }
}

// Nor may pixels of two images be a pair where the last images may be none of the run.
TEST(Rules, StrassenPairsPixelsOfOneImageWhereImagesAreFew) {
  for (const int64_t columns : {3, 4}) {
    Instance g(1);
    const ValueId y = g.conv(g.input({4, 128, 3, columns}), g.weights({128, 128, 1, 1}));
    Graph graph = g.finish({y});
    const ValueId count = graph.add_input({DType::i64, {}}, "n");
    graph.set_outputs({graph.outputs()[0], count}, {"y", "n"}, {{0, 0}});
    EXPECT_EQ(variants(graph, rewrite_rules(), "strassen").empty(), columns == 3);
  }
}

// Numbers of a larger range, weights beyond an int8, and floats stay what they are.
TEST(Rules, BytesHoldWholeNumbersOfTheirRange) {
  for (const auto& [low, high, weight, fits] : {std::tuple{0.F, 255.F, 127.F, true},
                                                {-1.F, 255.F, 127.F, false},
                                                {0.F, 254.5F, 127.F, false},
                                                {-255.F, 0.F, -128.F, true},
                                                {1.F, 200.F, 1.F, false},
                                                {0.F, 255.F, 128.F, false},
                                                {0.F, 255.F, 0.5F, false}}) {
    Instance g(1);
    const ValueId whole = g.op(Op::Round, {g.input({2, 3})});
    const ValueId x = g.op(Op::Min, {g.op(Op::Max, {whole, g.number(low)}), g.number(high)});
    const ValueId w = g.graph.add_constant(HostTensor::of<float>(DType::f32, {3, 1}, {1, weight, 2}));
    const std::vector<Graph> others =
        variants(g.finish({g.matmul(x, w)}), rewrite_rules(), "whole_numbers_as_bytes");
    EXPECT_EQ(others.empty(), !fits) << low << " to " << high << " times " << weight;
  }
}

// Where a pattern nearly fits: nothing is added that computes something else, or that is no graph.
struct NearMiss {
  const char* name;
  Graph (*make)(Instance&);
};

const NearMiss kNearMisses[] = {
    {"channels read backwards",
     [](Instance& g) {
       const ValueId x = g.twice_as_long(g.input({1, 3, 4, 4}), 2);
       const ValueId turned = g.op(Op::Slice, {x}, SliceAttrs{{0, 2, 0, 0}, {1, 3, 8, 4}, {1, -1, 1, 1}});
       return g.finish({g.conv(turned, g.weights({3, 3, 1, 1})), g.conv(turned, g.weights({2, 3, 1, 1}))});
     }},
    {"channels repeated along images of as many",
     [](Instance& g) {
       const ValueId x = g.op(Op::Expand, {g.input({2, 2, 3})}, ShapeAttrs{{2, 2, 2, 3}});
       return g.finish({g.conv(x, g.weights({2, 2, 1, 1}))});
     }},
    {"a sum of fewer matrices than the product has",
     [](Instance& g) {
       const ValueId x = g.input({1, 6, 8}), y = g.input({3, 8, 7});
       return g.finish({g.matmul(x, y), g.op(Op::ReduceSum, {x}, ReduceAttrs{{2}, true})});
     }},
    {"a column that a bias makes wider",
     [](Instance& g) {
       const ValueId column = g.matmul(g.input({4, 6}), g.weights({6, 1}));
       return g.finish({g.matmul(g.op(Op::Add, {column, g.weights({8})}), g.weights({8, 1}))});
     }},
    {"squares of what a broadcast number makes a matrix",
     [](Instance& g) {
       const ValueId d = g.op(Op::Sub, {g.number(1), g.input({2, 3})});
       return g.finish({g.op(Op::ReduceSum, {g.op(Op::Mul, {d, d})}, ReduceAttrs{{1}, false})});
     }},
    {"images repeated, as many as rows",
     [](Instance& g) {
       const ValueId apart = g.op(Op::Reshape, {g.input({2, 2, 2})}, ShapeAttrs{{2, 2, 2, 1, 1}});
       const ValueId repeated = g.op(Op::Expand, {apart}, ShapeAttrs{{2, 2, 2, 2, 1, 1}});
       const ValueId joined = g.op(Op::Reshape, {repeated}, ShapeAttrs{{2, 2, 4, 1}});
       ConvAttrs attrs;
       attrs.strides = attrs.dilations = {1, 1};
       attrs.pads_before = attrs.pads_after = {1, 0};
       return g.finish({g.op(Op::Conv, {joined, g.weights({3, 2, 3, 1})}, attrs)});
     }},
    {"merged columns that a bias gives another axis",
     [](Instance& g) {
       const ValueId x = g.input({1, 6});
       std::vector<ValueId> outputs;
       for (int i = 0; i < 2; ++i)
         outputs.push_back(g.op(Op::Add, {g.matmul(x, g.weights({6, 1})), g.weights({1, 1, 1})}));
       return g.finish(outputs);
     }},
};

TEST(Rules, NearMissesKeepTheirMeaning) {
  for (const NearMiss& near : kNearMisses) {
    SCOPED_TRACE(near.name);
    Instance instance(1);
    const Graph graph = near.make(instance);
    for (const RewriteRule& rule : rewrite_rules())
      for (const Graph& other : variants(graph, rewrite_rules(), rule.name))
        EXPECT_LT(prove(graph, other, 1).float64_difference, 1e-9) << rule.name << print(other);
    add_alternatives(graph, {});
  }
}

// (x / f) y is not (x y) / f where quotients are whole numbers.
TEST(Rules, WholeNumbersAreNotDividedLater) {
  for (const DType type : {DType::f32, DType::i32}) {
    Graph graph;
    const ValueId x = graph.add_input({type, {4, 64}}, "x"), f = graph.add_input({type, {4, 1}}, "f");
    const ValueId w = graph.add_input({type, {64, 2}}, "w");
    const ValueId y = graph.add(Op::MatMul, MatMulAttrs{}, {graph.add(Op::Div, NoAttrs{}, {x, f}), w});
    graph.set_outputs({y}, {"y"});
    EXPECT_EQ(variants(graph, rewrite_rules(), "factor_after_matmul").empty(), type == DType::i32);
  }
}

// One alternative whose constants are too large does not end the others.
TEST(Rules, LargeConstantsRefuseTheirAlternativeAlone) {
  constexpr int64_t kLarge = 512, kSmall = 16, kFeatures = 8;
  Instance g(1);
  std::vector<ValueId> outputs;
  for (const int64_t extent : {kLarge, kSmall}) {
    const ValueId x = g.input({2, extent});
    for (int i = 0; i < 2; ++i) outputs.push_back(g.matmul(x, g.weights({extent, kFeatures})));
  }
  const Graph graph = g.finish(outputs);
  const auto merged = [&](int64_t most_floats) {
    return add_alternatives(graph, {.only = {"merge_linear"},
                                    .limits = {.max_constant_bytes = most_floats * int64_t{sizeof(float)}}});
  };
  const Rewritten all = merged(2 * kFeatures * (kLarge + kSmall)), some = merged(2 * kFeatures * kSmall);
  EXPECT_EQ(all.limited.count("alternatives_constant_bytes"), 0u);
  EXPECT_EQ(all.applied.at("merge_linear"), 4);
  EXPECT_GT(some.limited.at("alternatives_constant_bytes"), 0);
  EXPECT_EQ(some.applied.at("merge_linear"), 2);
}

TEST(Rules, EveryInstanceHasItsRule) {
  for (const auto& [name, make] : instances()) {
    bool known = false;
    for (const RewriteRule& rule : rewrite_rules()) known = known || rule.name == name;
    EXPECT_TRUE(known) << name;
  }
}

// Where the mean is a hundred deviations, and where the first element is far from all others.
TEST(Rules, SquaresInOnePassKeepTheirDigits) {
  Instance instance(1);
  const Graph graph = mean_and_squares(instance);
  for (const Graph& other : variants(graph, rewrite_rules(), "squares_in_one_pass")) {
    for (const bool outlier : {false, true}) {
      std::vector<HostTensor> inputs = random_floats(graph, 1);
      float* x = inputs[0].mutable_data<float>();
      for (int64_t i = 0; i < inputs[0].elements(); ++i) x[i] = outlier ? 1e-3f * x[i] : x[i] + 100;
      if (outlier) x[0] = 100;
      const std::vector<HostTensor> exact = interpret(graph, inputs),
                                    rounded = interpret(other, inputs, {Precision::native, nullptr});
      const double n = static_cast<double>(inputs[0].shape()[1]);
      for (size_t o = 0; o < exact.size(); ++o)
        for (int64_t i = 0; i < exact[o].elements(); ++i) {
          const double wanted = element_as_double(exact[o], i);
          EXPECT_NEAR(element_as_double(rounded[o], i), wanted, 4 * n * 6e-8 * std::abs(wanted));
        }
    }
    std::vector<HostTensor> flat = random_floats(graph, 1);
    std::fill_n(flat[0].mutable_data<float>(), flat[0].elements(), 12345.678f);
    EXPECT_GE(element_as_double(interpret(other, flat, {Precision::native, nullptr})[0], 0), 0);
  }
  const Rewritten strict = add_alternatives(graph, {.strict = true});
  EXPECT_EQ(strict.applied.count("squares_in_one_pass"), 0u);
  EXPECT_EQ(std::count(strict.rules.begin(), strict.rules.end(), "winograd"), 0);
}

// A rule that is wrong does not get past its obligation.
struct Wrong {
  const char* name;
  RewriteRule rule;
  const char* instance;
  bool of_result = false;  // it looks at what the instance's own rule makes
};

RewriteRule wrong_rule(Op root, void (*apply)(Rewriter&, NodeId)) {
  return {"wrong", "", "", "", /*strict=*/true, /*dominates=*/false, /*over_field=*/true, {root}, apply};
}

ValueId other_way(Rewriter& r, const Node& node, std::vector<ValueId> inputs) {
  return r.emit(node.op, node.attrs, std::move(inputs));
}

// The transposition with two axes of its result exchanged.
void swap_axes(Rewriter& r, NodeId id, const std::vector<int64_t>& perm, size_t a, size_t b) {
  const Node transpose = r.node(id);
  if (std::get<PermAttrs>(transpose.attrs).perm != perm) return;
  std::vector<int64_t> other = perm;
  std::swap(other[a], other[b]);
  const Shape& out = r.shape(transpose.outputs[0]);
  if (out[a] != out[b]) return;
  r.equate(transpose.outputs[0], r.transpose(transpose.inputs[0], other));
}

TEST(Rules, WrongOnesAreCaught) {
  const std::vector<Wrong> wrong = {
      {"factor dropped",
       wrong_rule(Op::MatMul,
                  [](Rewriter& r, NodeId id) {
                    const Node matmul = r.node(id);
                    if (const auto mul = r.producer(matmul.inputs[0], Op::Mul))
                      r.equate(matmul.outputs[0], other_way(r, matmul, {mul->inputs[1], matmul.inputs[1]}));
                    if (const auto div = r.producer(matmul.inputs[0], Op::Div))
                      r.equate(matmul.outputs[0], other_way(r, matmul, {div->inputs[0], matmul.inputs[1]}));
                  }),
       "factor_after_matmul"},
      {"term forgotten",
       wrong_rule(Op::MatMul,
                  [](Rewriter& r, NodeId id) {
                    const Node matmul = r.node(id);
                    const auto sum = r.producer(matmul.inputs[0], Op::Add);
                    const auto difference = r.producer(matmul.inputs[0], Op::Sub);
                    if (sum || difference)
                      r.equate(matmul.outputs[0],
                               other_way(r, matmul, {(sum ? sum : difference)->inputs[0], matmul.inputs[1]}));
                  }),
       "vector_before_linear"},
      {"mean forgotten",
       wrong_rule(Op::ReduceSum,
                  [](Rewriter& r, NodeId id) {
                    const Node sum = r.node(id);
                    const auto square = r.producer(sum.inputs[0], Op::Mul);
                    const auto centred = square ? r.producer(square->inputs[0], Op::Sub) : std::nullopt;
                    if (!centred) return;
                    const ValueId x = centred->inputs[0];
                    r.equate(sum.outputs[0], r.emit(Op::ReduceSum, sum.attrs, {r.emit(Op::Mul, {x, x})}));
                  }),
       "squares_in_one_pass"},
      {"partial sums over different maxima",
       wrong_rule(
           Op::MatMul,
           [](Rewriter& r, NodeId id) {
             const Node matmul = r.node(id);
             const auto softmax = r.producer(matmul.inputs[0], Op::Mul);
             const auto exp = softmax ? r.producer(softmax->inputs[1], Op::Exp) : std::nullopt;
             if (!exp) return;
             const ValueId scores = r.producer(exp->inputs[0], Op::Sub)->inputs[0];
             const int64_t axis = r.rank(scores) - 1, half = r.shape(scores).back() / 2;
             const ReduceAttrs along{{axis}, true};
             std::vector<ValueId> products, sums;
             for (int64_t begin : {int64_t{0}, half}) {
               const ValueId part = r.slice(scores, axis, begin, half);
               const ValueId largest = r.emit(Op::ReduceMax, along, {part});
               const ValueId weights = r.emit(Op::Exp, {r.emit(Op::Sub, {part, largest})});
               const int64_t keys = axis - (std::get<MatMulAttrs>(matmul.attrs).transpose_b ? 0 : 1);
               products.push_back(
                   other_way(r, matmul, {weights, r.slice(matmul.inputs[1], keys, begin, half)}));
               sums.push_back(r.emit(Op::ReduceSum, along, {weights}));
             }
             r.equate(matmul.outputs[0], r.emit(Op::Div, {r.emit(Op::Add, products), r.emit(Op::Add, sums)}));
           }),
       "factor_after_matmul"},
      {"halves of the result swapped",
       wrong_rule(Op::Concat,
                  [](Rewriter& r, NodeId id) {
                    const Node concat = r.node(id);
                    std::vector<ValueId> inputs = concat.inputs;
                    std::swap(inputs[0], inputs[1]);
                    r.equate(concat.outputs[0], r.reshape(r.concat(inputs, 1), r.shape(concat.outputs[0])));
                  }),
       "concat_of_slices_before_linear"},
      {"a window too small",
       wrong_rule(Op::WindowMax,
                  [](Rewriter& r, NodeId id) {
                    const Node node = r.node(id);
                    if (std::get<PoolAttrs>(node.attrs).kernel[0] == 3) return;
                    r.equate(node.outputs[0], r.emit(Op::WindowMax, window(3), {node.inputs[0]}));
                  }),
       "window_of_window"},
      {"phases of rows and columns swapped",
       wrong_rule(Op::Transpose,
                  [](Rewriter& r, NodeId id) {
                    swap_axes(r, id, {0, 3, 4, 1, 5, 2}, 3, 5);
                  }),
       "upsampling_into_convolution", true},
      {"a piece moved too little",
       wrong_rule(Op::Slice,
                  [](Rewriter& r, NodeId id) {
                    const Node slice = r.node(id);
                    auto cut = std::get<SliceAttrs>(slice.attrs);
                    if (cut.starts[3] == 0) return;
                    --cut.starts[3];
                    r.equate(slice.outputs[0], r.emit(Op::Slice, cut, slice.inputs));
                  }),
       "large_kernel_as_small_ones", true},
  };
  for (const Wrong& w : wrong) {
    SCOPED_TRACE(w.name);
    size_t tried = 0;  // an instance need not have what the wrong rule looks for
    for (uint64_t seed = 1; seed <= kInstances; ++seed) {
      Instance instance(seed);
      Graph graph = instances().at(w.instance)(instance);
      if (w.of_result) graph = variants(graph, rewrite_rules(), w.instance).at(0);
      const std::vector<Graph> others = variants(graph, {w.rule}, "wrong");
      for (const Graph& other : others) EXPECT_NE(prove(graph, other, seed).verdict, Verdict::equal);
      tried += others.size();
    }
    EXPECT_GT(tried, 0u);
  }
}

TEST(Rules, LimitsAreNamed) {
  Instance instance(1);
  const Graph graph = instances().at("merge_linear")(instance);
  EXPECT_GT(add_alternatives(graph, {.limits = {.max_growth = 0, .free_nodes = 0}})
                .limited.at("alternatives_nodes"),
            0);
  EXPECT_GT(add_alternatives(graph, {.limits = {.max_producers = 1}}).limited.at("alternatives_per_value"),
            0);
  EXPECT_GT(add_alternatives(graph, {.limits = {.max_constant_bytes = 0}})
                .limited.at("alternatives_constant_bytes"),
            0);
  EXPECT_GT(add_alternatives(graph, {.limits = {.rounds = 1}}).limited.at("alternatives_rounds"), 0);
  EXPECT_THROW(add_alternatives(graph, {.only = {"no_such_rule"}}), Error);
}

// Without alternatives every Value keeps one producer, and no node is named that is not there.
TEST(Rules, WhatDominatesTakesItsPlace) {
  for (const auto& [name, make] : instances()) {
    Instance instance(3);
    const Rewritten rewritten = add_alternatives(make(instance), {.alternatives = false});
    for (ValueId value = 0; value < rewritten.graph.value_count(); ++value)
      EXPECT_LE(rewritten.graph.value(value).producers.size(), 1u) << name;
    for (const auto& [id, rule] : rewritten.rule_of) EXPECT_LT(id, rewritten.graph.node_count()) << name;
    EXPECT_EQ(print(rewritten.graph), print(rewritten.base)) << name;
  }
}

// What does the work of several ONNX nodes names all of them.
TEST(Rules, WhatIsAddedStemsFromAllThatItCovers) {
  const auto expect = [](const std::string& rule, const std::string& wanted, const std::string& nodes) {
    const Rewritten rewritten =
        add_alternatives(parse_graph("graph {\n" + nodes + "output %y \"y\"\n}"), {.only = {rule}});
    EXPECT_NE(print(rewritten.graph).find(wanted), std::string::npos) << rule << ": no " << wanted << " in\n"
                                                                      << print(rewritten.graph);
  };
  const std::string softmax = R"(
  %w.1 = ReduceMax(%s) {axes=[2]} @ "softmax"
  %w.2 = Sub(%s, %w.1) @ "softmax"
  %w.3 = Exp(%w.2) @ "softmax"
  %w.4 = ReduceSum(%w.3) {axes=[2]} @ "softmax"
  %w = Div(%w.3, %w.4) @ "softmax"
  %y = MatMul(%w, %v) @ "mix"
)";
  expect("factor_after_matmul", R"(%w.4) @ "mix", "softmax")", R"(
  input %s : f32[4x16x16] "s"
  input %v : f32[4x16x8] "v")" + softmax);
  expect("factor_into_constant", R"(@ "scale", "linear")", R"(
  input %x : f32[2x3] "x"
  %c = Constant() {value=[0.125]} : f32[]
  %a = Constant() {splat=2} : f32[3x4]
  %p = MatMul(%x, %a) @ "linear"
  %y = Mul(%p, %c) @ "scale"
)");
  expect("tanh_of_softplus", R"(@ "tanh", "softplus")", R"(
  input %x : f32[8] "x"
  %s = Softplus(%x) @ "softplus"
  %y = Tanh(%s) @ "tanh"
)");
  expect("merge_linear", R"(@ "first", "second")", R"(
  input %x : f32[2x3] "x"
  %a = Constant() {splat=2} : f32[3x4]
  %b = Constant() {splat=3} : f32[3x4]
  %p = MatMul(%x, %a) @ "first"
  %q = MatMul(%x, %b) @ "second"
  %y = Div(%p, %q) @ "ratio"
)");
  expect("compose_constant_matmuls", R"(@ "outer", "inner")", R"(
  input %x : f32[8x2] "x"
  %a = Constant() {splat=2} : f32[2x8]
  %b = Constant() {splat=3} : f32[8x2]
  %p = MatMul(%x, %a) @ "inner"
  %y = MatMul(%p, %b) @ "outer"
)");
  expect("vector_before_linear", R"(@ "linear", "scale")", R"(
  input %x : f32[2x3] "x"
  %c = Constant() {value=[1,2,3]} : f32[3]
  %a = Constant() {splat=2} : f32[3x4]
  %s = Mul(%x, %c) @ "scale"
  %y = MatMul(%s, %a) @ "linear"
)");
  expect("factors_after_linear", R"(@ "scale", "linear", "bias")", R"(
  input %x : f32[2x3] "x"
  %c = Constant() {value=[1,2,3,4]} : f32[4]
  %d = Constant() {value=[5,6,7,8]} : f32[4]
  %a = Constant() {splat=2} : f32[3x4]
  %p = MatMul(%x, %a) @ "linear"
  %s = Add(%p, %d) @ "bias"
  %y = Mul(%s, %c) @ "scale"
)");
  expect("constants_together", R"(@ "outer", "inner")", R"(
  input %x : f32[3] "x"
  %c = Constant() {value=[1,2,3]} : f32[3]
  %d = Constant() {value=[4,5,6]} : f32[3]
  %s = Add(%x, %c) @ "inner"
  %y = Add(%s, %d) @ "outer"
)");
}

// Constants that alternatives need are computed, so that they cost nothing at run time.
TEST(Rules, ConstantsAreFolded) {
  for (const auto& [name, make] : instances()) {
    Instance instance(2);
    const Rewritten rewritten = add_alternatives(make(instance), {});
    verify(rewritten.graph, GraphForm::primitive);
    for (NodeId id : rewritten.graph.topological_order()) {
      const Node& node = rewritten.graph.node(id);
      if (node.op == Op::Constant) continue;
      const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId value) {
        return rewritten.graph.constant(value) != nullptr;
      });
      EXPECT_FALSE(constant) << name << ": " << print(rewritten.graph, id);
    }
  }
}

}  // namespace
}  // namespace korch
