// The program from outside: exit codes, messages, and that bad input leaves nothing half-written.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "korch/base/files.h"
#include "korch/ir/graph.h"
#include "korch/onnx/export.h"
#include "korch/tensor/npy.h"

namespace korch {
namespace {

class Cli : public ::testing::Test {
 protected:
  void SetUp() override {
    Graph g;
    const ValueId x = g.add_input({DType::f32, {2, 5}}, "x");
    g.set_outputs({g.add(Op::Exp, NoAttrs{}, {x})}, {"out/y"});
    export_onnx(g, path("m.onnx"));
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  // Exit code; stdout and stderr together in output_.
  int run(const std::string& arguments) {
    const std::string command =
        std::string(KORCH_PROGRAM) + " " + arguments + " >" + path("log") + " 2>&1 </dev/null";
    const int status = std::system(command.c_str());
    output_ = read_file(path("log"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  int compile(const std::string& model, const std::string& more = "") {
    return run("compile " + path(model) + " -o " + path("m.so") + " --threads 1 --profile-db " + path("k.db") + " " + more);
  }
  bool says(const std::string& text) const { return output_.find(text) != std::string::npos; }

  TempDir folder_;
  std::string output_;
};

TEST_F(Cli, CompileRunVerifyBenchExplain) {
  ASSERT_EQ(compile("m.onnx"), 0) << output_;
  EXPECT_EQ(run("verify " + path("m.onnx") + " " + path("m.so")), 0) << output_;
  EXPECT_EQ(run("bench --rounds 5 " + path("m.so")), 0) << output_;
  EXPECT_EQ(run("explain " + path("m.so")), 0) << output_;
  EXPECT_TRUE(says("Exp")) << output_;
  write_npy(path("x.npy"), HostTensor::of<float>(DType::f32, {2, 5}, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("x.npy") + " --output-dir " + path("out")), 0) << output_;
  EXPECT_NEAR(read_npy(path("out/out_y.npy")).data<float>()[1], 2.7182818f, 1e-5);
}

TEST_F(Cli, UsageErrors) {
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(run("frobnicate"), 2);
  EXPECT_EQ(run("compile " + path("m.onnx")), 2);
  EXPECT_EQ(compile("m.onnx", "--target z80"), 2);
  EXPECT_EQ(compile("m.onnx", "--shape x"), 2);
  EXPECT_EQ(compile("m.onnx", "--budget soon"), 2);
  EXPECT_FALSE(file_exists(path("m.so")));
  EXPECT_EQ(run("--help"), 0);
  EXPECT_EQ(run("compile --help"), 0);
}

TEST_F(Cli, InvalidModels) {
  write_file(path("bad.onnx"), std::string(1000, 'x'));
  EXPECT_EQ(compile("bad.onnx"), 3) << output_;
  const std::string good = read_file(path("m.onnx"));
  write_file(path("cut.onnx"), good.substr(0, good.size() / 2));
  EXPECT_EQ(compile("cut.onnx"), 3) << output_;
  EXPECT_EQ(compile("absent.onnx"), 7) << output_;
  EXPECT_TRUE(says("absent.onnx"));
  EXPECT_FALSE(file_exists(path("m.so")));
}

TEST_F(Cli, InvalidInputs) {
  ASSERT_EQ(compile("m.onnx"), 0) << output_;
  write_npy(path("x.npy"), HostTensor::of<float>(DType::f32, {3}, {0, 1, 2}));
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("x.npy")), 3) << output_;
  EXPECT_EQ(run("run " + path("m.so") + " --input z=" + path("x.npy")), 2) << output_;
  EXPECT_EQ(run("run " + path("m.so") + " --input x=" + path("none.npy")), 7) << output_;
}

TEST_F(Cli, NotAnExecutable) {
  write_file(path("text.so"), "hello");
  for (const char* verb : {"run", "bench", "explain"}) EXPECT_EQ(run(std::string(verb) + " " + path("text.so")), 7) << output_;
  ASSERT_EQ(compile("m.onnx"), 0) << output_;
  const std::string good = read_file(path("m.so"));
  write_file(path("cut.so"), good.substr(0, good.size() - good.size() / 3));
  EXPECT_EQ(run("run " + path("cut.so")), 7) << output_;
}

TEST_F(Cli, WrongResultsAreFound) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {2, 5}}, "x");
  g.set_outputs({g.add(Op::Sin, NoAttrs{}, {x})}, {"out/y"});
  export_onnx(g, path("other.onnx"));
  ASSERT_EQ(compile("m.onnx"), 0) << output_;
  EXPECT_EQ(run("verify " + path("other.onnx") + " " + path("m.so")), 5) << output_;
}

TEST_F(Cli, CorruptDatabaseIsNoObstacle) {
  write_file(path("k.db"), std::string(5000, 'x'));
  EXPECT_EQ(compile("m.onnx"), 0) << output_;
}

TEST_F(Cli, OutputFolderThatDoesNotExist) {
  EXPECT_EQ(run("compile " + path("m.onnx") + " -o " + path("no/such/m.so") + " --threads 1 --no-profile-db"), 7) << output_;
}

}  // namespace
}  // namespace korch
