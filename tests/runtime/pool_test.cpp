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

TEST_P(PoolTest, RunsFewerTasksOnTheFirstWorkers) {
  const PoolOwner pool(Pool::create(GetParam()));
  std::vector<std::atomic<int>> calls(static_cast<size_t>(GetParam()));
  const Workers workers = pool->workers();
  for (int tasks = 1; tasks <= GetParam(); ++tasks)
    workers.parallel(
        workers.user, tasks,
        [](void* argument, int worker) {
          (*static_cast<std::vector<std::atomic<int>>*>(argument))[static_cast<size_t>(worker)]++;
        },
        &calls);
  for (int worker = 0; worker < GetParam(); ++worker)
    EXPECT_EQ(calls[static_cast<size_t>(worker)].load(), GetParam() - worker);
}

// Behind a barrier each worker sees what every worker wrote before it.
TEST_P(PoolTest, BarrierSeparatesPhases) {
  struct Shared {
    Barrier barrier;
    std::vector<int> values;
    std::atomic<int> wrong{0};
  } shared{Barrier(GetParam()), std::vector<int>(static_cast<size_t>(GetParam())), 0};
  const PoolOwner pool(Pool::create(GetParam()));
  pool->run(
      GetParam(),
      [](void* argument, int worker) {
        Shared& shared = *static_cast<Shared*>(argument);
        for (int round = 1; round <= 500; ++round) {
          shared.values[static_cast<size_t>(worker)] = round;
          shared.barrier.wait();
          for (int value : shared.values)
            if (value != round) ++shared.wrong;
          shared.barrier.wait();
        }
      },
      &shared);
  EXPECT_EQ(shared.wrong.load(), 0);
}

// Workers that went to sleep, between runs and at a barrier, wake up.
TEST_P(PoolTest, WakesSleepers) {
  const PoolOwner pool(Pool::create(GetParam()));
  std::atomic<int> calls{0};
  struct Shared {
    Barrier barrier;
    std::atomic<int>* calls;
  } shared{Barrier(GetParam()), &calls};
  for (int round = 0; round < 3; ++round) {
    ::usleep(20000);
    pool->run(
        GetParam(),
        [](void* argument, int worker) {
          Shared& shared = *static_cast<Shared*>(argument);
          if (worker == 0) ::usleep(20000);
          shared.barrier.wait();
          ++*shared.calls;
        },
        &shared);
  }
  EXPECT_EQ(calls.load(), 3 * GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, PoolTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace korch::rt
