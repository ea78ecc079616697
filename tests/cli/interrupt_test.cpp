// Ctrl-C in every stage: exit code 130 soon, one message, nothing left and nothing half-written.
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli.h"

namespace korch {
namespace {

constexpr double kSoon_s = 5;  // a second is promised; this machine may be busy

// Products that take one worker several seconds, whatever the machine, in an executable that is made in no
// time.
ModelBuilder slow_model() {
  constexpr int kProducts = 100;
  ModelBuilder b;
  b.input("v0", {2048, 2048}).output("v" + std::to_string(kProducts));
  for (int i = 0; i < kProducts; ++i)
    b.node("MatMul", {"v" + std::to_string(i), "v0"}, {"v" + std::to_string(i + 1)});
  return b;
}

// A loop that no condition ends.
ModelBuilder endless_model() {
  ModelBuilder b(21);
  b.input("x", {256, 256}).output("y");
  onnx::proto::NodeProto& node = b.node("Loop", {"", "", "x"}, {"y"});
  auto* attribute = node.add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::proto::AttributeProto::GRAPH);
  onnx::proto::GraphProto& body = *attribute->mutable_g();
  for (const char* name : {"i", "goes_on", "before"}) body.add_input()->set_name(name);
  for (const char* name : {"goes_on", "after"}) body.add_output()->set_name(name);
  onnx::proto::NodeProto& product = *body.add_node();
  product.set_op_type("MatMul");
  product.add_input("before");
  product.add_input("x");
  product.add_output("after");
  return b;
}

class Interrupt : public CliWithOldOutput {
 protected:
  // Sends the signal `after_ms` after the terminal has shown `text` (at once when it is empty).
  void expect_interrupted(const std::string& arguments, const std::string& text, int after_ms = 0,
                          int signal = SIGINT) {
    SCOPED_TRACE(arguments + " at '" + text + "' + " + std::to_string(after_ms) + " ms");
    RunningProgram program(arguments, temporary_folder());
    ASSERT_TRUE(text.empty() || program.wait_for(text)) << program.terminal();
    std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
    program.send(signal);
    EXPECT_EQ(program.wait(kSoon_s), 130) << program.terminal();
    const std::string message = "korch: interrupted";
    const size_t at = program.terminal().find(message);
    EXPECT_NE(at, std::string::npos) << program.terminal();
    EXPECT_EQ(program.terminal().find("korch: ", at + message.size()), std::string::npos)
        << program.terminal();
  }
  void make_slow_executable() {
    write_model("slow.onnx", slow_model());
    ASSERT_EQ(run("compile " + path("slow.onnx") + " -o " + path("slow.so") +
                  " --threads 1 --strategy unfused --no-measure --no-verify --no-profile-db"),
              0)
        << err_;
  }
};

TEST_F(Interrupt, DuringImport) {
  ModelBuilder b;
  b.output("v300");
  b.ints("shape", {1 << 22});
  b.node("ConstantOfShape", {"shape"}, {"v0"});
  for (int i = 0; i < 300; ++i) b.node("Sin", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  write_model("folded.onnx", b);
  expect_interrupted(compile_arguments("folded.onnx"), "import");
  expect_interrupted(compile_arguments("folded.onnx"), "import", 300);
}

TEST_F(Interrupt, WhileCompiling) {
  ASSERT_EQ(run("model candy_224 -o " + path("candy.onnx")), 0) << err_;
  for (const char* stage : {"fission", "peaks", "candidates", "columns", "solve"})
    expect_interrupted(compile_arguments("candy.onnx"), stage);
  expect_interrupted(compile_arguments("candy.onnx"), "left", 200);  // something is measured by now
  expect_interrupted(compile_arguments("candy.onnx"), "left", 1500);
  expect_interrupted(compile_arguments("candy.onnx"), "candidates", 0, SIGTERM);
  expect_interrupted(compile_arguments("candy.onnx", "--no-measure"), "solve", 500);
}

TEST_F(Interrupt, EverySignalThatAsksForTheEnd) {
  write_model("slow.onnx", slow_model());
  const std::string arguments = compile_arguments("slow.onnx", "--strategy unfused --no-measure");
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) expect_interrupted(arguments, "verify", 100, signal);
}

// As nohup starts it.
TEST_F(Interrupt, NotBySignalsThatAreIgnored) {
  make_slow_executable();
  // The program takes the shell's process, and is at work for seconds. Had it heeded the first two, it would
  // have ended by itself.
  EXPECT_EQ(run("run " + path("slow.so"),
                "trap '' HUP QUIT; (sleep 1; kill -HUP $$; kill -QUIT $$; sleep 3; kill -KILL $$) & :"),
            1000 + SIGKILL)
      << err_;
}

TEST_F(Interrupt, WhileVerifyingWhatWasCompiled) {
  write_model("slow.onnx", slow_model());
  const std::string arguments = compile_arguments("slow.onnx", "--strategy unfused --no-measure");
  for (int after_ms : {0, 100, 1000}) expect_interrupted(arguments, "verify", after_ms);
}

TEST_F(Interrupt, WhilePackaging) {
  const std::string arguments = compile_arguments("m.onnx", "--no-measure --no-verify");
  RunningProgram program(arguments, temporary_folder());
  ASSERT_TRUE(program.wait_for("package")) << program.terminal();
  program.send(SIGINT);
  const int code = program.wait(kSoon_s);
  // So little is left to do that it may be done first; half of it never is.
  EXPECT_TRUE(code == 130 || code == 0) << program.terminal();
  if (code == 0) {
    EXPECT_EQ(run("run " + path("m.so")), 0) << err_;
    write_file(path("m.so"), "the old one");
  }
}

TEST_F(Interrupt, WhileRunningVerifyingAndTiming) {
  make_slow_executable();
  for (const std::string& arguments :
       {"run " + path("slow.so") + " --output-dir " + path("out"), "bench " + path("slow.so"),
        "bench --profile " + path("slow.so"), "verify " + path("slow.onnx") + " " + path("slow.so")})
    expect_interrupted(arguments, "", 1000);
  EXPECT_FALSE(file_exists(path("out/v100.npy")));
}

TEST_F(Interrupt, OfLoopsWithoutEnd) {
  write_model("endless.onnx", endless_model());
  const std::string arguments = compile_arguments("endless.onnx", "--strategy unfused --no-measure");
  expect_interrupted(arguments, "verify", 300);
  ASSERT_EQ(run("compile " + path("endless.onnx") + " -o " + path("endless.so") +
                " --threads 1 --strategy unfused --no-measure --no-verify --no-profile-db"),
            0)
      << err_;
  expect_interrupted("run " + path("endless.so"), "", 1000);
}

TEST_F(Interrupt, TwiceEndsAtOnce) {
  make_slow_executable();
  RunningProgram program("run " + path("slow.so"), temporary_folder());
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  program.send(SIGINT);
  EXPECT_EQ(program.wait(kSoon_s), 130) << program.terminal();
}

}  // namespace
}  // namespace korch
