// Operators that are newer than the cases that ctest runs (tests/onnx_node): small ones, counted by hand.
#include <cmath>
#include <limits>

#include "one_node.h"

namespace korch {
namespace {

HostTensor i8(const Shape& shape, const std::vector<int8_t>& values) {
  return HostTensor::of<int8_t>(DType::i8, shape, values);
}

// A node of ONNX's own.
struct Own : OneNode {
  Own(const std::string& op_type, const std::vector<HostTensor>& given) : OneNode(op_type, given, "") {}
  Own& with(const std::string& name, int64_t value) {
    set_attribute(node(), name, value);
    return *this;
  }
  Own& with(const std::string& name, const std::string& value) {
    set_attribute(node(), name, value);
    return *this;
  }
  // A constant of the model, as the next input.
  Own& constant(const std::string& name, const std::vector<int64_t>& values, bool scalar = false) {
    const auto count = static_cast<int64_t>(values.size());
    model.initializer(name, HostTensor::of<int64_t>(DType::i64, scalar ? Shape{} : Shape{count}, values));
    node().add_input(name);
    return *this;
  }
};

TEST(NewOperators, Gates) {
  const auto swish = [](double x, double alpha) { return x / (1 + std::exp(-alpha * x)); };
  expect_near(Own("Swish", {f32({2}, {-1, 2})}).run(), {swish(-1, 1), swish(2, 1)});
  expect_near(Own("SwiGLU", {f32({2}, {-1, 2}), f32({2}, {3, 4})}).run(),
              {3 * swish(-1, 1), 4 * swish(2, 1)});
  expect_refused(Own("SwiGLU", {f32({2}, {-1, 2}), f32({1}, {3})}).model, ErrorKind::invalid, {"shape"});
  const double root = std::sqrt((9 + 16) / 2.0);
  expect_near(Own("RMSNormalization", {f32({1, 2}, {3, 4}), f32({2}, {1, 2})}).run(), {3 / root, 8 / root});
}

// The remainder of 0, and by infinity, has the divisor's sign.
TEST(NewOperators, ModOfFloats) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Values rests = Own("Mod", {f32({5}, {-5, 5, -5, 4, 0}), f32({5}, {3, -3, infinity, -2, -3})}).run();
  expect_near(Values(rests.begin(), rests.begin() + 2), {1, -1});
  EXPECT_EQ(rests[2], infinity);
  EXPECT_TRUE(rests[3] == 0 && std::signbit(rests[3]) && rests[4] == 0 && std::signbit(rests[4]));
}

TEST(NewOperators, FloatOperatorsOfOtherTypes) {
  OneNode shrink("Shrink", {HostTensor::of<int32_t>(DType::i32, {5}, {-3, -1, 0, 1, 3})}, "");
  set_float_attribute(shrink.node(), "lambd", 1.5F);
  set_float_attribute(shrink.node(), "bias", 1.0F);
  EXPECT_EQ(shrink.run(), (Values{-2, 0, 0, 0, 2}));
  // 1, NaN; and 1, infinity: f8e4m3fn has no infinity
  EXPECT_EQ(OneNode("IsNaN", {HostTensor::of<uint8_t>(DType::f8e4m3fn, {2}, {0x38, 0x7f})}, "").run(),
            (Values{0, 1}));
  EXPECT_EQ(OneNode("IsInf", {HostTensor::of<uint8_t>(DType::f8e5m2, {2}, {0x3c, 0x7c})}, "").run(),
            (Values{0, 1}));
}

TEST(NewOperators, Bits) {
  const HostTensor x = i8({5}, {-128, -3, 5, 127, -1}), y = i8({5}, {7, 1, 2, -1, 8});
  expect_near(Own("BitShift", {x, y}).with("direction", "RIGHT").run(), {-1, -2, 1, 0, -1});
  expect_near(Own("BitShift", {x, y}).with("direction", "LEFT").run(), {0, -6, 20, 0, 0});
  expect_near(Own("BitShift", {i8({1}, {-1}), i8({1}, {7})}).with("direction", "LEFT").run(), {-128});
  expect_near(Own("BitwiseAnd", {x, y}).run(), {0, 1, 0, 127, 8});
  expect_near(Own("BitwiseOr", {x, y}).run(), {-121, -3, 7, -1, -1});
  expect_near(Own("BitwiseXor", {x, y}).run(), {-121, -4, 7, -128, -9});
  expect_near(Own("BitwiseNot", {x}).run(), {127, 2, -6, -128, 0});
  const HostTensor wide = i64({2}, {-1, int64_t{1} << 62});
  expect_near(Own("BitwiseAnd", {wide, i64({2}, {int64_t{1} << 40, -1})}).run(), {0x1p40, 0x1p62});
  expect_near(Own("BitCast", {x}).with("to", 2).run(), {128, 253, 5, 127, 255});
  expect_refused(Own("BitCast", {f32({1}, {1})}).with("to", 6).model, ErrorKind::unsupported,
                 {"floats and integers"});
  expect_refused(Own("BitCast", {f32({1}, {1})}).with("to", 7).model, ErrorKind::invalid, {"different size"});
}

TEST(NewOperators, ProductsAlongAnAxis) {
  const auto cum_prod = [] {
    return Own("CumProd", {f32({5}, {1, 2, 3, 4, 5})}).constant("axis", {0}, true);
  };
  expect_near(cum_prod().run(), {1, 2, 6, 24, 120});
  expect_near(cum_prod().with("reverse", 1).run(), {120, 120, 60, 20, 5});
  expect_near(cum_prod().with("exclusive", 1).run(), {1, 1, 2, 6, 24});
}

TEST(NewOperators, CacheThatWrapsAround) {
  const HostTensor past = f32({2, 3, 1}, {1, 2, 3, 4, 5, 6}), update = f32({2, 2, 1}, {10, 20, 30, 40});
  expect_near(Own("TensorScatter", {past, update}).run(), {10, 20, 3, 30, 40, 6});
  expect_near(Own("TensorScatter", {past, update, i64({2}, {1, 2})}).with("mode", "circular").run(),
              {1, 10, 20, 40, 5, 30});
}

// Two query heads share the keys; the first query attends the first key alone.
TEST(NewOperators, CausalAttentionOfSharedHeads) {
  const HostTensor q = f32({1, 2, 2, 1}, {1, 1, 2, 2}), k = f32({1, 1, 2, 1}, {0, 1}),
                   v = f32({1, 1, 2, 1}, {10, 20});
  const auto mixed = [](double score) { return (10 + 20 * std::exp(score)) / (1 + std::exp(score)); };
  expect_near(Own("Attention", {q, k, v}).with("is_causal", 1).run(), {10, mixed(1), 10, mixed(2)});
  expect_near(Own("Attention", {q, k, v}).with("left_window_size", 0).run(), {mixed(1), 20, mixed(2), 20});
}

// A NaN in a mask forbids nothing: its query becomes NaN. Only a query that may attend no key becomes 0.
TEST(NewOperators, NanInAnAttentionMask) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kForbidden = -INFINITY;
  const HostTensor q = f32({1, 1, 4, 1}, {1, 1, 1, 1}), k = f32({1, 1, 2, 1}, {0, 1}),
                   v = f32({1, 1, 2, 1}, {10, 20});
  const HostTensor mask = f32({4, 2}, {kNan, 0, kNan, kForbidden, kForbidden, kForbidden, 0, kForbidden});
  const Values y = Own("Attention", {q, k, v, mask}).run();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 10);
}

// S = k v after a position; the second adds to it.
TEST(NewOperators, LinearAttentionAddsUp) {
  Own own("LinearAttention", {f32({1, 2, 1}, {1, 2}), f32({1, 2, 1}, {3, 4}), f32({1, 2, 1}, {5, 6})});
  own.with("q_num_heads", 1).with("kv_num_heads", 1).with("update_rule", "linear");
  expect_near(own.run(), {15, 2 * (15 + 24)});
}

TEST(NewOperators, ConvolutionWithState) {
  const HostTensor x = f32({1, 1, 2}, {3, 4}), w = f32({1, 1, 2}, {10, 1}), bias = f32({1}, {0.5});
  expect_near(Own("CausalConvWithState", {x, w, bias, f32({1, 1, 1}, {2})}).run(), {23.5, 34.5});
  expect_near(Own("CausalConvWithState", {x, w}).run(), {3, 34});
}

// Offsets of 0 make it a convolution; half an element to the right makes it one of means.
TEST(NewOperators, DeformedConvolution) {
  const HostTensor x = f32({1, 1, 1, 3}, {1, 2, 4}), w = f32({1, 1, 1, 1}, {10});
  expect_near(Own("DeformConv", {x, w, f32({1, 2, 1, 3}, {0, 0, 0, 0, 0, 0})}).run(), {10, 20, 40});
  expect_near(Own("DeformConv", {x, w, f32({1, 2, 1, 3}, {0, 0, 0, 0.5, 0.5, 0.5})}).run(), {15, 30, 20});
}

TEST(NewOperators, RegionsOfInterest) {
  const HostTensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4}), rois = f32({1, 4}, {0, 0, 2, 2}),
                   image = i64({1}, {0});
  expect_near(Own("RoiAlign", {x, rois, image}).with("sampling_ratio", 2).run(), {2.5});
  expect_near(Own("RoiAlign", {x, rois, image}).with("sampling_ratio", 2).with("mode", "max").run(), {4});
}

// Whole, in the middle, half an element to the right and below (halves go away from zero), outside.
TEST(NewOperators, GreatestOfRegions) {
  HostTensor x(TensorType{DType::f32, {1, 1, 4, 4}});
  for (int i = 0; i < 16; ++i) x.mutable_data<float>()[i] = static_cast<float>(i - 20);
  const HostTensor rois = f32({4, 5}, {0, 0, 0, 3, 3, 0, 1, 1, 2, 2, 0, 0.5, 0.5, 2.5, 2.5, 0, 5, 5, 9, 9});
  OneNode node("MaxRoiPool", {x, rois}, "");
  set_attribute(node.node(), "pooled_shape", std::vector<int64_t>{2, 2});
  expect_near(node.run(), {-15, -13, -7, -5, -15, -14, -11, -10, -10, -9, -6, -5, 0, 0, 0, 0});
}

TEST(NewOperators, SpectrumOfAnImpulse) {
  Own whole("DFT", {f32({1, 3, 1}, {0, 1, 0})});
  const double half = std::sqrt(3) / 2;
  expect_near(whole.run(), {1, 0, -0.5, -half, -0.5, half});
  expect_near(Own("DFT", {f32({1, 3, 1}, {0, 1, 0})}).with("onesided", 1).run(), {1, 0, -0.5, -half});
  // Frames of two places, every second one: their sums and differences.
  Own frames("STFT", {f32({1, 4, 1}, {1, 2, 3, 5})});
  frames.constant("step", {2}, true).node().add_input("");
  expect_near(frames.constant("length", {2}, true).run(), {3, 0, -1, 0, 8, 0, -2, 0});
  // Real numbers may come without an axis of parts, as ONNX Runtime takes them.
  Own real("STFT", {f32({1, 4}, {1, 2, 3, 5})});
  real.constant("step", {2}, true).node().add_input("");
  expect_near(real.constant("length", {2}, true).run(), {3, 0, -1, 0, 8, 0, -2, 0});
  for (const Shape& shape : {Shape{4}, Shape{1, 4, 3}}) {
    Own refused("STFT", {HostTensor(TensorType{DType::f32, shape})});
    refused.constant("step", {2}, true).node().add_input("");
    expect_refused(refused.constant("length", {2}, true).model, ErrorKind::invalid, {"signal needs shape"});
  }
}

// Where a window of four places is as wide as the reduction, every result is a mean.
TEST(NewOperators, AntialiasedResize) {
  Own own("Resize", {f32({1, 1, 1, 4}, {0, 0, 8, 8})});
  own.node().add_input("");
  own.node().add_input("");
  own.constant("sizes", {1, 1, 1, 2}).with("mode", "linear").with("antialias", 1);
  // Triangles of radius 2 around 0.5 and 2.5, cut at the edges: weights 3/8, 3/8, 1/8, and 1/8 of the edge
  // again.
  expect_near(own.run(), {8.0 / 8, 8 - 8.0 / 8});
}

TEST(NewOperators, ColumnsFoldIntoTheImage) {
  // Windows of 2 over 3 places: the middle one is in both.
  Own own("Col2Im", {f32({1, 2, 2}, {1, 2, 10, 20})});
  own.constant("image", {3}).constant("block", {2});
  expect_near(own.run(), {1, 12, 20});
}

}  // namespace
}  // namespace korch
