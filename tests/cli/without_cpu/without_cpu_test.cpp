// The program of a build without the CPU backend: what it plans, and what it refuses by name.
#include "../cli.h"
#include "korch/backend/cuda/nvrtc.h"
#include "korch/base/json.h"

namespace korch {
namespace {

const std::string kMissing = "built without the CPU backend (cmake -DKORCH_CPU=ON builds it)";

class WithoutCpu : public Cli {
 protected:
  std::string plan(const std::string& more = "") const {
    return "compile " + path("m.onnx") + " --no-measure --stop-after plan --profile-db " + path("k.db") +
           more;
  }
};

TEST_F(WithoutCpu, PlansAndWritesTheStages) {
  for (const char* target : {"native", "x86-64-v3", "x86-64-v4-vnni"})
    for (const char* strategy : {"greedy", "optimal"}) {
      ASSERT_EQ(run(plan(std::string(" --json --target ") + target + " --strategy " + strategy)), 0) << err_;
      EXPECT_EQ(nlohmann::json::parse(out_)["steps"], 1);
    }
  EXPECT_TRUE(says(kMissing)) << err_;
  ASSERT_EQ(run(plan(" --dump-dir " + path("stages"))), 0) << err_;
  const std::string tile = path("stages/kernel-000.tile");
  EXPECT_EQ(read_file(path("stages/kernel-000.cpp")).find("clang++"), std::string::npos);
  for (const char* form : {"tiles", "lowered", "cpp", "cuda"})
    EXPECT_EQ(run("kernel print " + tile + " --as " + form), 0) << err_;
  EXPECT_EQ(run("kernel diff " + tile + " " + tile), 0) << err_;
  expect_refused("kernel run " + tile, 2, {kMissing});
}

TEST_F(WithoutCpu, RefusesWhatNeedsACompiler) {
  expect_refused(compile_arguments("m.onnx"), 4, {kMissing, "--stop-after plan"});
  expect_refused(compile_arguments("m.onnx", "--no-measure"), 4, {kMissing, "--stop-after plan"});
  expect_refused("compile " + path("m.onnx") + " --no-profile-db --stop-after plan", 2,
                 {kMissing, "--no-measure"});
  EXPECT_EQ(files().count("m.so"), 0u);
  EXPECT_EQ(run("compile " + path("m.onnx") + " --no-profile-db --stop-after columns"), 0) << err_;
}

TEST_F(WithoutCpu, WritesExecutablesForGpus) {
  if (!Nvrtc::get().missing().empty()) GTEST_SKIP() << Nvrtc::get().missing();
  const std::string compile_for_gpu =
      "compile " + path("m.onnx") + " -o " + path("m.so") + " --no-profile-db --target sm_80 --no-measure";
  expect_refused(compile_for_gpu + " --emulation", 4, {kMissing, "--emulation"});
  EXPECT_EQ(files().count("m.so"), 0u);
  ASSERT_EQ(run(compile_for_gpu), 0) << err_;
  EXPECT_EQ(run("explain " + path("m.so")), 0) << err_;
  EXPECT_TRUE(says("sm_80")) << out_;
}

TEST_F(WithoutCpu, TheDoctorSaysWhatIsMissing) {
  ASSERT_EQ(run("doctor --json"), 0) << err_;
  const nlohmann::json json = nlohmann::json::parse(out_);
  EXPECT_NE(json["compiler"].get<std::string>().find(kMissing), std::string::npos) << out_;
  ASSERT_EQ(run("doctor"), 0) << err_;
  EXPECT_TRUE(says("Compiler ") && says(kMissing)) << out_;
}

TEST_F(WithoutCpu, CostsMove) {
  ASSERT_EQ(run(plan()), 0) << err_;
  ASSERT_EQ(run("costs export " + path("costs") + " --profile-db " + path("k.db")), 0) << err_;
  EXPECT_EQ(run("costs import " + path("costs") + " --profile-db " + path("other.db")), 0) << err_;
}

}  // namespace
}  // namespace korch
