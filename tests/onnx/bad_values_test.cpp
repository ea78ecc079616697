// Values that make no sense, and bounds that no machine has room for: one error that says so.
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.h"
#include "subgraphs.h"

namespace korch {
namespace {

constexpr int kUint8 = 2, kInt64 = 7;

TEST(BadValues, Scales) {
  for (const std::string op : {"QuantizeLinear", "DequantizeLinear"})
    for (const auto& [scale, said] : {std::pair(0.F, "scale 0"), std::pair(NAN, "scale nan"),
                                      std::pair(INFINITY, "scale inf, which makes NaN")}) {
      ModelBuilder b(21);
      b.input("x", {4}, op == "QuantizeLinear" ? 1 : kUint8).output("y");
      b.floats("s", {}, {scale});
      b.node(op, {"x", "s"}, {"y"}, "it");
      expect_refused(b, ErrorKind::invalid, {"it", op, said});
    }
  for (const float scale : {0.F, -1.F, NAN, INFINITY}) {
    ModelBuilder b(21);
    b.input("x", {1, 1, 4, 4}).output("y");
    b.floats("s", {4}, {1, 1, scale, 1});
    b.node("Resize", {"x", "", "s"}, {"y"}, "it");
    expect_refused(b, ErrorKind::invalid, {"it", "Resize", "scale", "outside of (0, "});
  }
}

TEST(BadValues, ZeroPointsOfAnotherType) {
  ModelBuilder b(21);
  b.input("x", {4}, kUint8).output("y");
  b.floats("s", {}, {0.5F});
  b.initializer("z", HostTensor::of<int8_t>(DType::i8, {}, {-3}));
  b.node("DequantizeLinear", {"x", "s", "z"}, {"y"}, "it");
  expect_refused(b, ErrorKind::invalid, {"it", "a zero point of type i8 for numbers of type u8"});
}

TEST(BadValues, SequenceLengths) {
  const auto reverse = [] {
    ModelBuilder b(21);
    b.input("x", {3, 2}).output("y");
    auto& node = b.node("ReverseSequence", {"x", "n"}, {"y"}, "it");
    set_attribute(node, "time_axis", 0);
    set_attribute(node, "batch_axis", 1);
    return b;
  };
  for (const int64_t length : {-1, 4}) {
    const std::string said = "sequence length " + std::to_string(length) + " is not within 0 and 3";
    ModelBuilder b = reverse();
    b.initializer("n", i64({2}, {length, 2}));
    expect_refused(b, ErrorKind::invalid, {"it", said});
    ModelBuilder recurrent(21);
    recurrent.input("x", {3, 2, 1}).output("y");
    recurrent.floats("w", {1, 1, 1}, {1});
    recurrent.initializer("n", HostTensor::of<int32_t>(DType::i32, {2}, {static_cast<int32_t>(length), 2}));
    recurrent.node("RNN", {"x", "w", "w", "", "n"}, {"y"}, "it");
    expect_refused(recurrent, ErrorKind::invalid, {"it", said});
  }
  // Those that inputs say count as within the axis.
  ModelBuilder open = reverse();
  open.input("n", {2}, kInt64);
  const HostTensor y =
      interpret(import_onnx_bytes(open.bytes()), {f32({3, 2}, {1, 2, 3, 4, 5, 6}), i64({2}, {99, -7})})[0];
  Values got;
  for (int64_t i = 0; i < 6; ++i) got.push_back(element_as_double(y, i));
  EXPECT_EQ(got, (Values{5, 2, 3, 4, 1, 6}));
}

TEST(BadValues, SuppressionOfManyBoxes) {
  constexpr int64_t kBoxes = 1'000'000;
  const auto suppression = [](int64_t classes, int64_t most) {
    ModelBuilder b(21);
    b.input("boxes", {1, kBoxes, 4}).input("scores", {1, classes, kBoxes}).output("y");
    b.ints("most", {most});
    b.node("NonMaxSuppression", {"boxes", "scores", "most"}, {"y"}, "it");
    return b;
  };
  const Graph graph = import_onnx_bytes(suppression(1, 100).bytes());
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.shape, (Shape{100, 3}));
  expect_refused(suppression(80, INT64_MAX), ErrorKind::resource, {"it", "NonMaxSuppression", "bytes"});
}

// What depends on the data has room for its bound, or there is an error.
TEST(BadValues, BoundsBeyondMemory) {
  ModelBuilder product(21);
  product.input("x", {4'000'000}).output("y");
  product.node("NonZero", {"x"}, {"i"});
  set_attribute(product.node("Cast", {"i"}, {"f"}), "to", 1);
  product.node("Transpose", {"f"}, {"t"});
  product.node("MatMul", {"t", "f"}, {"y"}, "it");
  expect_refused(product, ErrorKind::resource, {"it", "f32[4000000x4000000]", "memory"});
  ModelBuilder zeros(21);
  zeros.input("n", {2}, kInt64).output("y");
  zeros.ints("none", {0});
  zeros.ints("many", {1 << 30});
  zeros.node("Max", {"n", "none"}, {"some"});
  zeros.node("Min", {"some", "many"}, {"extents"});
  zeros.node("ConstantOfShape", {"extents"}, {"y"}, "it");
  expect_refused(zeros, ErrorKind::resource, {"it", "f32[1073741824x1073741824]", "memory"});
  for (const bool grows : {false, true}) {
    ModelBuilder loop(21);
    loop.input("x", {1'000'000}).input("s", {0, 1'000'000}).output("y");
    loop.initializer("n", i64({}, {1'000'000}));
    loop.initializer("yes", HostTensor::of<bool>(DType::bool_, {}, {true}));
    auto& node = loop.node("Loop", {"n", "yes"}, {"y"}, "it");
    if (grows) node.add_input("s");
    onnx::proto::GraphProto& body = body_of(node, "body");
    add_inputs(body, {"i", "goes_on"});
    if (grows) add_inputs(body, {"before"});
    *body.add_initializer() = onnx::write_tensor(i64({2}, {1, 1'000'000}), "row");
    if (grows) {
      add(body, "Reshape", {"x", "row"}, "line");
      set_attribute(add(body, "Concat", {"before", "line"}, "made"), "axis", 0);
    } else {
      add(body, "Neg", {"x"}, "made");
    }
    add_outputs(body, {"goes_on", "made"});
    expect_refused(loop, ErrorKind::resource, {"it", "1000000x", "memory"});
  }
}

}  // namespace
}  // namespace korch
