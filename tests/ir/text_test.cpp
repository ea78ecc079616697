#include "korch/ir/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace korch {
namespace {

void expect_round_trip(const Graph& graph) {
  const std::string text = print(graph);
  const Graph parsed = parse_graph(text, large_constants(graph));
  EXPECT_EQ(print(parsed), text);
  EXPECT_EQ(parsed.live_node_count(), graph.live_node_count());
}

std::string error_of(const std::string& text) {
  try {
    parse_graph(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Text, RoundTripsEveryKindOfAttribute) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 4, 8, 8}}, "in/put:0");
  const ValueId w = g.add_constant(HostTensor({DType::f32, {4, 4, 3, 3}}), "w");
  const ValueId c =
      g.add(Op::Conv, ConvAttrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {}, 1}, {x, w}, {"Conv \"0\"", "b\\c"}, "c");
  const ValueId p = g.add(Op::Pad, PadAttrs{{0, 0, 1, 1}, {0, 0, 1, 1}, PadMode::reflect, 0.1}, {c}, {}, "c");
  const ValueId s = g.add(Op::Slice, SliceAttrs{{0, 3, 0, 9}, {1, 4, 5, 4}, {1, -1, 2, -2}}, {p});
  const ValueId r = g.add(Op::ReduceSum, ReduceAttrs{{2, 3}, false}, {s});
  const ValueId l = g.add(Op::LeakyRelu, ScalarAttrs{1.0 / 3, 0}, {r});
  const NodeId top = g.add_node(Op::TopK, TopKAttrs{1, 2, false, true}, {l});
  ResizeAttrs resize;
  resize.sizes = {1, 4, 16, 16};
  resize.scales = {1, 1, 2, 2.5};
  resize.mode = "linear";
  const ValueId z = g.add(Op::Resize, resize, {c});
  const ValueId e = g.add(Op::Einsum, EinsumAttrs{"abcd->ab"}, {z});
  const ValueId k = g.add(Op::Cast, CastAttrs{DType::i32}, {e});
  const ValueId a = g.add(Op::ArgMax, ArgReduceAttrs{1, false, true}, {l});
  const ValueId n = g.add(Op::CumSum, ScanAttrs{0, true, true}, {l});
  g.set_outputs({g.node(top).outputs[1], k, a, n}, {"indices", "k", "a", "x y"});
  expect_round_trip(g);
}

TEST(Text, RoundTripsConstantsByContent) {
  Graph g;
  const ValueId f =
      g.add_constant(HostTensor::of<float>(DType::f32, {5}, {0.1f, -0.0f, NAN, -INFINITY, 1e-42f}));
  const ValueId d = g.add_constant(HostTensor::of<double>(DType::f64, {}, {1.0 / 3}));
  const ValueId i = g.add_constant(HostTensor::of<int64_t>(DType::i64, {2}, {INT64_MIN, INT64_MAX}));
  const ValueId u = g.add_constant(HostTensor::of<uint64_t>(DType::u64, {1}, {UINT64_MAX}));
  const ValueId b = g.add_constant(HostTensor::of<uint8_t>(DType::bool_, {2}, {1, 0}));
  const ValueId h = g.add_constant(HostTensor::of<uint16_t>(DType::f16, {2}, {0x3555, 0x0001}));
  const ValueId e = g.add_constant(HostTensor({DType::f32, {0, 3}}));
  HostTensor large({DType::f32, {20}});
  for (int k = 0; k < 20; ++k) large.mutable_data<float>()[k] = 0.5f;
  const ValueId splat = g.add_constant(large);
  HostTensor ramp({DType::i32, {20}});
  for (int k = 0; k < 20; ++k) ramp.mutable_data<int32_t>()[k] = k;
  const ValueId hashed = g.add_constant(ramp);
  const std::vector<ValueId> all = {f, d, i, u, b, h, e, splat, hashed};
  g.set_outputs(all, {"f", "d", "i", "u", "b", "h", "e", "splat", "hashed"});
  expect_round_trip(g);
  const Graph parsed = parse_graph(print(g), large_constants(g));
  for (size_t at = 0; at < all.size(); ++at) {
    const ConstantAttrs ours{*g.constant(all[at])}, theirs{*parsed.constant(parsed.outputs()[at])};
    EXPECT_TRUE(ours == theirs) << g.output_names()[at];
  }
  EXPECT_NE(error_of(print(g)).find("no constant with hash"), std::string::npos);
}

TEST(Text, RoundTripsAlternatives) {
  const std::string text = R"(graph {
  input %x : f32[4x6] "x"
  %a = Relu(%x) : f32[4x6] @ "Relu_0"
  %b = Transpose(%a) {perm=[1,0]} : f32[6x4]
  %zero = Constant() {value=[0]} : f32[]
  %a |= Max(%x, %zero) @ "rule"
  %a |= Transpose(%b) {perm=[1,0]}
  output %b "y"
}
)";
  const Graph graph = parse_graph(text);
  verify(graph, GraphForm::primitive);
  EXPECT_EQ(graph.value(graph.node(0).outputs[0]).producers.size(), 3u);
  expect_round_trip(graph);
}

TEST(Text, AlternativeMayMakeItsOwnValueBeforeTheOtherProducer) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {8}}, "x");
  const ValueId v = g.add(Op::Relu, NoAttrs{}, {x}, {}, "v");
  const NodeId top = g.add_alternative(Op::TopK, TopKAttrs{0, 8, true, true}, {x}, {v, kNoId});
  const ValueId indices = g.node(top).outputs[1];
  const ValueId again = g.add(Op::Cast, CastAttrs{DType::i64}, {v});
  g.replace_uses(again, indices);
  g.set_outputs({indices}, {"i"});
  expect_round_trip(g);
}

TEST(Text, OpenDimensions) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {8, 2}}, "x"), z = g.add_input({DType::f32, {2, 8}}, "z");
  const ValueId rows = g.add_input({DType::i64, {}}, "n"), other = g.add_input({DType::i64, {}}, "m");
  g.set_outputs({g.add(Op::MatMul, MatMulAttrs{}, {x, z}), rows, other}, {"y", "n", "m"}, {{0, 0}, {0, 1}});
  g.set_open_dimensions({{"n", 1, 8, {{0, 0}, {1, 1}}}, {"m", 0, 2, {{1, 0}}}});
  verify(g, GraphForm::imported);
  const Graph again = parse_graph(print(g));
  EXPECT_EQ(print(again), print(g));
  EXPECT_EQ(again.open_dimensions(), g.open_dimensions());
  g.set_open_dimensions({{"n", 1, 7, {{0, 0}}}, {"m", 0, 2, {{1, 0}}}});
  EXPECT_THROW(verify(g, GraphForm::imported), Error);
}

TEST(Text, States) {
  Graph g;
  const ValueId past = g.add_input({DType::f32, {4, 2}}, "past"),
                fresh = g.add_input({DType::f32, {1, 2}}, "fresh"), h = g.add_input({DType::f32, {3}}, "h"),
                n = g.add_input({DType::i64, {}}, "n");
  const ValueId one = g.add_constant(HostTensor::of<int64_t>(DType::i64, {}, {1}));
  g.set_outputs({g.add(Op::Append, AppendAttrs{0, 5}, {past, fresh, n, one, n}),
                 g.add(Op::Abs, NoAttrs{}, {h}), g.add(Op::Add, NoAttrs{}, {n, one})},
                {"present", "next", "total"}, {{0, 0}});
  g.set_open_dimensions({{"n", 0, 4, {{0, 0}}}});
  const std::vector<StatePair> states = {{0, 0, 0}, {2, 1, -1}};
  g.set_states(states);
  verify(g, GraphForm::imported);
  const Graph again = parse_graph(print(g));
  EXPECT_EQ(print(again), print(g));
  EXPECT_EQ(again.states(), states);
  EXPECT_EQ(g.compact().states(), states);
  for (const std::vector<StatePair>& wrong : std::vector<std::vector<StatePair>>{{{0, 0, 1}},
                                                                                 {{1, 0, 0}},
                                                                                 {{0, 0, -1}},
                                                                                 {{0, 1, -1}},
                                                                                 {{2, 1, -1}, {2, 1, -1}},
                                                                                 {{2, 2, -1}},
                                                                                 {{3, 1, -1}}}) {
    g.set_states(wrong);
    EXPECT_THROW(verify(g, GraphForm::imported), Error);
  }
}

TEST(Text, OpenDimensionsThatFollowOthers) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {4, 9}}, "x"), n = g.add_input({DType::i64, {}}, "n"),
                m = g.add_input({DType::i64, {}}, "m");
  g.set_outputs({g.add(Op::Abs, NoAttrs{}, {x}), n, m}, {"y", "n", "m"}, {{0, 0}, {0, 1}});
  g.set_open_dimensions({{"n", 1, 4, {{0, 0}}}, {"m", 3, 9, {{0, 1}}, ExtentSum{1, {{0, 2}}}}});
  verify(g, GraphForm::imported);
  const Graph again = parse_graph(print(g));
  EXPECT_EQ(print(again), print(g));
  EXPECT_EQ(again.open_dimensions(), g.open_dimensions());
  g.set_open_dimensions(
      {{"n", 1, 4, {{0, 0}}, ExtentSum{0, {{1, 1}}}}, {"m", 3, 9, {{0, 1}}, ExtentSum{1, {{0, 2}}}}});
  EXPECT_THROW(verify(g, GraphForm::imported), Error);
}

TEST(Text, OpenDimensionsOfWhichSomeExtentsFit) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {9}}, "x"), n = g.add_input({DType::i64, {}}, "n");
  g.set_outputs({g.add(Op::Abs, NoAttrs{}, {x}), n}, {"y", "n"}, {{0, 0}});
  g.set_open_dimensions({{"n", 1, 9, {{0, 0}}, {}, {{1, 1, 1}, {2, 8, 2}}}});
  verify(g, GraphForm::imported);
  EXPECT_NE(print(g).find("open 1 9 of 0 0 fits 1 1 1, 2 8 2"), std::string::npos) << print(g);
  const Graph again = parse_graph(print(g));
  EXPECT_EQ(print(again), print(g));
  EXPECT_EQ(again.open_dimensions(), g.open_dimensions());
  for (const ExtentSteps& wrong : {ExtentSteps{0, 4, 1}, ExtentSteps{2, 10, 1}, ExtentSteps{2, 8, 0}}) {
    g.set_open_dimensions({{"n", 1, 9, {{0, 0}}, {}, {wrong}}});
    EXPECT_THROW(verify(g, GraphForm::imported), Error);
  }
}

TEST(Text, NamesMayLookLikeComments) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {2}}, "//n");
  g.set_outputs({g.add(Op::Abs, NoAttrs{}, {x}, {}, "/a//b")}, {"//y"});
  expect_round_trip(g);
}

TEST(Text, EqualNamesBecomeUnique) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {2}}, "n");
  const ValueId a = g.add(Op::Abs, NoAttrs{}, {x}, {}, "n");
  const ValueId b = g.add(Op::Neg, NoAttrs{}, {a}, {}, "n.1");
  g.set_outputs({b}, {"n"});
  expect_round_trip(g);
}

TEST(Text, ErrorsNameThePlace) {
  EXPECT_EQ(error_of("graph {\n  %y = Relu(%x)\n}"), "line 2, column 15: %x is not defined before its use");
  EXPECT_NE(error_of("graph {\n  input %x : f33[2] \"x\"\n}").find("unknown element type 'f33'"),
            std::string::npos);
  EXPECT_NE(error_of("graph { %y = Foo() }").find("unknown operator 'Foo'"), std::string::npos);
  EXPECT_NE(error_of("graph { input %x : f32[2] \"x\" %y = Relu(%x) : f32[3] }").find("%y has type f32[2]"),
            std::string::npos);
  EXPECT_NE(
      error_of("graph { input %x : f32[2] \"x\" %y = Relu(%x) {alpha=1} }").find("no attribute 'alpha'"),
      std::string::npos);
  EXPECT_NE(error_of("graph { input %x : f32[2] \"x\"").find("expected"), std::string::npos);
  EXPECT_NE(error_of("graph { } x").find("text after the graph"), std::string::npos);
  const std::string half = " = Constant() {splat=1} : f32[134217729]";
  EXPECT_NE(error_of("graph { %a" + half + " %b" + half + " }").find("splat constants of more than"),
            std::string::npos);
}

}  // namespace
}  // namespace korch
