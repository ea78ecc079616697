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

cpu_set_t processors_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// Those of the pool's own thread, from two tasks that wait for each other: one of them is the caller's.
cpu_set_t processors_of_worker(Pool& pool) {
  struct Both {
    pthread_t caller = pthread_self();
    std::atomic<int> came{0};
    cpu_set_t processors;
  } both;
  pool.run(
      2,
      [](void* argument, int) {
        Both& both = *static_cast<Both*>(argument);
        if (pthread_self() != both.caller) both.processors = processors_of_this_thread();
        both.came.fetch_add(1);
        while (both.came.load() < 2) {
        }
      },
      &both);
  return both.processors;
}

TEST(Pool, ThreadsKeepOffTheCallersProcessor) {
  const cpu_set_t all = processors_of_this_thread();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  const PoolOwner pool(Pool::create(2));
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &all)) continue;
    cpu_set_t here, others = all;
    CPU_ZERO(&here);
    CPU_SET(processor, &here);
    CPU_CLR(processor, &others);
    ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
    const cpu_set_t allowed = processors_of_worker(*pool);
    EXPECT_TRUE(CPU_EQUAL(&allowed, &others)) << processor;
  }
  sched_setaffinity(0, sizeof all, &all);
}

// Of more threads than processors, some have to share.
TEST(Pool, MoreThreadsThanProcessorsStayWhereTheyLike) {
  const cpu_set_t all = processors_of_this_thread();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const PoolOwner pool(Pool::create(2));
  const cpu_set_t allowed = processors_of_worker(*pool);
  EXPECT_TRUE(CPU_EQUAL(&allowed, &one));
  sched_setaffinity(0, sizeof all, &all);
}

}  // namespace
}  // namespace korch::rt
