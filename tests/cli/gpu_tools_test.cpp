// What the program's verbs do with an executable for a GPU, and what happens where a kernel is wrong: here
// the driver leaves one out.
#include <filesystem>

#include "gpu.h"

namespace korch {
namespace {

class GpuTools : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    ModelBuilder b;
    b.input("x", {4, 32}).output("y");
    b.floats("w", {32, 16}, std::vector<float>(32 * 16, 0.25F));
    b.node("MatMul", {"x", "w"}, {"m"});
    b.node("Softmax", {"m"}, {"y"});
    write_model("net.onnx", b);
  }
  // Of the GPU that is here: the emulated one.
  std::string compiling() const {
    return "compile " + path("net.onnx") + " -o " + path("m.so") +
           " --no-profile-db --target cuda --no-measure --emulation --strategy greedy";
  }
  static std::string without_function(int number) {
    return "export KORCH_FAKE_CUDA_SKIPS=" + std::to_string(number);
  }
};

TEST_F(GpuTools, VerifyNamesTheWrongKernel) {
  ASSERT_EQ(run(compiling()), 0) << err_;
  const std::string verify = "verify " + path("net.onnx") + " " + path("m.so");
  EXPECT_EQ(run(verify), 0) << err_;
  expect_refused(verify, 5, {"step 0", "MatMul"}, without_function(1));
  expect_refused(verify, 5, {"step 1", "ReduceMax"}, without_function(2));
}

TEST_F(GpuTools, CompileHealsAndShowsTheKernel) {
  ASSERT_EQ(run(compiling(), without_function(1)), 0) << err_;
  EXPECT_TRUE(says("kernel struck, and the plan made anew without it: MatMul")) << err_;
  EXPECT_EQ(run("verify " + path("net.onnx") + " " + path("m.so")), 0) << err_;
  std::string folder;
  for (const auto& entry : std::filesystem::directory_iterator(path("m.so.struck"))) folder = entry.path();
  ASSERT_NE(folder, "") << err_;
  const auto reproduced = [&](const std::string& before) {
    const std::string log = path("reproduced");
    const int status =
        std::system((before + "; cd '" + folder + "' && sh run.sh >'" + log + "' 2>&1").c_str());
    out_ = read_file(log);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(reproduced(without_function(1)), 1) << out_;
  EXPECT_TRUE(says("output 0: ")) << out_;
  EXPECT_TRUE(says("wrong")) << out_;
  EXPECT_EQ(reproduced("true"), 0) << out_;
  EXPECT_TRUE(says("right")) << out_;
  EXPECT_EQ(reproduced("export KORCH_CUDA_DRIVER=" + path("none.so")), 3) << out_;
  EXPECT_NE(read_file(folder + "/kernel.cu").find("__global__"), std::string::npos);
  EXPECT_EQ(read_file(folder + "/kernel.cubin").substr(1, 3), "ELF");
  std::filesystem::remove_all(path("m.so.struck"));
}

TEST_F(GpuTools, WithoutHealingItIsAnError) {
  expect_refused(compiling() + " --no-heal", 5, {"step 0", "MatMul"}, without_function(1));
  EXPECT_FALSE(files().contains("m.so"));
}

TEST_F(GpuTools, NumbersOfThreadsAreForCpus) {
  ASSERT_EQ(run(compiling()), 0) << err_;
  for (const char* verb : {"run ", "bench --rounds 5 "})
    expect_refused(verb + path("m.so") + " --threads 2", 2, {"runs on a GPU", "threads are for CPUs"});
}

TEST_F(GpuTools, TimesAreOfKernels) {
  ASSERT_EQ(run(compiling()), 0) << err_;
  EXPECT_EQ(run("bench --rounds 5 --profile " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("%memory")) << out_;
  EXPECT_TRUE(says("MatMul")) << out_;
  expect_refused("bench --rounds 5 " + path("m.so") + " --trace " + path("trace.json"), 2,
                 {"runs on a GPU", "what runs where"});
  EXPECT_FALSE(files().contains("trace.json"));
  EXPECT_EQ(run("explain --run " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("run whole now: ")) << out_;
  EXPECT_TRUE(says("a GPU tells no time line")) << out_;
  EXPECT_EQ(run("explain --run --html " + path("page.html") + " " + path("m.so")), 0) << err_;
  EXPECT_EQ(run("diff --profile " + path("m.so") + " " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("measured")) << out_;
}

}  // namespace
}  // namespace korch
