// What the program says of the machine and the targets: more workers than processors, targets of other
// machines.
#include "cli.h"
#include "korch/base/usable_cpus.h"
#include "korch/device/device.h"

namespace korch {
namespace {

class Machine : public Cli {
 protected:
  std::string text_of(int workers) const {
    return std::to_string(workers) + " workers share " +
           (usable_cpus() == 1 ? "one processor" : std::to_string(usable_cpus()) + " processors");
  }
};

TEST_F(Machine, EveryTargetIsInHelpManualAndCompletion) {
  for (const char* words : {"compile --help", "kernel --help", "manual", "completion bash"}) {
    ASSERT_EQ(run(words), 0) << err_;
    std::string plain;
    for (const char c : out_)
      if (c != '\\') plain += c;  // roff's hyphens
    for (const std::string& target : target_names())
      EXPECT_NE(plain.find(target), std::string::npos) << target << " in " << words << ":\n" << out_;
  }
  for (const std::string& target : target_names())
    if (!gpu_named(target) && target != "cuda") {
      EXPECT_EQ(compile("m.onnx", "--no-measure --no-verify --strategy greedy --target " + target), 0)
          << err_;
    }
  expect_refused(compile_arguments("m.onnx", "--target x86-64-v9"), 2, target_names());
}

TEST_F(Machine, MoreWorkersThanCanBeMeasuredAreRefusedByBothNumbers) {
  if (usable_cpus() >= 64) GTEST_SKIP() << "1024 workers are not too many for this machine";
  const std::string arguments = "compile " + path("m.onnx") + " -o " + path("m.so") + " --no-profile-db";
  expect_refused(arguments + " --threads 1024", 2,
                 {"1024 workers", std::to_string(usable_cpus()), "--no-measure"});
  EXPECT_EQ(run(arguments + " --threads 1024 --no-measure --no-verify"), 0) << err_;
  EXPECT_TRUE(says("korch: warning: " + text_of(1024))) << err_;
  EXPECT_EQ(run(arguments + " --threads 1025 --no-measure"), 2) << err_;
  EXPECT_TRUE(says("--threads: a whole number from 0 to 1024, not '1025'")) << err_;
}

TEST_F(Machine, AConvolutionRunsWithAnyNumberOfWorkers) {
  ModelBuilder b;
  b.input("x", {8, 32, 20, 20}).initializer("w", HostTensor(TensorType{DType::f32, {64, 32, 3, 3}}));
  b.output("y").node("Conv", {"x", "w"}, {"y"});
  write_model("conv.onnx", b);
  ASSERT_EQ(compile("conv.onnx", "--no-measure --strategy greedy"), 0) << err_;
  for (const int workers : {2, 300, 1024}) {
    EXPECT_EQ(run("run " + path("m.so") + " --threads " + std::to_string(workers)), 0) << workers << err_;
    EXPECT_EQ(says(text_of(workers)), workers > usable_cpus()) << err_;
  }
}

TEST_F(Machine, ExplainSaysHowAWholeRunTakesNow) {
  ASSERT_EQ(compile("m.onnx", "--no-measure --strategy greedy"), 0) << err_;
  ASSERT_EQ(run("explain --run " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("run whole now: ")) << out_;
  EXPECT_TRUE(says("it was not run when it was compiled")) << out_;
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_FALSE(says("run whole now: ")) << out_;
}

TEST_F(Machine, NominalSpeedsAreSaid) {
  const IsaRow* absent = nullptr;
  for (const IsaRow& level : kIsas)
    if (!runs_here(level.isa)) absent = &level;
  if (absent == nullptr) GTEST_SKIP() << "this CPU offers every instruction set korch knows";
  ASSERT_EQ(compile("m.onnx", std::string("--no-measure --target ") + absent->name), 0) << err_;
  const std::string speeds = "nominal speeds of " + std::string(absent->name) + ", not measured";
  EXPECT_TRUE(says("korch: warning: " + speeds)) << err_;
  ASSERT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says(speeds)) << out_;
  EXPECT_TRUE(says("bound (not proven)")) << out_;
}

TEST_F(Machine, AFolderForTemporariesThatIsNoneIsSaid) {
  EXPECT_EQ(run(compile_arguments("m.onnx", "--no-measure"), "export TMPDIR=" + path("no/such")), 7);
  EXPECT_TRUE(says("TMPDIR")) << err_;
  EXPECT_FALSE(says("filesystem error")) << err_;
}

}  // namespace
}  // namespace korch
