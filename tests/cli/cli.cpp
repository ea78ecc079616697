#include "cli.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

namespace korch {
namespace {

using Clock = std::chrono::steady_clock;

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::set<std::string> entries(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

}  // namespace

RunningProgram::RunningProgram(const std::string& arguments, const std::string& temporary_folder) {
  std::vector<std::string> words = {KORCH_PROGRAM};
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;) words.push_back(word);
  process_ = ::forkpty(&terminal_fd_, nullptr, nullptr, nullptr);
  if (process_ != 0) return;
  ::setenv("TMPDIR", temporary_folder.c_str(), 1);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

RunningProgram::~RunningProgram() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::close(terminal_fd_);
}

bool RunningProgram::read_some() {
  char buffer[4096];
  const ssize_t count = ::read(terminal_fd_, buffer, sizeof buffer);  // EIO once nobody writes any more
  if (count <= 0) return false;
  terminal_.append(buffer, static_cast<size_t>(count));
  return true;
}

bool RunningProgram::wait_for(const std::string& text) {
  for (;;) {
    const size_t at = terminal_.find(text, found_);
    if (at != std::string::npos) {
      found_ = at + text.size();
      return true;
    }
    if (!read_some()) return false;
  }
}

void RunningProgram::send(int signal) const {
  ::kill(process_, signal);
}

int RunningProgram::wait(double limit_s) {
  const auto end = Clock::now() + std::chrono::duration<double>(limit_s);
  while (Clock::now() < end) {
    pollfd ready = {terminal_fd_, POLLIN, 0};
    if (::poll(&ready, 1, 10) > 0 && !read_some()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != process_) continue;
    process_ = -1;
    while (read_some()) {
    }
    return exit_code(status);
  }
  return -1;
}

void Cli::SetUp() {
  make_directories(temporary_folder());
  ModelBuilder b;
  b.input("x", {2, 5}).output("out/y");
  b.node("Exp", {"x"}, {"out/y"});
  write_model("m.onnx", b);
}

std::string without_busy_warnings(const std::string& text) {
  std::string rest;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("korch: warning: this machine is busy", 0) != 0) rest += line + "\n";
  return rest;
}

void Cli::TearDown() {
  EXPECT_EQ(entries(temporary_folder()), std::set<std::string>()) << "temporary files are left";
  for (const std::string& name : files())
    EXPECT_EQ(name.find(".so."), std::string::npos) << name << " is left";
}

std::set<std::string> Cli::files() const {
  return entries(folder_.path());
}

int Cli::run(const std::string& arguments, const std::string& before) {
  const std::string command = "export TMPDIR=" + temporary_folder() + "; { " +
                              (before.empty() ? ":" : before) + "; exec " + KORCH_PROGRAM + " " + arguments +
                              "; } >" + path("log.out") + " 2>" + path("log.err") + " </dev/null";
  const int status = std::system(command.c_str());
  out_ = read_file(path("log.out"));
  err_ = read_file(path("log.err"));
  return exit_code(status);
}

std::string Cli::compile_arguments(const std::string& model, const std::string& more) const {
  return "compile " + path(model) + " -o " + path("m.so") + " --threads 1 --no-heal --profile-db " +
         path("k.db") + (more.empty() ? "" : " " + more);
}

int Cli::compile(const std::string& model, const std::string& more) {
  return run(compile_arguments(model, more));
}

void Cli::expect_refused(const std::string& arguments, int code, const std::vector<std::string>& words,
                         const std::string& before) {
  SCOPED_TRACE(arguments);
  EXPECT_EQ(run(arguments, before), code) << out_ << err_;
  const std::string start = "korch: ";
  size_t messages = 0;
  for (size_t line = 0; line < err_.size();
       line = err_.find('\n', line) == std::string::npos ? err_.size() : err_.find('\n', line) + 1)
    messages +=
        err_.compare(line, start.size(), start) == 0 && err_.compare(line, 15, "korch: warning:") != 0;
  EXPECT_EQ(messages, 1u) << err_;
  EXPECT_EQ(err_.find("internal error"), std::string::npos) << err_;
  for (const std::string& word : words)
    EXPECT_NE(err_.find(word), std::string::npos) << "'" << word << "' in: " << err_;
}

}  // namespace korch
