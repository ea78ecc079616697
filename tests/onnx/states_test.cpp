// Which inputs are states of a network: found, wanted, refused.
#include <gtest/gtest.h>

#include "expect_error.h"
#include "korch/base/error.h"
#include "korch/ir/append.h"
#include "korch/onnx/import.h"
#include "model_builder.h"

namespace korch {
namespace {

// A cache of `past` rows, to which `seq` are joined along the axis 1 of `batch` caches.
ModelBuilder cache() {
  ModelBuilder b(17);
  b.input("past", {-1, -1, 2}, 1, {"batch", "n", ""}).input("fresh", {-1, -1, 2}, 1, {"batch", "seq", ""});
  b.output("present").output("y");
  set_attribute(b.node("Concat", {"past", "fresh"}, {"present"}), "axis", 1);
  b.node("Relu", {"present"}, {"y"});
  return b;
}

ImportOptions ranges() {
  ImportOptions options;
  options.shapes = {{"batch", {2}}, {"n", {6}}, {"seq", {3}}};
  options.least_shapes = {{"batch", {2}}, {"n", {0}}, {"seq", {1}}};
  return options;
}

std::string refusal(const ModelBuilder& b, const ImportOptions& options) {
  try {
    import_onnx_bytes(b.bytes(), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "none";
}

TEST(States, AnInputThatGrowsIsOne) {
  const Graph graph = import_onnx_bytes(cache().bytes(), ranges());
  EXPECT_EQ(graph.states(), (std::vector<StatePair>{{0, 0, 1}}));
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{2, 9, 2}));
  ImportOptions none = ranges();
  none.states.find = false;
  const Graph plain = import_onnx_bytes(cache().bytes(), none);
  EXPECT_TRUE(plain.states().empty());
  EXPECT_TRUE(appended_inputs(plain).empty());
}

// Exporters join one tensor, too.
TEST(States, CopiesAreTheInput) {
  ModelBuilder b(17);
  b.input("past", {2, -1, 2}, 1, {"", "n", ""}).input("fresh", {2, -1, 2}, 1, {"", "seq", ""});
  b.output("present");
  set_attribute(b.node("Concat", {"past"}, {"one"}), "axis", 1);
  b.node("Identity", {"one"}, {"same"});
  set_attribute(b.node("Concat", {"same", "fresh"}, {"present"}), "axis", 1);
  ImportOptions options = ranges();
  options.shapes.erase("batch");
  options.least_shapes.erase("batch");
  EXPECT_EQ(import_onnx_bytes(b.bytes(), options).states(), (std::vector<StatePair>{{0, 0, 1}}));
}

TEST(States, OfWhatSeveralReadIsNone) {
  ModelBuilder b = cache();
  b.output("other");
  b.node("Neg", {"past"}, {"other"});
  EXPECT_TRUE(import_onnx_bytes(b.bytes(), ranges()).states().empty());
  ImportOptions wanted = ranges();
  wanted.states.pairs = {{"past", "present"}};
  EXPECT_NE(refusal(b, wanted).find("the state past=present: the output neither joins new rows"),
            std::string::npos);
}

TEST(States, OnlyTheOutermostAxisMayBeOpenBeside) {
  ImportOptions open = ranges();
  open.least_shapes["batch"] = {1};
  EXPECT_EQ(import_onnx_bytes(cache().bytes(), open).states().size(), 1u);
  ModelBuilder b(17);
  b.input("past", {-1, 2, -1}, 1, {"n", "", "width"}).input("fresh", {1, 2, -1}, 1, {"", "", "width"});
  b.output("present");
  set_attribute(b.node("Concat", {"past", "fresh"}, {"present"}), "axis", 0);
  ImportOptions options;
  options.shapes = {{"n", {6}}, {"width", {4}}};
  options.least_shapes = {{"n", {0}}, {"width", {2}}};
  EXPECT_TRUE(import_onnx_bytes(b.bytes(), options).states().empty());
}

// In a plan for shorter states the state is as long; what reads it reads its beginning.
TEST(States, AreAsLongInPlansForLess) {
  ImportOptions part = ranges();
  part.bounds = {{"batch", 2}, {"n", 3}, {"seq", 1}};
  part.states = {{{"past", "present"}}, false, {{"past", 9}}};
  const Graph graph = import_onnx_bytes(cache().bytes(), part);
  EXPECT_EQ(graph.states(), (std::vector<StatePair>{{0, 0, 1}}));
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{2, 9, 2}));
  EXPECT_EQ(graph.value(graph.outputs()[1]).type.shape, (Shape{2, 4, 2}));
  part.shapes["n"] = part.least_shapes["n"] = {3};  // one length alone
  part.bounds.erase("n");
  const Graph closed = import_onnx_bytes(cache().bytes(), part);
  EXPECT_EQ(closed.states(), graph.states());
  EXPECT_EQ(closed.value(closed.outputs()[0]).type.shape, (Shape{2, 9, 2}));
  EXPECT_EQ(closed.extents(), (std::vector<OutputExtent>{{0, 1}}));
}

TEST(States, RecurrentLayers) {
  ModelBuilder b(17);
  b.input("x", {-1, 1, 2}, 1, {"time", "", ""}).input("h", {1, 1, 3}, 1).input("c", {1, 1, 3}, 1);
  b.output("y").output("h_next").output("c_next");
  b.floats("w", {1, 12, 2}, std::vector<float>(24, 0.1F));
  b.floats("r", {1, 12, 3}, std::vector<float>(36, 0.2F));
  set_attribute(b.node("LSTM", {"x", "w", "r", "", "", "h", "c"}, {"y", "h_next", "c_next"}), "hidden_size",
                3);
  ImportOptions options;
  options.shapes = {{"time", {4}}};
  EXPECT_EQ(import_onnx_bytes(b.bytes(), options).states(), (std::vector<StatePair>{{1, 1, -1}, {2, 2, -1}}));
  options.states.find = false;
  EXPECT_TRUE(import_onnx_bytes(b.bytes(), options).states().empty());
  options.states.pairs = {{"h", "c_next"}};  // of one type: who wants it gets it
  EXPECT_EQ(import_onnx_bytes(b.bytes(), options).states(), (std::vector<StatePair>{{1, 2, -1}}));
}

TEST(States, PairsThatAreNone) {
  const auto refused = [](std::vector<std::pair<std::string, std::string>> pairs) {
    ImportOptions options = ranges();
    options.states.pairs = std::move(pairs);
    return refusal(cache(), options);
  };
  EXPECT_EQ(refused({{"past", "present"}}), "none");
  EXPECT_EQ(refused({{"pasta", "present"}}), "the state pasta=present: the network has no input 'pasta'");
  EXPECT_EQ(refused({{"past", "presents"}}), "the state past=presents: the network has no output 'presents'");
  EXPECT_EQ(refused({{"past", "present"}, {"past", "y"}}),
            "the state past=y: one of them is of another state");
  EXPECT_NE(refused({{"fresh", "present"}}).find("the state fresh=present: the output neither"),
            std::string::npos);
  EXPECT_NE(refused({{"past", "y"}}).find("the state past=y: the output neither"), std::string::npos);
}

}  // namespace
}  // namespace korch
