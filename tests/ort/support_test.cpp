#include "support.h"

#include <gtest/gtest.h>

#include "model_builder.h"
#include "network_builder.h"

namespace korch::ort {
namespace {

using Groups = std::vector<std::vector<int>>;

std::string lines_of(const Network& network) {
  std::string result;
  for (const std::string& line : describe_refusals(network, find_support(network))) result += line + "\n";
  return result;
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Support, AWholeNetwork) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("MatMul", {"x", "w"}, {"p"}, {4, 8});
  b.node("Relu", {"p"}, {"y"}, {4, 8});
  EXPECT_EQ(find_support(b.network).groups, (Groups{{0, 1}}));
  EXPECT_EQ(lines_of(b.network), "");
  EXPECT_EQ(describe_group(b.network, {0, 1}),
            "2 nodes, from node \"the_p\" (MatMul) to node \"the_y\" (Relu)");
}

// Two of a kind are one line.
TEST(Support, AroundAnOperatorThatKorchDoesNotKnow) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("MatMul", {"x", "w"}, {"p"}, {4, 8});
  b.node("Unheard", {"p"}, {"q"}, {4, 8});
  b.node("Unheard", {"q"}, {"r"}, {4, 8});
  b.node("MatMul", {"r", "w"}, {"y"}, {4, 8});
  EXPECT_EQ(find_support(b.network).groups, (Groups{{0}, {3}}));
  EXPECT_EQ(lines_of(b.network),
            "not taken: node \"the_q\" (Unheard): korch does not know the operator (and 1 more)\n");
}

TEST(Support, AnotherDomainsOperator) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("MatMul", {"x", "w"}, {"y"}, {4, 8}).set_domain("com.microsoft");
  EXPECT_TRUE(find_support(b.network).groups.empty());
  EXPECT_SAYS(lines_of(b.network), "com.microsoft");
}

TEST(Support, WhatARuleRefuses) {
  NetworkBuilder b;
  b.value("x", {4, 8}).value("shape", {2}, {}, 7).weights("w", {8, 8}).output("y");
  b.node("Reshape", {"x", "shape"}, {"r"}, {4, 8});
  b.node("MatMul", {"r", "w"}, {"y"}, {4, 8});
  EXPECT_EQ(find_support(b.network).groups, (Groups{{1}}));
  EXPECT_SAYS(lines_of(b.network), "\"the_r\" (Reshape)");
  EXPECT_SAYS(lines_of(b.network), "no bound is known");
}

TEST(Support, ShapesThatAreOpen) {
  NetworkBuilder b;
  b.value("x", {-1, 8}, {"batch"}).value("z", {4, 8}).weights("w", {8, 8}).output("y").output("v");
  b.node("MatMul", {"x", "w"}, {"p"}, {-1, 8});
  b.value("p", {-1, 8}, {"batch"});
  b.node("Relu", {"p"}, {"y"}, {-1, 8});
  b.node("MatMul", {"z", "w"}, {"v"}, {4, 8});
  EXPECT_EQ(find_support(b.network).groups, (Groups{{2}}));
  const std::string lines = lines_of(b.network);
  EXPECT_SAYS(lines, "2 of 3 nodes");
  EXPECT_SAYS(lines, "one without a name, \"batch\"");
  b.network.types["x"].mutable_tensor_type()->clear_shape();
  EXPECT_SAYS(lines_of(b.network), "the rank");
}

// What ONNX Runtime declares of a value is what its buffers will hold.
TEST(Support, TypesMustAgree) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("MatMul", {"x", "w"}, {"y"}, {5, 8});
  EXPECT_TRUE(find_support(b.network).groups.empty());
  EXPECT_SAYS(lines_of(b.network), "f32[4x8]");
  EXPECT_SAYS(lines_of(b.network), "f32[5x8]");
}

TEST(Support, ElementTypes) {
  NetworkBuilder b;
  constexpr int32_t kString = 8;
  b.value("x", {4}, {}, kString).output("y");
  b.node("Identity", {"x"}, {"y"}, {4}, kString);
  EXPECT_SAYS(lines_of(b.network), "STRING");
  NetworkBuilder c;
  proto::TensorProto words;
  words.set_data_type(kString);
  words.add_dims(4);
  c.network.constants["words"] = {words, {}};
  c.value("i", {1}, {}, 7).output("y");
  c.node("Gather", {"words", "i"}, {"y"}, {1}, kString);
  EXPECT_SAYS(lines_of(c.network), "STRING");
}

// x split into two sequences of two; `elsewhere` reads the second.
NetworkBuilder sequences(const std::string& elsewhere) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.constant("i", HostTensor::of<int64_t>(DType::i64, {}, {1}));
  for (const char* name : {"a", "b"}) {
    const std::string s = name;
    auto& node = b.node("SplitToSequence", {"x"}, {"s" + s}, {});
    onnx::proto::AttributeProto& keep = *node.add_attribute();
    keep.set_name("keepdims");
    keep.set_type(proto::AttributeProto::INT);
    keep.set_i(0);
    b.network.types.erase("s" + s);
    b.node("SequenceAt", {"s" + s, "i"}, {"t" + s}, {8});
  }
  b.node(elsewhere, {"sb"}, {"n"}, {}, 7);
  b.node("MatMul", {"ta", "w"}, {"p"}, {8});
  b.node("Add", {"p", "tb"}, {"y"}, {8});
  b.output("n");
  return b;
}

// Within a group only: what only the import knows cannot be handed over.
TEST(Support, Sequences) {
  EXPECT_EQ(find_support(sequences("SequenceLength").network).groups, (Groups{{0, 1, 2, 3, 4, 5, 6}}));
  const NetworkBuilder b = sequences("Unheard");
  const Support support = find_support(b.network);
  EXPECT_EQ(support.groups, (Groups{{0, 1, 5, 6}})) << lines_of(b.network);
  EXPECT_TRUE(support.refusals[2]);
  EXPECT_TRUE(support.refusals[3]);
  EXPECT_SAYS(lines_of(b.network), "\"sb\" is no tensor");
}

// The model may be of a later opset as long as the operator's definition is not.
TEST(Support, VersionsOfOperators) {
  NetworkBuilder b(23);
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("MatMul", {"x", "w"}, {"y"}, {4, 8});
  b.network.versions[0] = 13;
  EXPECT_EQ(find_support(b.network).groups, (Groups{{0}}));
  b.network.versions[0] = 23;
  EXPECT_TRUE(find_support(b.network).groups.empty());
  EXPECT_SAYS(lines_of(b.network), "opset 23");
  b.network.versions[0] = 1;
  b.network.opset = 5;
  EXPECT_TRUE(find_support(b.network).groups.empty());
}

TEST(Support, WhatAnotherProviderHasIsNotMentioned) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("MatMul", {"x", "w"}, {"y"}, {4, 8});
  b.network.is_taken[0] = true;
  EXPECT_TRUE(find_support(b.network).groups.empty());
  EXPECT_EQ(lines_of(b.network), "");
}

// ONNX Runtime makes one integer operator of such a node and those around it.
TEST(Support, QuantizedOperatorsAreLeft) {
  NetworkBuilder b;
  b.value("x", {4, 8}, {}, 2).value("scale", {}).weights("w", {8, 8}).output("y");
  b.node("DequantizeLinear", {"x", "scale"}, {"d"}, {4, 8});
  b.node("MatMul", {"d", "w"}, {"p"}, {4, 8});
  b.node("MatMul", {"p", "w"}, {"y"}, {4, 8});
  EXPECT_EQ(find_support(b.network).groups, (Groups{{2}}));
  EXPECT_SAYS(lines_of(b.network), "\"the_p\" (MatMul): it may become a quantized operator");
}

TEST(Support, GroupsThatComputeTooLittleAreLeft) {
  NetworkBuilder b;
  b.value("x", {4, 8}).output("y");
  b.node("Transpose", {"x"}, {"t"}, {8, 4});
  b.node("Transpose", {"t"}, {"u"}, {4, 8});
  b.node("Relu", {"u"}, {"v"}, {4, 8});
  b.node("Neg", {"v"}, {"y"}, {4, 8});
  EXPECT_TRUE(find_support(b.network).groups.empty());
  EXPECT_EQ(lines_of(b.network), "");
  b.network.outputs = {"z"};
  b.node("Exp", {"y"}, {"z"}, {4, 8});
  EXPECT_EQ(find_support(b.network).groups, (Groups{{0, 1, 2, 3, 4}}));
}

// The extents of x are constants, but the Reshape is in another group than the node that tells them.
TEST(Support, ConstantsThatAreMadeElsewhere) {
  NetworkBuilder b;
  b.value("x", {4, 8}).weights("w", {8, 8}).output("y");
  b.node("Shape", {"x"}, {"shape"}, {2}, 7);
  b.node("Unheard", {"x", "shape"}, {"u"}, {4, 8});
  b.node("Reshape", {"u", "shape"}, {"r"}, {4, 8});
  b.node("MatMul", {"r", "w"}, {"y"}, {4, 8});
  const Support support = find_support(b.network);
  EXPECT_EQ(support.groups, (Groups{{3}}));
  EXPECT_TRUE(support.refusals[2]);
  EXPECT_FALSE(support.refusals[0]);
  b.network.nodes[1].set_op_type("Relu");
  b.network.nodes[1].mutable_input()->DeleteSubrange(1, 1);
  EXPECT_EQ(find_support(b.network).groups, (Groups{{0, 1, 2, 3}}));
}

}  // namespace
}  // namespace korch::ort
