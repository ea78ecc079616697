#include "subgraph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "korch/base/files.h"
#include "korch/onnx/import.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "network_builder.h"

namespace korch::ort {
namespace {

using Names = std::vector<std::string>;

// Node 2 is another's; "p" is read by it, "q" is an output of the network.
NetworkBuilder diamond() {
  NetworkBuilder b;
  b.value("x", {64, 64}).weights("w", {64, 64}).weights("bias", {64}).output("y").output("q");
  b.node("MatMul", {"x", "w"}, {"p"}, {64, 64});
  b.node("Add", {"p", "bias"}, {"q"}, {64, 64});
  b.node("Unheard", {"p"}, {"u"}, {64, 64});
  b.node("Relu", {"q"}, {"r"}, {64, 64});
  b.node("Neg", {"r"}, {"s"}, {64, 64});
  b.node("Add", {"u", "s"}, {"y"}, {64, 64});
  return b;
}

TEST(Subgraph, InputsAndOutputs) {
  const NetworkBuilder b = diamond();
  const Subgraph first = subgraph_of(b.network, {0, 1, 3, 4});
  EXPECT_EQ(first.inputs, (Names{"x"}));
  EXPECT_EQ(first.outputs, (Names{"p", "q", "s"}));
  const Subgraph second = subgraph_of(b.network, {5});
  EXPECT_EQ(second.inputs, (Names{"s", "u"}));
  EXPECT_EQ(second.outputs, (Names{"y"}));
  EXPECT_TRUE(second.weights.empty());
}

TEST(Subgraph, IsReadByTheImport) {
  const NetworkBuilder b = diamond();
  const Subgraph subgraph = subgraph_of(b.network, {0, 1, 3, 4});
  ASSERT_EQ(subgraph.weights.size(), 1u);  // the bias is small
  const TempDir folder;
  write_file(folder.path() + "/m.onnx", onnx::serialize(subgraph.model));
  write_file_parts(folder.path() + "/" + kWeightsFile, subgraph.weights);
  const Graph graph = import_onnx(folder.path() + "/m.onnx");
  EXPECT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.outputs().size(), 3u);
  EXPECT_EQ(graph.output_names()[1], "q");
}

// ONNX Runtime may list nodes in another order when it compiles a subgraph than when it asks for it.
TEST(Subgraph, TheOrderOfNodesDoesNotMatter) {
  const NetworkBuilder b = diamond();
  const Hash expected = subgraph_of(b.network, {0, 1, 3, 4}).content();
  Network same;
  same.opset = b.network.opset;
  same.types = b.network.types;
  same.constants = b.network.constants;
  same.outputs = {"s", "q", "p"};
  for (int node : {0, 1, 3, 4}) same.nodes.insert(same.nodes.begin(), b.network.nodes[node]);
  EXPECT_EQ(subgraph_of(same, {0, 1, 2, 3}).content(), expected);
}

TEST(Subgraph, EverythingElseMatters) {
  const NetworkBuilder b = diamond();
  const std::vector<int> nodes = {0, 1, 3, 4};
  const Hash expected = subgraph_of(b.network, nodes).content();
  NetworkBuilder large = diamond(), small = diamond();
  large.weights("w", {64, 64}, 0.25f);
  small.weights("bias", {64}, 0.25f);
  EXPECT_NE(subgraph_of(large.network, nodes).content(), expected);
  EXPECT_NE(subgraph_of(small.network, nodes).content(), expected);
  NetworkBuilder other = diamond();
  other.network.nodes[3].set_op_type("Abs");
  EXPECT_NE(subgraph_of(other.network, nodes).content(), expected);
  NetworkBuilder shape = diamond();
  shape.value("x", {32, 64});
  EXPECT_NE(subgraph_of(shape.network, nodes).content(), expected);
  EXPECT_NE(subgraph_of(b.network, {0, 1, 3}).content(), expected);
}

TEST(Subgraph, ALaterOpsetBecomesTheLatestThatKorchReads) {
  NetworkBuilder b = diamond();
  b.network.opset = onnx::kLatestOpset + 2;
  EXPECT_EQ(subgraph_of(b.network, {0}).model.opset_import(0).version(), onnx::kLatestOpset);
  b.network.nodes[0].set_domain(onnx::kRuntimeDomain);
  const Subgraph own = subgraph_of(b.network, {0});
  ASSERT_EQ(own.model.opset_import_size(), 2);
  EXPECT_EQ(own.model.opset_import(1).domain(), onnx::kRuntimeDomain);
}

}  // namespace
}  // namespace korch::ort
