// Executables and Runner with the compiler of this build.
#include "executables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "korch/base/files.h"
#include "network_builder.h"
#include "runner.h"

namespace korch::ort {
namespace {

namespace fs = std::filesystem;

// y = relu(x w), x and y [64, 64], w all 1/8.
NetworkBuilder product() {
  NetworkBuilder b;
  b.value("x", {64, 64}).weights("w", {64, 64}).output("y");
  b.node("MatMul", {"x", "w"}, {"p"}, {64, 64});
  b.node("Relu", {"p"}, {"y"}, {64, 64});
  return b;
}

class OrtExecutables : public testing::Test {
 protected:
  OrtExecutables() {
    options_.compiler = KORCH_PROGRAM;
    options_.compile["measure"] = "0";
    options_.threads = 3;
    options_.compile["threads"] = "3";
    options_.cache = folder_.path() + "/made/on/the/way";
  }
  Executables executables() {
    return Executables(options_, {[this](const std::string& line) { log_ += line + "\n"; },
                                  [this](const std::string& line) { warnings_ += line + "\n"; }});
  }
  int kept() const {
    return static_cast<int>(std::distance(fs::directory_iterator(options_.cache), fs::directory_iterator()));
  }
  int compilations() const {
    int count = 0;
    for (size_t at = log_.find("compiling"); at != std::string::npos; at = log_.find("compiling", at + 1))
      ++count;
    return count;
  }

  TempDir folder_;
  Options options_;
  std::string log_, warnings_;
};

TEST_F(OrtExecutables, AreCompiledOnce) {
  const NetworkBuilder b = product();
  const Subgraph subgraph = subgraph_of(b.network, {0, 1});
  Executables first = executables();
  EXPECT_STREQ(first.of(subgraph).model().inputs[0].name, "x");
  first.of(subgraph);
  EXPECT_EQ(compilations(), 1);
  EXPECT_EQ(kept(), 1);
  executables().of(subgraph);
  EXPECT_EQ(compilations(), 1);
  EXPECT_EQ(fs::status(options_.cache).permissions(), fs::perms::owner_all);

  options_.compile["accuracy"] = "strict";
  executables().of(subgraph);
  EXPECT_EQ(compilations(), 2);
  EXPECT_EQ(kept(), 2);
}

TEST_F(OrtExecutables, KnowWhatTheyDependOn) {
  std::set<std::string> seen{surroundings(options_)};
  const auto differs = [&](const char* what) {
    EXPECT_TRUE(seen.insert(surroundings(options_)).second) << what;
  };
  options_.threads = 1;
  differs("threads");
  options_.compile["accuracy"] = "strict";
  differs("accuracy");
  options_.compile["measure"] = "1";
  differs("measure");
  options_.compile["budget"] = "3";
  differs("budget");
  options_.compiler = "/bin/sh";
  differs("compiler");
  const std::string here = surroundings(options_);
  options_.cache = "elsewhere";
  EXPECT_EQ(surroundings(options_), here);
}

TEST_F(OrtExecutables, OfNoUseAreMadeAnew) {
  const NetworkBuilder b = product();
  const Subgraph subgraph = subgraph_of(b.network, {0, 1}), other = subgraph_of(b.network, {0});
  executables().of(subgraph);
  const std::string path = options_.cache + "/" + cache_name(subgraph, surroundings(options_));
  write_file(path, "damaged");
  executables().of(subgraph);
  EXPECT_NE(warnings_.find("of no use"), std::string::npos) << warnings_;
  EXPECT_EQ(compilations(), 2);

  executables().of(other);
  fs::copy_file(options_.cache + "/" + cache_name(other, surroundings(options_)), path,
                fs::copy_options::overwrite_existing);
  executables().of(subgraph);
  EXPECT_NE(warnings_.find("another network"), std::string::npos) << warnings_;
}

TEST_F(OrtExecutables, AreNotKeptWithoutAFolder) {
  options_.cache = "";
  const NetworkBuilder b = product();
  const Subgraph subgraph = subgraph_of(b.network, {0, 1});
  executables().of(subgraph);
  executables().of(subgraph);
  EXPECT_EQ(compilations(), 2);
  EXPECT_EQ(warnings_.find("kept"), std::string::npos) << warnings_;
  options_.cache = folder_.path() + "/file";
  write_file(options_.cache, "");
  executables().of(subgraph);
  EXPECT_EQ(compilations(), 3);
  EXPECT_NE(warnings_.find("not kept"), std::string::npos) << warnings_;
}

TEST_F(OrtExecutables, AreNotKeptWhereOthersMayWrite) {
  fs::create_directories(options_.cache);
  fs::permissions(options_.cache, fs::perms::others_write, fs::perm_options::add);
  const NetworkBuilder b = product();
  executables().of(subgraph_of(b.network, {0, 1}));
  EXPECT_NE(warnings_.find("others may write"), std::string::npos) << warnings_;
  EXPECT_EQ(kept(), 0);
}

TEST_F(OrtExecutables, WhatIsRefusedLeavesNothing) {
  NetworkBuilder b = product();
  b.network.nodes[1].set_op_type("Unheard");
  try {
    executables().of(subgraph_of(b.network, {0, 1}));
    FAIL() << "compiled";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), KORCH_ERROR_UNSUPPORTED);
  }
  EXPECT_EQ(kept(), 0);
  options_.compiler = "/no/such/program";
  EXPECT_THROW(executables().of(subgraph_of(b.network, {0})), Failure);
}

// The folder holds 16 GiB at most: a sparse file of that size is the oldest, and goes.
TEST_F(OrtExecutables, TheOldestGo) {
  fs::create_directories(options_.cache);
  const std::string old = options_.cache + "/old.so", text = options_.cache + "/notes.txt";
  write_file(old, "");
  write_file(text, "not ours");
  fs::resize_file(old, uintmax_t{16} << 30);
  for (const std::string& path : {old, text})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const NetworkBuilder b = product();
  executables().of(subgraph_of(b.network, {0, 1}));
  EXPECT_FALSE(file_exists(old));
  EXPECT_TRUE(file_exists(text));
  EXPECT_EQ(kept(), 2);
}

struct Calls {
  std::atomic<int> count{0};
  std::atomic<int> most_tasks{0};
};

void one_after_the_other(void* user, int32_t tasks, void (*task)(void*, int32_t), void* arg) {
  auto* calls = static_cast<Calls*>(user);
  ++calls->count;
  int most = calls->most_tasks;
  while (most < tasks && !calls->most_tasks.compare_exchange_weak(most, tasks)) {
  }
  for (int32_t i = tasks - 1; i >= 0; --i) task(arg, i);
}

void none(void*, int32_t, void (*)(void*, int32_t), void*) {}

void expect_right(Runner& runner, korch_parallel parallel, void* user) {
  const std::vector<float> x(64 * 64, 2.f);
  std::vector<float> y(64 * 64);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  runner.run(inputs, outputs, parallel, user);
  EXPECT_EQ(y, std::vector<float>(64 * 64, 16.f));
}

TEST_F(OrtExecutables, RunOnTheirCallersThreads) {
  const NetworkBuilder b = product();
  Runner runner(executables().of(subgraph_of(b.network, {0, 1})));
  Calls calls;
  expect_right(runner, one_after_the_other, &calls);
  EXPECT_GT(calls.count, 0);
  EXPECT_GT(calls.most_tasks, 1);
  EXPECT_LE(calls.most_tasks, 3);
  EXPECT_THROW(expect_right(runner, none, nullptr), RunFailure);
  expect_right(runner, one_after_the_other, &calls);

  std::vector<Calls> own(4);
  std::vector<std::thread> threads;
  for (Calls& mine : own)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) expect_right(runner, one_after_the_other, &mine);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Calls& mine : own) EXPECT_GE(mine.count, 20);
}

// Tensors of the host in and out; whoever calls waits for the GPU, and lends it no threads.
TEST_F(OrtExecutables, RunOnAGpu) {
#ifdef KORCH_FAKE_CUDA
  ::setenv("KORCH_CUDA_DRIVER", KORCH_FAKE_CUDA, 1);
  ::setenv("KORCH_NVRTC", KORCH_FAKE_NVRTC, 1);
  options_.threads = 0;
  options_.compile.erase("threads");
  options_.compile["target"] = "sm_90";
  options_.compile["emulation"] = "1";
  const NetworkBuilder b = product();
  Runner runner(executables().of(subgraph_of(b.network, {0, 1})));
  Calls calls;
  for (int i = 0; i < 3; ++i) expect_right(runner, one_after_the_other, &calls);
  EXPECT_EQ(calls.count, 0);
  ::unsetenv("KORCH_CUDA_DRIVER");
  ::unsetenv("KORCH_NVRTC");
#else
  GTEST_SKIP() << "without the emulated GPU";
#endif
}

}  // namespace
}  // namespace korch::ort
