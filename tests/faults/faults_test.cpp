// Allocations, writes, threads and libraries that the system refuses, one at a time: the right exit code, no
// signal, no hang, the user's files whole, nothing left behind. KORCH_FAULTS_ALL=1 tries everything where a
// test otherwise draws; KORCH_FAULTS_SEED draws others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "fault_plan.h"
#include "korch/base/files.h"
#include "model_builder.h"

namespace korch {
namespace {

constexpr int kHung = -1;
constexpr int kOutOfMemory = 6, kNotReadable = 7;  // exit codes of the program (base/error.h)

bool tries_all() {
  return std::getenv("KORCH_FAULTS_ALL") != nullptr;
}

uint64_t seed() {
  const char* text = std::getenv("KORCH_FAULTS_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

uint32_t operator|(FaultKind a, FaultKind b) {
  return static_cast<uint32_t>(a) | static_cast<uint32_t>(b);
}

// The plan of one process, mapped into this one too.
class SharedPlan {
 public:
  explicit SharedPlan(const std::string& path) : path_(path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(::ftruncate(fd, sizeof(FaultPlan)), 0);
    plan_ = static_cast<FaultPlan*>(
        ::mmap(nullptr, sizeof(FaultPlan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ::close(fd);
  }
  ~SharedPlan() { ::munmap(plan_, sizeof(FaultPlan)); }
  SharedPlan(const SharedPlan&) = delete;
  SharedPlan& operator=(const SharedPlan&) = delete;
  const std::string& path() const { return path_; }
  FaultPlan* operator->() { return plan_; }
  FaultPlan& operator*() { return *plan_; }

 private:
  std::string path_;
  FaultPlan* plan_;
};

std::set<std::string> entries(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

class Faults : public testing::Test {
 protected:
  // y = exp(x @ w), and its executable old.so
  void SetUp() override {
#ifdef KORCH_SANITIZED
    GTEST_SKIP()
        << "a sanitizer must come before every preloaded library, and maps more than these tests allow";
#endif
    make_directories(path("tmp"));
    ModelBuilder b;
    b.input("x", {4, 8}).output("y");
    b.floats("w", {8, 8}, std::vector<float>(64, 0.25f));
    b.node("MatMul", {"x", "w"}, {"p"});
    b.node("Exp", {"p"}, {"y"});
    write_file(path("m.onnx"), b.bytes());
    ASSERT_EQ(run({KORCH_PROGRAM, "compile", path("m.onnx"), "-o", path("old.so"), "--threads", "1",
                   "--no-measure", "--no-profile-db"}),
              0);
  }
  std::string path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }

  std::vector<std::string> compile(std::vector<std::string> more) const {
    std::vector<std::string> words = {KORCH_PROGRAM, "compile", path("m.onnx"), "-o",          path("m.so"),
                                      "--threads",   "1",       "--no-measure", "--no-verify", "--strategy",
                                      "greedy"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // Exit code; 1000 + signal; kHung. Under the plan, if there is one.
  int run(std::vector<std::string> words, bool with_plan = false) {
    const int limit_s = tries_all() ? 7200 : 600;  // a forked run waits for its children
    const pid_t process = ::fork();
    if (process == 0) {
      ::alarm(limit_s);
      ::setenv("TMPDIR", path("tmp").c_str(), 1);
      ::setenv("OPENBLAS_NUM_THREADS", "1", 1);  // none beside the one that is forked
      if (with_plan) {
        ::setenv("KORCH_FAULTS", plan_.path().c_str(), 1);
        ::setenv("LD_PRELOAD", KORCH_FAULT_PRELOAD, 1);
      }
      const int log = ::open(path("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(log, 1);
      ::dup2(log, 2);
      std::vector<char*> pointers;
      for (std::string& word : words) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    return code_of(status);
  }
  static int code_of(int status) {
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WTERMSIG(status) == SIGALRM ? kHung : 1000 + WTERMSIG(status);
  }

  // Starts again with the n-th call failing; where it failed is in the plan.
  int run_with_fault(const std::vector<std::string>& words, uint32_t kinds, uint64_t n, bool from_main) {
    *plan_ = FaultPlan();
    plan_->kinds = kinds;
    plan_->mode = n == 0 ? FaultMode::count : FaultMode::nth;
    plan_->fail_at = n;
    plan_->from_main = from_main;
    return run(words, true);
  }
  std::string where() {
    return "call " + std::to_string(plan_->outcome[0].call) + ", addr2line -Cfe " KORCH_PROGRAM " " +
           hex(plan_->outcome[0].place) + "\n" + read_file(path("log"));
  }
  static std::string hex(uint64_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
  }

  void expect_nothing_left() {
    EXPECT_EQ(entries(path("tmp")), std::set<std::string>()) << where();
  }
  // Either the old content or a whole executable, with nothing beside it.
  void expect_whole_output() {
    if (read_file(path("m.so")) != "the old one") {
      EXPECT_EQ(run({KORCH_RUN_NETWORK, path("m.so"), "1"}), 0) << where();
      write_file(path("m.so"), "the old one");
    }
  }
  void expect_nothing_beside_output() {
    for (const std::string& name : entries(folder_.path()))
      EXPECT_EQ(name.find("m.so."), std::string::npos) << name;
  }

  // Every child's end is one of these.
  void expect_outcomes(const std::set<int>& allowed) {
    std::map<int, int> codes;
    for (uint32_t i = 0; i < plan_->outcomes; ++i) {
      const FaultOutcome& outcome = plan_->outcome[i];
      const int code = code_of(outcome.status);
      ++codes[code];
      EXPECT_TRUE(allowed.count(code) != 0) << "code " << code << " at call " << outcome.call
                                            << ": addr2line -Cfe " KORCH_PROGRAM " " << hex(outcome.place);
    }
    for (const auto& [code, count] : codes) std::printf("  exit code %d: %d\n", code, count);
  }

  TempDir folder_;
  SharedPlan plan_{folder_.path() + "/plan"};
};

TEST_F(Faults, InstanceOfTwoThreadsEveryOne) {
  for (const char* pool : {"", "pool"}) {
    std::vector<std::string> words = {KORCH_RUN_NETWORK, path("old.so"), "2"};
    if (*pool != 0) words.push_back(pool);
    std::map<int, int> codes;
    for (uint64_t n = 1;; ++n) {
      ASSERT_LT(n, 5000u);
      const int code = run_with_fault(words, (FaultKind::memory | FaultKind::thread) | 8, n, false);
      if (plan_->failed == 0) break;
      ++codes[code];
      // Goes on without, with fewer threads, is not loaded, or the status says that there is no memory.
      EXPECT_TRUE(code == 0 || code == 9 || code == 13) << code << " at " << where();
    }
    EXPECT_GT(codes[9], 0);
    // Instance, pool, its threads, the executor's tables, its arena; with a shared pool twice but for the
    // pool.
    EXPECT_GT(codes[13], *pool != 0 ? 9 : 4);
  }
}

TEST_F(Faults, RunEveryAllocation) {
  *plan_ = FaultPlan();
  plan_->kinds = static_cast<uint32_t>(FaultKind::memory);
  plan_->mode = FaultMode::forked;
  plan_->from_main = 1;
  plan_->own = tries_all() ? OwnCalls::all : OwnCalls::stacks;
  EXPECT_EQ(run({KORCH_PROGRAM, "run", path("old.so")}, true), 0) << read_file(path("log"));
  std::printf("  %llu calls, %u fail\n", static_cast<unsigned long long>(plan_->calls), plan_->outcomes);
  EXPECT_GT(plan_->outcomes, 100u);
  expect_outcomes({0, kOutOfMemory, kNotReadable});
}

TEST_F(Faults, RunEveryFileThreadAndLibrary) {
  make_directories(path("out"));
  const std::vector<std::string> words = {KORCH_PROGRAM, "run",          path("old.so"), "--threads",
                                          "2",           "--output-dir", path("out")};
  ASSERT_EQ(run(words), 0);
  const std::string good = read_file(path("out/y.npy"));
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    ASSERT_LT(n, 500u);
    write_file(path("out/y.npy"), "the old one");
    const int code = run_with_fault(words, (FaultKind::write | FaultKind::thread) | 8, n, true);
    const std::string now = read_file(path("out/y.npy"));
    EXPECT_EQ(now, code == 0 ? good : "the old one") << where();
    expect_nothing_left();
    EXPECT_EQ(entries(path("out")).size(), 1u) << where();
    if (plan_->failed == 0) break;
    failures += code != 0;
    EXPECT_TRUE(code == 0 || code == kOutOfMemory || code == kNotReadable) << code << " at " << where();
  }
  EXPECT_GE(failures, 5);  // the watcher's thread, the pool's, the library, a file made, written, renamed
}

TEST_F(Faults, FewerThreadsThanWanted) {
  int warned = 0;
  for (uint64_t n = 1;; ++n) {
    ASSERT_LT(n, 20u);
    const int code = run_with_fault({KORCH_PROGRAM, "run", path("old.so"), "--threads", "3"},
                                    static_cast<uint32_t>(FaultKind::thread), n, true);
    if (plan_->failed == 0) break;
    const std::string log = read_file(path("log"));
    if (log.find("instead of 3: the system gives no more") == std::string::npos) continue;
    EXPECT_EQ(code, 0) << log;
    ++warned;
  }
  EXPECT_EQ(warned, 2);
}

TEST_F(Faults, CompileFilesThreadsAndLibraries) {
  const std::vector<std::string> words = compile({"--profile-db", path("k.db"), "--dump-dir", path("dump")});
  write_file(path("m.so"), "the old one");
  const uint32_t kinds = (FaultKind::write | FaultKind::thread) | 8;
  ASSERT_EQ(run_with_fault(words, kinds, 0, true), 0) << where();
  expect_whole_output();
  std::vector<uint64_t> all;
  for (uint64_t n = 1; n <= plan_->calls; ++n) all.push_back(n);
  std::printf("  %zu calls\n", all.size());
  std::mt19937_64 random(seed());
  std::shuffle(all.begin(), all.end(), random);
  constexpr size_t kDrawn = 12;
  if (!tries_all()) all.resize(std::min(all.size(), kDrawn));
  for (const uint64_t n : all) {
    for (const std::string& name : entries(folder_.path()))
      if (name.starts_with("k.db") || name == "dump") std::filesystem::remove_all(path(name));
    const int code = run_with_fault(words, kinds, n, true);
    EXPECT_TRUE(code == 0 || code == kOutOfMemory || code == kNotReadable) << code << " at " << where();
    EXPECT_TRUE(code == 0 || read_file(path("m.so")) == "the old one") << where();
    expect_nothing_left();
    expect_nothing_beside_output();
    expect_whole_output();
  }
}

TEST_F(Faults, CompileAllocationsUpToThePlan) {
  *plan_ = FaultPlan();
  plan_->kinds = static_cast<uint32_t>(FaultKind::memory);
  plan_->mode = FaultMode::forked;
  plan_->from_main = 1;
  plan_->own = OwnCalls::stacks;
  plan_->stack_share = tries_all() ? 1 : 16;
  plan_->seed = seed();
  const std::vector<std::string> words = compile({"--no-profile-db", "--stop-after", "plan"});
  EXPECT_EQ(run(words, true), 0) << read_file(path("log"));
  std::printf("  %llu calls, %u fail\n", static_cast<unsigned long long>(plan_->calls), plan_->outcomes);
  EXPECT_GT(plan_->outcomes, 50u);
  expect_outcomes({0, kOutOfMemory});

  plan_->own = OwnCalls::none;
  plan_->compiler_calls = plan_->calls_compiler;
  plan_->compiler_samples = tries_all() ? 12000 : 30;
  plan_->calls = plan_->calls_compiler = plan_->outcomes = 0;
  EXPECT_EQ(run(words, true), 0) << read_file(path("log"));
  EXPECT_GT(plan_->outcomes, plan_->compiler_samples / 2);
  expect_outcomes({0, kOutOfMemory});
}

TEST_F(Faults, CompileAllocationsFromThePlanOn) {
  write_file(path("m.so"), "the old one");
  const auto memory = static_cast<uint32_t>(FaultKind::memory);
  ASSERT_EQ(run_with_fault(compile({"--no-profile-db", "--stop-after", "plan"}), memory, 0, true), 0);
  const uint64_t before = plan_->calls;
  const std::vector<std::string> words = compile({"--profile-db", path("k.db")});
  ASSERT_EQ(run_with_fault(words, memory, 0, true), 0);
  expect_whole_output();
  const uint64_t after = plan_->calls;
  std::printf("  %llu calls after the plan\n", static_cast<unsigned long long>(after - before));
  ASSERT_GT(after, before);
  std::mt19937_64 random(seed());
  const int tries = tries_all() ? 500 : 10;
  for (int i = 0; i < tries; ++i) {
    const uint64_t n = before + 1 + random() % (after - before);
    const int code = run_with_fault(words, memory, n, true);
    EXPECT_TRUE(code == 0 || code == kOutOfMemory) << code << " at " << where();
    expect_nothing_left();
    expect_nothing_beside_output();
    expect_whole_output();
  }
}

// What a process may map in all is less than a library's threads want (OpenBLAS's try for ever).
TEST_F(Faults, LittleMemory) {
  for (const char* kilobytes : {"300000", "400000", "500000", "700000"}) {
    const std::string command = std::string("ulimit -v ") + kilobytes +
                                "; exec timeout -s KILL 120 " KORCH_PROGRAM + " compile " + path("m.onnx") +
                                " -o " + path("m.so") + " --no-measure --no-profile-db";
    const int code = run({"/bin/sh", "-c", command});
    EXPECT_TRUE(code == 0 || code == kOutOfMemory || code == 127) << kilobytes << ": " << code << "\n"
                                                                  << read_file(path("log"));
    EXPECT_EQ(entries(path("tmp")), std::set<std::string>()) << kilobytes;
  }
}

}  // namespace
}  // namespace korch
