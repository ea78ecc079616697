#include "korch/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace korch {
namespace {

TEST(Parallel, EveryJobOnce) {
  for (const int threads : {0, 1, 3, 16}) {
    std::vector<std::atomic<int>> done(11);
    run_in_parallel(done.size(), threads, [&](size_t i) { ++done[i]; });
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1) << threads;
  }
  run_in_parallel(0, 4, [](size_t) { FAIL(); });
}

// Both are needed at once.
TEST(Parallel, OnSeveralThreads) {
  std::atomic<int> arrived{0};
  run_in_parallel(2, 2, [&](size_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Parallel, TheFirstExceptionIsThrownWhenAllAreDone) {
  std::atomic<int> begun{0}, ended{0};
  const auto job = [&](size_t i) {
    ++begun;
    if (i == 3) {
      ++ended;
      throw std::runtime_error("job 3");
    }
    ++ended;
  };
  try {
    run_in_parallel(1000000, 2, job);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "job 3");
  }
  EXPECT_EQ(begun, ended);
  EXPECT_LT(begun, 1000000);
}

}  // namespace
}  // namespace korch
