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
    EXPECT_TRUE(says(" launches: at most ")) << out_;
    EXPECT_TRUE(says(" registers, ")) << out_;
    EXPECT_EQ(run("explain --run " + path("m.so")), 0) << err_;
  }
}

// Times of an emulated GPU mean nothing; how kernels are measured is as on any other.
TEST_F(Gpu, KernelsAreMeasuredOnTheGpuThatIsHere) {
  const std::string arguments =
      "compile " + path("m.onnx") + " -o " + path("m.so") + " --strategy greedy --profile-db " + path("k.db");
  ASSERT_EQ(run(arguments + " --target cuda"), 0) << err_;
  EXPECT_TRUE(says(" measured;") || says(" measured now")) << out_;
  EXPECT_FALSE(says("and 0 measured now")) << out_;
  EXPECT_EQ(run("verify " + path("m.onnx") + " " + path("m.so")), 0) << err_;
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("emulated GPU")) << out_;
  EXPECT_FALSE(says("(0.0 %)")) << out_;
  ASSERT_EQ(run(arguments + " --target cuda"), 0) << err_;
  EXPECT_TRUE(says("0 kernels compiled and 0 measured now")) << out_;
  // Rows of this GPU are none of another one's.
  ASSERT_EQ(run(arguments + " --target sm_90 --no-measure"), 0) << err_;
  EXPECT_NE(err_.find("are of a model of sm_90"), std::string::npos) << err_;
  EXPECT_EQ(err_.find("are carried"), std::string::npos) << err_;
}

TEST_F(Gpu, AnotherGpuIsNotMeasured) {
  const std::string model = path("m.onnx") + " -o " + path("m.so") + " --no-profile-db --target ";
  expect_refused("compile " + model + "sm_90", 2, {"emulated GPU", "--target cuda", "--no-measure"});
  ::setenv("KORCH_CUDA_DRIVER", path("none.so").c_str(), 1);
  expect_refused("compile " + model + "h100", 2, {"no NVIDIA driver", "--no-measure"});
  expect_refused("compile " + model + "cuda", 2, {"no NVIDIA driver", "sm_90"});
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

TEST_F(Gpu, AKernelsResources) {
  write_branches(8);
  ASSERT_EQ(compile_for_gpu("branches.onnx", "--strategy greedy --dump-dir " + path("stages")), 0) << err_;
  const std::string tile = path("stages/kernel-000.tile");
  ASSERT_EQ(run("kernel resources " + tile + " --target sm_80"), 0) << err_;
  EXPECT_TRUE(says(" registers, ") && says("occupancy ")) << out_;
  ASSERT_EQ(run("kernel resources " + tile + " --target sm_80 --json"), 0) << err_;
  EXPECT_TRUE(says("\"local_stores\": 0")) << out_;
  expect_refused("kernel resources " + tile, 2, {"--target"});
  ASSERT_EQ(run("explain " + path("m.so") + " --kernel 0"), 0) << err_;
  EXPECT_TRUE(says(" blocks of 256 threads, ")) << out_;
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
  EXPECT_TRUE(says("matrix f32")) << out_;
  EXPECT_EQ(run("verify " + path("product.onnx") + " " + path("m.so")), 0) << err_;
}

// What products multiply is the user's word; the check allows for it, and for no more.
TEST_F(Gpu, ProductsOfNarrowerTypes) {
  ModelBuilder b;
  b.input("x", {96, 300}).input("w", {300, 96}).output("y");
  b.node("MatMul", {"x", "w"}, {"y"});
  write_model("product.onnx", b);
  for (const char* type : {"tf32", "f16", "bf16"}) {
    const std::string accuracy = std::string(" --accuracy ") + type;
    expect_refused(compile_arguments("product.onnx", "--no-measure" + accuracy), 2, {"is for GPUs"});
    ASSERT_EQ(compile_for_gpu("product.onnx", "--emulation --strategy greedy" + accuracy), 0) << err_;
    ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
    EXPECT_TRUE(says(std::string("matrix ") + type)) << out_;
    EXPECT_EQ(run("verify " + path("product.onnx") + " " + path("m.so")), 0) << err_;
  }
}

// Matrix units of 16 bits multiply what was converted from these bits, and lose nothing.
TEST_F(Gpu, NetworksOf16BitFloats) {
  for (const auto& [dtype, type] : {std::pair(10, "f16"), std::pair(16, "bf16")}) {
    ModelBuilder b;
    b.input("x", {96, 300}, dtype).input("w", {300, 96}, dtype).output("y");
    b.node("Relu", {"x"}, {"r"});
    b.node("MatMul", {"r", "w"}, {"m"});
    b.node("Softmax", {"m"}, {"y"});
    write_model("narrow.onnx", b);
    ASSERT_EQ(compile_for_gpu("narrow.onnx", "--emulation --strategy greedy"), 0) << err_;
    ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
    EXPECT_TRUE(says(std::string("matrix ") + type)) << out_;
    EXPECT_EQ(run("verify " + path("narrow.onnx") + " " + path("m.so")), 0) << err_;
  }
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
  EXPECT_EQ(run("verify " + path("range.onnx") + " " + path("m.so")), 0) << err_;
}

}  // namespace
}  // namespace korch
