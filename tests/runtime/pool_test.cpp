#include "korch/runtime/cpu/pool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

namespace korch::rt {
namespace {

struct DestroyPool {
  void operator()(Pool* pool) const { Pool::destroy(pool); }
};
using PoolOwner = std::unique_ptr<Pool, DestroyPool>;

class PoolTest : public testing::TestWithParam<int> {};

TEST_P(PoolTest, RunsEveryWorkerOncePerRun) {
  const PoolOwner pool(Pool::create(GetParam()));
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->threads(), GetParam());
  std::vector<std::atomic<int>> calls(static_cast<size_t>(GetParam()));
  for (int round = 0; round < 100; ++round)
    pool->run(
        GetParam(),
        [](void* argument, int worker) {
          (*static_cast<std::vector<std::atomic<int>>*>(argument))[static_cast<size_t>(worker)]++;
        },
        &calls);
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count.load(), 100);
}

TEST_P(PoolTest, RunsFewerTasksThanWorkers) {
  const PoolOwner pool(Pool::create(GetParam()));
  std::vector<std::atomic<int>> calls(static_cast<size_t>(GetParam()));
  for (int tasks = 1; tasks <= GetParam(); ++tasks)
    pool->run(
        tasks,
        [](void* argument, int worker) {
          (*static_cast<std::vector<std::atomic<int>>*>(argument))[static_cast<size_t>(worker)]++;
        },
        &calls);
  for (int worker = 0; worker < GetParam(); ++worker)
    EXPECT_EQ(calls[static_cast<size_t>(worker)].load(), GetParam() - worker);
}

// Workers that went to sleep wake up, and tasks may wait for what another does.
TEST_P(PoolTest, WakesSleepers) {
  const PoolOwner pool(Pool::create(GetParam()));
  std::atomic<int> calls{0};
  for (int round = 1; round <= 3; ++round) {
    ::usleep(20000);
    pool->run(
        GetParam(), [](void* argument, int) { ++*static_cast<std::atomic<int>*>(argument); }, &calls);
    EXPECT_EQ(calls.load(), round * GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PoolTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace korch::rt
