// Executables for images of any size within a range: right whatever a larger image, even of no numbers, left
// behind.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../onnx/model_builder.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

constexpr int64_t kLeast = 20, kMost = 48;

HostTensor random_tensor(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 0.3F);
  HostTensor result(TensorType{DType::f32, shape});
  std::generate_n(result.mutable_data<float>(), result.elements(), [&] { return normal(random); });
  return result;
}

// Down by pooling and strides, and up again beside what was there.
std::string image_model(const TempDir& folder) {
  ModelBuilder b(17);
  b.input("x", {1, 3, -1, -1}, 1, {"", "", "h", "w"}).output("y");
  const auto conv = [&](const std::string& from, const std::string& to, Shape weights, int64_t stride) {
    b.initializer(to + " weights", random_tensor(weights, static_cast<uint64_t>(weights[0] + stride)));
    auto& node = b.node("Conv", {from, to + " weights"}, {to + " sum"});
    set_attribute(node, "pads", std::vector<int64_t>{1, 1, 1, 1});
    set_attribute(node, "strides", std::vector<int64_t>{stride, stride});
    b.node("Relu", {to + " sum"}, {to});
  };
  conv("x", "a", {16, 3, 3, 3}, 1);
  conv("a", "b", {16, 16, 3, 3}, 1);
  auto& pool = b.node("AveragePool", {"b"}, {"small"});
  set_attribute(pool, "kernel_shape", std::vector<int64_t>{3, 3});
  set_attribute(pool, "strides", std::vector<int64_t>{2, 2});
  set_attribute(pool, "ceil_mode", int64_t{1});
  conv("small", "c", {24, 16, 3, 3}, 2);
  b.node("Shape", {"b"}, {"size"});
  b.ints("two", {2});
  b.ints("none", {0});
  b.ints("end", {4});
  b.ints("image", {1, 24});
  b.node("Slice", {"size", "two", "end", "none"}, {"sides"});
  set_attribute(b.node("Concat", {"image", "sides"}, {"sizes"}), "axis", int64_t{0});
  set_attribute(b.node("Resize", {"c", "", "", "sizes"}, {"up"}), "mode", std::string("linear"));
  set_attribute(b.node("Concat", {"up", "b"}, {"both"}), "axis", int64_t{1});
  conv("both", "y", {4, 40, 3, 3}, 1);
  write_file(folder.path() + "/model.onnx", b.bytes());
  return folder.path() + "/model.onnx";
}

void expect_right_at_any_size(Strategy strategy) {
  const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  options.strategy = strategy;
  options.shapes = {{"h", {kMost}}, {"w", {kMost}}};
  options.least_shapes = {{"h", {kLeast}}, {"w", {kLeast}}};
  const std::string file = image_model(folder), output = folder.path() + "/model.so";
  const Plan plan = compile_model(file, output, options).plan;
  EXPECT_GT(plan.shape_plans.size(), 1u);
  EXPECT_TRUE(std::any_of(plan.steps.begin(), plan.steps.end(),
                          [](const PlanStep& step) { return !step.limits.empty(); }));
  LoadedExecutable executable(output);
  HostTensor nothing(TensorType{DType::f32, {1, 3, kMost, kMost}});
  std::fill_n(nothing.mutable_data<float>(), nothing.elements(), NAN);
  for (const auto& [h, w] : std::vector<std::pair<int64_t, int64_t>>{
           {20, 20}, {48, 48}, {21, 47}, {47, 22}, {24, 24}, {31, 33}, {20, 48}}) {
    const HostTensor x = random_tensor({1, 3, h, w}, static_cast<uint64_t>(h * w));
    ImportOptions fixed;
    fixed.shapes = {{"h", {h}}, {"w", {w}}};
    const HostTensor wanted = interpret(import_onnx(file, fixed), {x})[0];
    executable.run({nothing});
    const HostTensor got = executable.run({x})[0];
    ASSERT_EQ(got.shape(), wanted.shape());
    for (int64_t i = 0; i < got.elements(); ++i)
      ASSERT_NEAR(element_as_double(got, i), element_as_double(wanted, i), 1e-4) << h << " x " << w;
  }
}

TEST(OpenImages, GreedyPlans) {
  expect_right_at_any_size(Strategy::greedy);
}

TEST(OpenImages, OptimalPlans) {
  expect_right_at_any_size(Strategy::optimal);
}

TEST(OpenImages, AWindowThatDoesNotFitIsAnError) {
  const TempDir folder;
  CompileOptions options;
  options.measure = Measure::none;
  options.shapes = {{"h", {kMost}}, {"w", {kMost}}};
  options.least_shapes = {{"h", {2}}, {"w", {kLeast}}};
  const std::string output = folder.path() + "/model.so";
  try {
    compile_model(image_model(folder), output, options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("as short as 2, not 3"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(file_exists(output));
}

}  // namespace
}  // namespace korch
