// What a small file may not grow to: folded constants of loops that are written out, graphs within graphs.
#include <gtest/gtest.h>

#include "expect_error.h"
#include "korch/onnx/import.h"
#include "model_builder.h"
#include "subgraphs.h"

namespace korch {
namespace {

using onnx::proto::GraphProto;
using onnx::proto::NodeProto;

int64_t constant_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id)
    if (const Node& node = graph.node(id); !node.dead && node.op == Op::Constant)
      bytes += graph.value(node.outputs[0]).type.bytes();
  return bytes;
}

// s = concat(s, s), or concat(s, -s), so many times, of 1,024 floats; then plus x.
ModelBuilder doubling(int64_t steps, bool negated) {
  ModelBuilder b(21);
  b.input("x", {1}).output("z");
  b.initializer("n", HostTensor::of<int64_t>(DType::i64, {}, {steps}));
  b.initializer("yes", HostTensor::of<bool>(DType::bool_, {}, {true}));
  b.initializer("s", HostTensor(TensorType{DType::f32, {1024}}));
  NodeProto& node = b.node("Loop", {"n", "yes", "s"}, {"all"}, "it");
  GraphProto& body = body_of(node, "body");
  add_inputs(body, {"i", "c", "before"});
  add(body, "Identity", {"c"}, "goes_on");
  add(body, "Neg", {"before"}, "negative");
  set_attribute(add(body, "Concat", {"before", negated ? "negative" : "before"}, "after"), "axis", 0);
  add_outputs(body, {"goes_on", "after"});
  b.node("Add", {"all", "x"}, {"z"});
  return b;
}

TEST(FoldingLimit, HoldsInLoopsThatAreWrittenOut) {
  ImportOptions options;
  options.max_folding_growth_bytes = 1 << 20;
  for (const bool negated : {false, true}) {
    const Graph graph = import_onnx_bytes(doubling(14, negated).bytes(), options);  // 64 MiB in the end
    EXPECT_LE(constant_bytes(graph), 2 * options.max_folding_growth_bytes);
    EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{1024 << 14}));
  }
}

TEST(FoldingLimit, WhatFitsIsFolded) {
  const Graph graph = import_onnx_bytes(doubling(8, true).bytes());
  EXPECT_EQ(constant_bytes(graph), (1024 << 8) * 4);
}

// Conditions that the data decide, one within the other; -x in the innermost.
ModelBuilder nested(int levels) {
  ModelBuilder b(21);
  b.input("x", {1}).input("c", {}, /*data_type=*/9).output("z");
  GraphProto* graph = b.model.mutable_graph();
  std::string result = "z";
  for (int level = 0; level < levels; ++level) {
    NodeProto& node = add(*graph, "If", {"c"}, result);
    result = "y" + std::to_string(level);
    GraphProto& no = body_of(node, "else_branch");
    add(no, "Identity", {"x"}, result + "n");
    add_outputs(no, {result + "n"});
    graph = &body_of(node, "then_branch");
    add_outputs(*graph, {result});
  }
  add(*graph, "Neg", {"x"}, result);
  return b;
}

TEST(Nesting, DeeperThanProtobufsOwnLimit) {
  EXPECT_EQ(import_onnx_bytes(nested(40).bytes()).outputs().size(), 1u);
}

TEST(Nesting, WhatIsTooDeepIsSaid) {
  expect_refused(nested(120), ErrorKind::unsupported, {"nests graphs too deeply", "120 levels", "up to 100"});
  expect_refused(nested(400), ErrorKind::invalid, {"nests graphs more than 300 levels deep"});
}

}  // namespace
}  // namespace korch
