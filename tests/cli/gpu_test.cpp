// Executables for GPUs on a machine without one: their driver is the emulator's
// (tests/cuda/gpu/fake_cuda.cpp), which runs the launches of a graph in any order that its edges allow.
#include "gpu.h"

#include <cstdlib>
#include <random>

#include "korch/tensor/npy.h"

namespace korch {
namespace {

TEST_F(Gpu, AnExecutableIsRightOnAnEmulatedOne) {
  write_branches(8);
  for (const char* strategy : {"greedy", "unfused", "optimal"}) {
    ASSERT_EQ(compile_for_gpu("branches.onnx", std::string("--emulation --strategy ") + strategy), 0) << err_;
    EXPECT_EQ(run("verify " + path("branches.onnx") + " " + path("m.so")), 0) << err_;
    EXPECT_EQ(run("explain " + path("m.so")), 0) << err_;
    EXPECT_TRUE(says("sm_90")) << out_;
    EXPECT_EQ(run("explain --run " + path("m.so")), 0) << err_;
  }
}

TEST_F(Gpu, EmulationIsForGpus) {
  expect_refused(compile_arguments("m.onnx", "--no-measure --emulation"), 2, {"emulation is for GPUs"});
}

TEST_F(Gpu, AnEmulatedOneNeedsItsImages) {
  write_branches(8);
  ASSERT_EQ(compile_for_gpu("branches.onnx", "--strategy greedy"), 0) << err_;
  expect_refused("run " + path("m.so"), 7, {"another kind of GPU", "--emulation"});
}

TEST_F(Gpu, IndicesOutOfRange) {
  ModelBuilder b;
  b.input("data", {5, 4}).input("at", {3}, 7).output("y");
  b.node("Gather", {"data", "at"}, {"y"}, "pick");
  write_model("gather.onnx", b);
  ASSERT_EQ(compile_for_gpu("gather.onnx"), 0) << err_;
  write_npy(path("at.npy"), HostTensor::of<int64_t>(DType::i64, {3}, {0, 5, 1}));
  expect_refused("run " + path("m.so") + " --input at=" + path("at.npy"), 3, {"gather", "outside its axis"});
  write_npy(path("at.npy"), HostTensor::of<int64_t>(DType::i64, {3}, {0, -5, 4}));
  EXPECT_EQ(run("run " + path("m.so") + " --input at=" + path("at.npy")), 0) << err_;
}

TEST_F(Gpu, AStrippedExecutableIsWhole) {
  write_branches(8);
  ASSERT_EQ(compile_for_gpu("branches.onnx", "--emulation --strategy greedy"), 0) << err_;
  if (std::system(("strip " + path("m.so") + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no strip is here";
  EXPECT_EQ(run("verify " + path("branches.onnx") + " " + path("m.so")), 0) << err_;
}

// An infinity times the small part of a number would be a NaN.
TEST_F(Gpu, ProductsOfSpecialValues) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 0.3F);
  std::vector<float> weights(16 * 64);
  for (float& weight : weights) weight = normal(random);
  weights[3] = 0;
  weights[5] = 0.5F;  // without a small part
  ModelBuilder b;
  b.input("x", {5, 16}).output("y");
  b.floats("w", {16, 64}, weights);
  b.node("MatMul", {"x", "w"}, {"y"});
  write_model("product.onnx", b);
  ASSERT_EQ(compile_for_gpu("product.onnx"), 0) << err_;
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("matrix 3")) << out_;
  EXPECT_EQ(run("verify " + path("product.onnx") + " " + path("m.so")), 0) << err_;
}

// The padding is not multiplied: a weight may be infinite.
TEST_F(Gpu, PaddedConvolutionsByComputedWeights) {
  ModelBuilder b;
  b.input("x", {1, 2, 7, 5}).input("w", {3, 2, 3, 3}).output("y");
  set_attribute(b.node("Conv", {"x", "w"}, {"y"}), "pads", std::vector<int64_t>{1, 1, 1, 1});
  write_model("conv.onnx", b);
  ASSERT_EQ(compile_for_gpu("conv.onnx"), 0) << err_;
  EXPECT_EQ(run("verify " + path("conv.onnx") + " " + path("m.so")), 0) << err_;
}

// Convolutions on matrix units, depthwise ones, a product of one row.
TEST_F(Gpu, AWholeNetwork) {
  ASSERT_EQ(run("model mobilenet_v2_224 -o " + path("mobilenet.onnx")), 0) << err_;
  ASSERT_EQ(compile_for_gpu("mobilenet.onnx", "--emulation --strategy greedy"), 0) << err_;
  EXPECT_EQ(run("verify " + path("mobilenet.onnx") + " " + path("m.so")), 0) << err_;
}

TEST_F(Gpu, ARangeOfShapes) {
  ModelBuilder b;
  b.input("x", {-1, 16}, 1, {"n"}).output("y");
  b.floats("w", {16, 16}, std::vector<float>(256, 0.125F));
  b.node("MatMul", {"x", "w"}, {"m"});
  b.node("Softmax", {"m"}, {"y"});
  write_model("range.onnx", b);
  ASSERT_EQ(compile_for_gpu("range.onnx", "--emulation --shape n=1..9"), 0) << err_;
  EXPECT_EQ(run("verify " + path("range.onnx") + " " + path("m.so") + " --shape n=1..9"), 0) << err_;
}

}  // namespace
}  // namespace korch
