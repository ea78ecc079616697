// Random numbers are drawn while a model is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "one_node.h"

namespace korch {
namespace {

// What it computes from x, f32 of this shape, with the importer's seed.
Values drawn(const std::function<void(ModelBuilder&)>& build, const HostTensor& x, uint64_t seed = 0) {
  ModelBuilder b(22);
  b.input("x", x.shape()).output("y");
  build(b);
  ImportOptions options;
  options.seed = seed;
  const HostTensor result = interpret(import_onnx_bytes(b.bytes(), options), {x})[0];
  Values values;
  for (int64_t i = 0; i < result.elements(); ++i) values.push_back(element_as_double(result, i));
  return values;
}

double mean(const Values& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double deviation(const Values& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

HostTensor filled(int64_t count, float value) {
  return f32({count}, std::vector<float>(static_cast<size_t>(count), value));
}

TEST(Random, UniformAndNormal) {
  const HostTensor x = filled(20000, 0);
  const auto uniform = [](ModelBuilder& b) {
    auto& node = b.node("RandomUniformLike", {"x"}, {"y"}, "noise");
    set_float(node, "low", -1);
    set_float(node, "high", 3);
  };
  const Values values = drawn(uniform, x);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 3);
  EXPECT_NEAR(mean(values), 1, 0.05);
  EXPECT_NEAR(deviation(values), 4 / std::sqrt(12.0), 0.05);
  EXPECT_EQ(values, drawn(uniform, x));
  EXPECT_NE(values, drawn(uniform, x, 1));
  const auto normal = [](ModelBuilder& b) {
    auto& node = b.node("RandomNormalLike", {"x"}, {"y"});
    set_float(node, "mean", 5);
    set_float(node, "scale", 0.5);
    set_float(node, "seed", 7);
  };
  const Values others = drawn(normal, x);
  EXPECT_NEAR(mean(others), 5, 0.02);
  EXPECT_NEAR(deviation(others), 0.5, 0.02);
  EXPECT_EQ(others, drawn(normal, x, 1));  // the node's own seed
}

TEST(Random, BernoulliAndMultinomial) {
  const Values flips =
      drawn([](ModelBuilder& b) { b.node("Bernoulli", {"x"}, {"y"}); }, filled(20000, 0.25F));
  EXPECT_NEAR(mean(flips), 0.25, 0.02);
  for (const double flip : flips) EXPECT_TRUE(flip == 0 || flip == 1);
  const auto build = [](ModelBuilder& b) {
    set_attribute(b.node("Multinomial", {"x"}, {"y"}), "sample_size", 20000);
  };
  const HostTensor logits = f32({1, 3}, {std::log(1.F), std::log(2.F), std::log(5.F)});
  const Values classes = drawn(build, logits);
  for (const auto& [which, share] : {std::pair(0.0, 0.125), std::pair(1.0, 0.25), std::pair(2.0, 0.625)})
    EXPECT_NEAR(static_cast<double>(std::count(classes.begin(), classes.end(), which)) / 20000, share, 0.02);
}

TEST(Random, DropoutThatTrains) {
  const auto build = [](ModelBuilder& b) {
    b.floats("ratio", {}, {0.2F});
    b.initializer("trains", HostTensor::of<bool>(DType::bool_, {}, {true}));
    b.node("Dropout", {"x", "ratio", "trains"}, {"y"});
  };
  const Values values = drawn(build, filled(20000, 4));
  const auto dropped = std::count(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(dropped) / 20000, 0.2, 0.02);
  EXPECT_NEAR(*std::max_element(values.begin(), values.end()), 5, 1e-5);
}

TEST(Random, TooManyNumbersAreRefused) {
  ModelBuilder b(22);
  b.output("y");
  auto& node = b.node("RandomNormal", {}, {"y"});
  auto* shape = node.add_attribute();
  shape->set_name("shape");
  shape->set_type(onnx::proto::AttributeProto::INTS);
  shape->add_ints(int64_t{1} << 28);
  expect_refused(b, ErrorKind::resource, {"more than the"});
}

}  // namespace
}  // namespace korch
