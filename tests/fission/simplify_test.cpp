// Each simplification: what it makes of a small graph, that results stay, and what it must leave alone.
#include "korch/fission/simplify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "check.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch::test {
namespace {

// Simplifies, checks that the outputs stay, and returns the live operators in order, joined by spaces.
std::string simplified_operators(const std::string& body) {
  Graph graph = parse_graph("graph {\n" + body + "}\n");
  const std::vector<HostTensor> inputs = random_inputs(graph, 1);
  const std::vector<HostTensor> expected = interpret(graph, inputs);
  simplify(graph);
  verify(graph, GraphForm::primitive);
  expect_close(expected, interpret(graph, inputs), 1e-12);
  std::vector<std::string> operators;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op != Op::Constant) operators.push_back(name(graph.node(id).op));
  }
  return fmt::format("{}", fmt::join(operators, " "));
}

std::string chain(const std::string& type, const std::vector<std::string>& nodes) {
  std::string text = fmt::format("input %v0 : {} \"x\"\n", type);
  for (size_t i = 0; i < nodes.size(); ++i) text += fmt::format("%v{} = {}\n", i + 1, nodes[i]);
  return text + fmt::format("output %v{} \"y\"\n", nodes.size());
}

TEST(Simplify, RemovesIdentities) {
  EXPECT_EQ(simplified_operators(chain(
                "f64[2x3]", {"Reshape(%v0) {shape=[2,3]} : f64[2x3]",
                             "Transpose(%v1) {perm=[0,1]} : f64[2x3]", "Expand(%v2) {shape=[2,3]} : f64[2x3]",
                             "Slice(%v3) {starts=[0,0], sizes=[2,3], steps=[1,1]} : f64[2x3]",
                             "Pad(%v4) {before=[0,0], after=[0,0]} : f64[2x3]",
                             "Cast(%v5) {to=f64} : f64[2x3]", "Concat(%v6) {axis=1} : f64[2x3]",
                             "ReduceSum(%v7) {axes=[]} : f64[2x3]", "Neg(%v8) : f64[2x3]"})),
            "Neg");
}

TEST(Simplify, RemovesWhatHasNoElements) {
  const auto of_two = [](const std::string& types, const std::string& nodes) {
    return simplified_operators(types + nodes + "output %y \"y\"\n");
  };
  const std::string rows = "input %a : f64[0x3] \"a\"\ninput %b : f64[2x3] \"b\"\n";
  EXPECT_EQ(of_two(rows, "%c = Concat(%a, %b) {axis=0} : f64[2x3]\n%y = Exp(%c) : f64[2x3]\n"), "Exp");
  EXPECT_EQ(of_two(rows, "%y = Exp(%a) : f64[0x3]\n"), "");
  EXPECT_EQ(
      of_two(rows, "%s = ReduceSum(%a) {axes=[0], keepdims=true} : f64[1x3]\n%y = Sub(%b, %s) : f64[2x3]\n"),
      "");
  // A result larger than what is worth writing down stays one number.
  const std::string factors = "input %a : f64[700x0] \"a\"\ninput %b : f64[0x800] \"b\"\n";
  EXPECT_EQ(of_two(factors, "%y = MatMul(%a, %b) : f64[700x800]\n"), "Expand");
  EXPECT_EQ(of_two("input %a : f64[0] \"a\"\n",
                   "%y = Pad(%a) {before=[300000], after=[0], mode=constant, value=2.5} : f64[300000]\n"),
            "Expand");
}

TEST(Simplify, RemovesNeutralOperands) {
  const std::string constants =
      "%one = Constant() {value=[1,1,1]} : f64[3]\n%zero = Constant() {value=[0]} : f64[]\n";
  EXPECT_EQ(simplified_operators(
                "input %x : f64[2x3] \"x\"\n" + constants +
                "%a = Mul(%one, %x) : f64[2x3]\n%b = Add(%a, %zero) : f64[2x3]\n"
                "%c = Div(%b, %one) : f64[2x3]\n%d = Sub(%c, %zero) : f64[2x3]\n%e = Exp(%d) : f64[2x3]\n"
                "output %e \"y\"\n"),
            "Exp");
  // 0 - x and 1 / x are not x, and a neutral operand that broadcasts is needed for its shape.
  EXPECT_EQ(simplified_operators(
                "input %x : f64[3] \"x\"\n" + constants +
                "%two = Constant() {splat=1} : f64[7x3]\n"
                "%a = Sub(%zero, %x) : f64[3]\n%b = Div(%one, %a) : f64[3]\n%c = Mul(%b, %two) : f64[7x3]\n"
                "output %c \"y\"\n"),
            "Sub Div Mul");
}

TEST(Simplify, KeepsReversedAndStridedSlices) {
  EXPECT_EQ(
      simplified_operators(chain("f64[3]", {"Slice(%v0) {starts=[2], sizes=[3], steps=[-1]} : f64[3]"})),
      "Slice");
}

TEST(Simplify, MergesViews) {
  EXPECT_EQ(simplified_operators(chain("f64[2x3x4]", {"Reshape(%v0) {shape=[6,4]} : f64[6x4]",
                                                      "Reshape(%v1) {shape=[3,8]} : f64[3x8]",
                                                      "Transpose(%v2) {perm=[1,0]} : f64[8x3]"})),
            "Reshape Transpose");
  EXPECT_EQ(simplified_operators(chain("f64[2x3x4]", {"Transpose(%v0) {perm=[1,2,0]} : f64[3x4x2]",
                                                      "Transpose(%v1) {perm=[1,0,2]} : f64[4x3x2]"})),
            "Transpose");
  EXPECT_EQ(simplified_operators(
                chain("f64[2x3x4]", {"Transpose(%v0) {perm=[1,2,0]} : f64[3x4x2]",
                                     "Transpose(%v1) {perm=[2,0,1]} : f64[2x3x4]", "Exp(%v2) : f64[2x3x4]"})),
            "Exp");
  EXPECT_EQ(
      simplified_operators(chain("f64[20]", {"Slice(%v0) {starts=[17], sizes=[8], steps=[-2]} : f64[8]",
                                             "Slice(%v1) {starts=[1], sizes=[3], steps=[3]} : f64[3]"})),
      "Slice");
  EXPECT_EQ(simplified_operators(chain("f64[1x1x4]", {"Expand(%v0) {shape=[1,3,4]} : f64[1x3x4]",
                                                      "Expand(%v1) {shape=[2,3,4]} : f64[2x3x4]"})),
            "Expand");
}

TEST(Simplify, WhatMovesOnlyUnitAxesIsAReshape) {
  EXPECT_EQ(simplified_operators(
                chain("f64[1x3x1x4]", {"Transpose(%v0) {perm=[1,2,0,3]} : f64[3x1x1x4]",
                                       "Expand(%v1) {shape=[1,3,1,1,4]} : f64[1x3x1x1x4]",
                                       "ReduceMax(%v2) {axes=[0,2], keepdims=false} : f64[3x1x4]"})),
            "Reshape");
}

TEST(Simplify, GatherOfEvenlySpacedConstantsIsASlice) {
  const auto gather = [](const std::string& indices, const std::string& result) {
    return simplified_operators("input %x : f64[3x5x2] \"x\"\n%i = Constant() {value=" + indices +
                                "\n%y = Gather(%x, %i) {axis=1} : " + result + "\noutput %y \"y\"\n");
  };
  EXPECT_EQ(gather("[2]} : i64[]", "f64[3x2]"), "Slice Reshape");
  EXPECT_EQ(gather("[-1]} : i64[1]", "f64[3x1x2]"), "Slice");
  EXPECT_EQ(gather("[4,2,0]} : i64[3]", "f64[3x3x2]"), "Slice");
  EXPECT_EQ(gather("[1,2,3,4]} : i64[2x2]", "f64[3x2x2x2]"), "Slice Reshape");
  EXPECT_EQ(gather("[0,0]} : i64[2]", "f64[3x2x2]"), "Gather");
  EXPECT_EQ(gather("[0,1,3]} : i64[3]", "f64[3x3x2]"), "Gather");
}

TEST(Simplify, DropsExpandsWhereTheUserBroadcasts) {
  EXPECT_EQ(
      simplified_operators("input %x : f64[3x1] \"x\"\ninput %z : f64[2x3x4] \"z\"\n"
                           "%a = Expand(%x) {shape=[2,3,4]} : f64[2x3x4]\n%y = Add(%a, %z) : f64[2x3x4]\n"
                           "output %y \"y\"\n"),
      "Add");
  EXPECT_EQ(
      simplified_operators("input %x : f64[1x4x5] \"x\"\ninput %z : f64[2x3x4] \"z\"\n"
                           "%a = Expand(%x) {shape=[2,4,5]} : f64[2x4x5]\n%y = MatMul(%z, %a) : f64[2x3x5]\n"
                           "output %y \"y\"\n"),
      "MatMul");
  // A matmul does not broadcast the axis it sums over.
  EXPECT_EQ(simplified_operators("input %x : f64[3x1] \"x\"\ninput %z : f64[4x5] \"z\"\n"
                                 "%a = Expand(%x) {shape=[3,4]} : f64[3x4]\n%y = MatMul(%a, %z) : f64[3x5]\n"
                                 "output %y \"y\"\n"),
            "Expand MatMul");
  // Both are needed: the sum is larger than what it would read.
  EXPECT_EQ(simplified_operators("input %x : f64[3x1] \"x\"\n%a = Expand(%x) {shape=[3,4]} : f64[3x4]\n"
                                 "%y = Mul(%a, %a) : f64[3x4]\noutput %y \"y\"\n"),
            "Expand Mul");
}

TEST(Simplify, TransposesOfMatricesBecomeFlags) {
  const auto product = [](const std::string& x, const std::string& perm, const std::string& transposed) {
    return simplified_operators(fmt::format(
        "input %x : f64[{}] \"x\"\ninput %z : f64[2x3x4x5] \"z\"\n"
        "%t = Transpose(%x) {{perm=[{}]}} : f64[{}]\n%y = MatMul(%z, %t) : f64[2x3x4x6]\n"
        "%u = Transpose(%y) {{perm=[0,1,3,2]}} : f64[2x3x6x4]\n%v = MatMul(%u, %z) : f64[2x3x6x5]\n"
        "output %v \"y\"\n",
        x, perm, transposed));
  };
  EXPECT_EQ(product("2x3x6x5", "0,1,3,2", "2x3x5x6"), "MatMul MatMul");
  EXPECT_EQ(product("2x6x3x5", "0,2,3,1", "2x3x5x6"), "Transpose MatMul MatMul");
  EXPECT_EQ(product("2x5x3x6", "0,2,1,3", "2x3x5x6"), "Transpose MatMul MatMul");

  // A flag that is set already is cleared.
  EXPECT_EQ(simplified_operators("input %x : f64[3x4] \"x\"\n%t = Transpose(%x) {perm=[1,0]} : f64[4x3]\n"
                                 "%y = MatMul(%t, %x) {transpose_a=true, transpose_b=true} : f64[3x3]\n"
                                 "output %y \"y\"\n"),
            "MatMul");
  Graph graph = parse_graph(R"(graph {
    input %x : f64[2x6x3x5] "x"
    input %z : f64[2x3x4x5] "z"
    %t = Transpose(%x) {perm=[0,2,3,1]} : f64[2x3x5x6]
    %y = MatMul(%z, %t) : f64[2x3x4x6]
    output %y "y"
  })");
  simplify(graph);
  EXPECT_NE(print(graph).find("perm=[0,2,1,3]"), std::string::npos) << print(graph);
  EXPECT_NE(print(graph).find("transpose_b=true"), std::string::npos) << print(graph);
}

TEST(Simplify, TransposesMoveTheFinestAxes) {
  const auto simplified = [](const std::vector<std::string>& nodes) {
    Graph graph = parse_graph("graph {\n" + chain("f64[2x3x4x5]", nodes) + "}\n");
    simplify(graph);
    return print(graph);
  };
  // An image flattened and turned to rows of channels is NHWC, flattened.
  const std::vector<std::string> rows = {"Reshape(%v0) {shape=[2,3,20]} : f64[2x3x20]",
                                         "Transpose(%v1) {perm=[0,2,1]} : f64[2x20x3]",
                                         "Exp(%v2) : f64[2x20x3]"};
  EXPECT_EQ(simplified_operators(chain("f64[2x3x4x5]", rows)), "Transpose Reshape Exp");
  EXPECT_NE(simplified(rows).find("perm=[0,2,3,1]"), std::string::npos) << simplified(rows);
  // And back.
  const std::vector<std::string> image = {
      "Reshape(%v0) {shape=[2,12,5]} : f64[2x12x5]", "Exp(%v1) : f64[2x12x5]",
      "Transpose(%v2) {perm=[0,2,1]} : f64[2x5x12]", "Reshape(%v3) {shape=[2,5,4,1,3]} : f64[2x5x4x1x3]"};
  EXPECT_EQ(simplified_operators(chain("f64[2x3x4x5]", image)), "Reshape Exp Reshape Transpose");
  EXPECT_NE(simplified(image).find("perm=[0,4,1,2,3]"), std::string::npos) << simplified(image);
  // A reshape that merges and splits stays where it is.
  EXPECT_EQ(simplified_operators(chain(
                "f64[2x3x4x5]", {"Reshape(%v0) {shape=[6,2,10]} : f64[6x2x10]",
                                 "Transpose(%v1) {perm=[1,0,2]} : f64[2x6x10]", "Exp(%v2) : f64[2x6x10]"})),
            "Reshape Transpose Exp");
}

TEST(Simplify, ShrinksConstantsReadElementwise) {
  Graph graph = parse_graph(R"(graph {
    input %x : f64[4x5x6] "x"
    %big = Constant() {splat=0.5} : f64[4x5x6]
    %y = Mul(%x, %big) : f64[4x5x6]
    output %y "y"
  })");
  simplify(graph);
  EXPECT_EQ(graph.constant(graph.node(graph.value(graph.outputs()[0]).producers[0]).inputs[1])->shape(),
            Shape{});
}

// 4 x 600 x 600 indices, which are the same for each of the four: int32, and written once. What reads them in
// another order reads transposed ones.
TEST(Simplify, ConstantIndicesOfElementsAreNarrowAndWrittenOnce) {
  constexpr int64_t kRows = 600, kColumns = 590, kPlaces = 1000;
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {4, kRows, kPlaces}}, "x");
  HostTensor indices(TensorType{DType::i64, {4, kRows, kColumns}});
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const int64_t row = i / kColumns % kRows, column = i % kColumns;
    indices.mutable_data<int64_t>()[i] = (row * 7 + column * 13) % (2 * kPlaces) - kPlaces;
  }
  const ValueId found =
      graph.add(Op::GatherElements, AxisAttrs{2}, {x, graph.add_constant(indices, "indices")});
  graph.set_outputs({graph.add(Op::Transpose, PermAttrs{{0, 2, 1}}, {found})}, {"y"});
  const std::vector<HostTensor> inputs = random_inputs(graph, 1);
  const std::vector<HostTensor> expected = interpret(graph, inputs);
  simplify(graph);
  verify(graph, GraphForm::primitive);
  expect_close(expected, interpret(graph, inputs), 0);
  const Node& gather = graph.node(graph.value(graph.outputs()[0]).producers[0]);
  ASSERT_EQ(gather.op, Op::GatherElements);
  EXPECT_EQ(std::get<AxisAttrs>(gather.attrs).axis, 1);
  const Node& expand = graph.node(graph.value(gather.inputs[1]).producers[0]);
  ASSERT_EQ(expand.op, Op::Expand);
  ASSERT_NE(graph.constant(expand.inputs[0]), nullptr);
  EXPECT_EQ(to_string(graph.value(expand.inputs[0]).type), "i32[1x590x600]");
}

TEST(Simplify, IndicesOutsideTheAxisStayAsTheyAre) {
  Graph graph = parse_graph(R"(graph {
    input %x : f32[2x3] "x"
    %i = Constant() {value=[0,3]} : i64[2x1]
    %y = GatherElements(%x, %i) {axis=1} : f32[2x1]
    output %y "y"
  })");
  EXPECT_EQ(simplify(graph), 0);
}

TEST(Simplify, ReducesStrength) {
  const auto power = [](const std::string& before, const std::string& exponent) {
    return simplified_operators("input %x : f64[3] \"x\"\n%e = Constant() {value=[" + exponent +
                                "]} : f64[]\n%p = " + before +
                                " : f64[3]\n%y = Pow(%p, %e) : f64[3]\noutput %y \"y\"\n");
  };
  EXPECT_EQ(power("Neg(%x)", "2"), "Neg Mul");
  EXPECT_EQ(power("Neg(%x)", "3"), "Neg Mul Mul");
  EXPECT_EQ(power("Neg(%x)", "-1"), "Neg Reciprocal");
  EXPECT_EQ(power("Neg(%x)", "1"), "Neg");
  EXPECT_EQ(power("Abs(%x)", "0.5"), "Abs Sqrt");
  EXPECT_EQ(power("Neg(%x)", "0.5"), "Neg Pow");  // sqrt differs at -infinity
  EXPECT_EQ(power("Neg(%x)", "1.5"), "Neg Pow");
  const auto division = [](const std::string& divisor) {
    return simplified_operators("input %x : f64[2] \"x\"\n%c = Constant() {value=[" + divisor +
                                "]} : f64[2]\n%y = Div(%x, %c) : f64[2]\noutput %y \"y\"\n");
  };
  EXPECT_EQ(division("8,-0.5"), "Mul");
  EXPECT_EQ(division("8,3"), "Div");
  EXPECT_EQ(division("8,0"), "Div");
}

TEST(Simplify, MergesCommonNodesAndTheirOrigins) {
  Graph graph = parse_graph(R"(graph {
    input %x : f64[3] "x"
    %c = Constant() {value=[2]} : f64[]
    %d = Constant() {value=[2]} : f64[]
    %a = Mul(%x, %c) : f64[3] @ "first"
    %b = Mul(%x, %d) : f64[3] @ "second"
    %e = LeakyRelu(%a) {alpha=0.5} : f64[3]
    %f = LeakyRelu(%b) {alpha=0.25} : f64[3]
    %y = Add(%e, %f) : f64[3]
    output %y "y"
  })");
  simplify(graph);
  EXPECT_EQ(count(graph, Op::Mul), 1);
  EXPECT_EQ(count(graph, Op::Constant), 1);
  EXPECT_EQ(count(graph, Op::LeakyRelu), 2);
  const NodeId mul = graph.value(graph.inputs()[0]).users[0];
  EXPECT_EQ(graph.node(mul).op, Op::Mul);
  EXPECT_EQ(graph.node(mul).origins, (std::vector<std::string>{"first", "second"}));
}

TEST(Simplify, ConstantsAreTheSecondOperandOfSumsAndProducts) {
  Graph graph = parse_graph(R"(graph {
    input %x : f64[3] "x"
    %c = Constant() {value=[2,3,4]} : f64[3]
    %a = Add(%c, %x) : f64[3]
    %b = Add(%x, %c) : f64[3]
    %d = Mul(%c, %a) : f64[3]
    %e = Sub(%c, %b) : f64[3]
    %y = Max(%d, %e) : f64[3]
    output %y "y"
  })");
  simplify(graph);
  EXPECT_EQ(count(graph, Op::Add), 1);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (node.op == Op::Add || node.op == Op::Mul) {
      EXPECT_NE(graph.constant(node.inputs[1]), nullptr);
    }
    if (node.op == Op::Sub) {
      EXPECT_NE(graph.constant(node.inputs[0]), nullptr);
    }
  }
}

TEST(Simplify, FoldsConstantsButWritesNoLargeOnes) {
  EXPECT_EQ(simplified_operators(
                "input %x : f64[3] \"x\"\n%c = Constant() {value=[1,2,3]} : f64[3]\n%e = Exp(%c) : f64[3]\n"
                "%y = Add(%x, %e) : f64[3]\noutput %y \"y\"\n"),
            "Add");
  EXPECT_EQ(simplified_operators("input %x : f64[1024x1024] \"x\"\n%c = Constant() {value=[1]} : f64[]\n"
                                 "%e = Expand(%c) {shape=[1024,1024]} : f64[1024x1024]\n"
                                 "%y = Concat(%x, %e) {axis=0} : f64[2048x1024]\noutput %y \"y\"\n"),
            "Expand Concat");
}

}  // namespace
}  // namespace korch::test
