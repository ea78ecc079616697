// The program from outside: runs it in a folder of its own and looks at its exit code, its messages and what
// it leaves.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "korch/base/files.h"
#include "model_builder.h"

namespace korch {

// The program running on a terminal of its own, for what happens while it runs.
class RunningProgram {
 public:
  // `arguments` are separated by single blanks. Standard output and error go to the terminal.
  RunningProgram(const std::string& arguments, const std::string& temporary_folder);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  // Until the terminal has shown `text` behind what earlier calls have found; false when the program ended
  // before.
  bool wait_for(const std::string& text);
  void send(int signal) const;
  // Its exit code, 1000 + signal when one ended it, -1 when it is still alive after `limit_s` seconds.
  int wait(double limit_s);
  const std::string& terminal() const { return terminal_; }

 private:
  bool read_some();  // false at the end
  int process_ = -1, terminal_fd_ = -1;
  std::string terminal_;
  size_t found_ = 0;
};

class Cli : public ::testing::Test {
 protected:
  // out/y = exp(x), x: f32[2x5], in m.onnx
  void SetUp() override;
  // Whatever happened, the program has left nothing behind.
  void TearDown() override;

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string temporary_folder() const { return path("tmp"); }
  std::set<std::string> files() const;  // in the folder

  // Exit code; 1000 + signal when one ended it. `before`: shell commands, for limits.
  int run(const std::string& arguments, const std::string& before = "");
  int compile(const std::string& model, const std::string& more = "");
  // Ends with this code and one message that has all these words.
  void expect_refused(const std::string& arguments, int code, const std::vector<std::string>& words,
                      const std::string& before = "");
  std::string compile_arguments(const std::string& model, const std::string& more = "") const;
  void write_model(const std::string& name, const ModelBuilder& model) const {
    write_file(path(name), model.bytes());
  }
  bool says(const std::string& text) const { return (out_ + err_).find(text) != std::string::npos; }

  TempDir folder_;
  std::string out_, err_;
};

// Of what the program says on its standard error: without what a busy machine makes it say.
std::string without_busy_warnings(const std::string& text);

// With an m.so from before, which the program must leave as it is.
class CliWithOldOutput : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_file(path("m.so"), "the old one");
  }
  void TearDown() override {
    Cli::TearDown();
    EXPECT_EQ(read_file(path("m.so")), "the old one");
  }
};

}  // namespace korch
