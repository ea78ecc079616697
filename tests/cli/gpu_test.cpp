// Executables for GPUs on a machine without one: their driver is the emulator's
// (tests/cuda/gpu/fake_cuda.cpp), which runs the launches of a graph in any order that its edges allow.
#include <dlfcn.h>

#include <cstdlib>
#include <random>

#include "cli.h"
#include "korch/backend/cuda/nvrtc.h"
#include "korch/runtime/korch.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

class Gpu : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (std::string(KORCH_FAKE_CUDA).empty())
      GTEST_SKIP() << "sanitizers cannot follow the emulator's fibers";
    if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
    ::setenv("KORCH_CUDA_DRIVER", KORCH_FAKE_CUDA, 1);
  }
  void TearDown() override {
    ::unsetenv("KORCH_CUDA_DRIVER");
    Cli::TearDown();
  }

  int compile_for_gpu(const std::string& model, const std::string& more = "--emulation") {
    return run("compile " + path(model) + " -o " + path("m.so") +
               " --no-profile-db --target sm_90 --no-measure " + more);
  }

  // Two branches that may run at the same time, products, a softmax; 4 x 4 x 8 x 8 to 4 x 10.
  void write_branches() {
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 0.3F);
    const auto weights = [&](int64_t count) {
      std::vector<float> values(static_cast<size_t>(count));
      for (float& value : values) value = normal(random);
      return values;
    };
    ModelBuilder b;
    b.input("x", {4, 4, 8, 8}).output("y").output("z");
    b.floats("k1", {8, 4, 3, 3}, weights(8 * 4 * 9));
    b.floats("k2", {8, 4, 1, 1}, weights(8 * 4));
    b.floats("w", {8 * 64, 10}, weights(8 * 64 * 10));
    set_attribute(b.node("Conv", {"x", "k1"}, {"a"}), "pads", std::vector<int64_t>{1, 1, 1, 1});
    b.node("Conv", {"x", "k2"}, {"b"});
    b.node("Relu", {"a"}, {"a1"});
    b.node("Tanh", {"b"}, {"b1"});
    b.node("Add", {"a1", "b1"}, {"c"});
    b.node("Flatten", {"c"}, {"f"});
    b.node("MatMul", {"f", "w"}, {"m"});
    b.node("Softmax", {"m"}, {"y"});
    b.node("Reshape", {"x", "flat"}, {"z"});  // copied at the end
    b.ints("flat", {4, -1});
    write_model("branches.onnx", b);
  }
};

TEST_F(Gpu, AnExecutableIsRightOnAnEmulatedOne) {
  write_branches();
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

TEST_F(Gpu, ItSaysWhereItCannotRun) {
  write_branches();
  ASSERT_EQ(compile_for_gpu("branches.onnx", "--strategy greedy"), 0) << err_;
  expect_refused("run " + path("m.so"), 7, {"another kind of GPU"});
  ::setenv("KORCH_CUDA_DRIVER", path("none.so").c_str(), 1);
  expect_refused("run " + path("m.so"), 7, {"no NVIDIA GPU", "libcuda.so.1"});
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

template <typename Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

// The emulated GPU's memory is this process's.
TEST_F(Gpu, RunsInAStreamOnItsOwnMemory) {
  write_branches();
  ASSERT_EQ(compile_for_gpu("branches.onnx", "--emulation --strategy greedy"), 0) << err_;
  void* library = ::dlopen(path("m.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto create = function_of<decltype(korch_create_with)>(library, "korch_create_with");
  const auto run = function_of<decltype(korch_run_with)>(library, "korch_run_with");
  const auto wait = function_of<decltype(korch_wait)>(library, "korch_wait");
  const auto destroy = function_of<decltype(korch_free)>(library, "korch_free");
  korch_instance* network = nullptr;
  korch_options second = {};
  second.struct_size = sizeof second;
  second.device = 1;
  EXPECT_EQ(create(&second, &network), KORCH_NO_GPU);
  ASSERT_EQ(create(nullptr, &network), KORCH_OK);
  std::vector<float> x(4 * 4 * 64), y(40), z(4 * 4 * 64), y_here(40), z_here(4 * 4 * 64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) / 13;
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data(), z.data()};
  void* outputs_here[] = {y_here.data(), z_here.data()};
  ASSERT_EQ(run(network, inputs, outputs_here, nullptr), KORCH_OK);
  korch_run_options options = {};
  options.struct_size = sizeof options;
  options.on_device = 1;
  ASSERT_EQ(run(network, inputs, outputs, &options), KORCH_OK);
  EXPECT_EQ(wait(network), KORCH_OK);
  EXPECT_EQ(y, y_here);
  EXPECT_EQ(z, z_here);
  EXPECT_EQ(z, x);
  const int32_t never = 0;
  options.cancel = &never;
  EXPECT_EQ(run(network, inputs, outputs, &options), KORCH_INVALID_ARGUMENT);
  destroy(network);
  ::dlclose(library);
}

TEST_F(Gpu, AStrippedExecutableIsWhole) {
  write_branches();
  ASSERT_EQ(compile_for_gpu("branches.onnx", "--emulation --strategy greedy"), 0) << err_;
  if (std::system(("strip " + path("m.so") + " 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no strip is here";
  EXPECT_EQ(run("verify " + path("branches.onnx") + " " + path("m.so")), 0) << err_;
}

TEST_F(Gpu, AKernelsResources) {
  write_branches();
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
  EXPECT_EQ(run("verify " + path("range.onnx") + " " + path("m.so") + " --shape n=1..9"), 0) << err_;
}

}  // namespace
}  // namespace korch
