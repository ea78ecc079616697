// Whose threads an instance runs on, and how a run is ended early: the C interface over three steps in a row,
// y = 8 x, the second of which has one chunk alone.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "c_api_network.h"

namespace korch::rt {
namespace {

// How a caller of the C interface may run n tasks.
void in_turn(void* user, int32_t tasks, void (*task)(void*, int32_t), void* arg) {
  ++*static_cast<std::atomic<int>*>(user);
  for (int32_t i = tasks - 1; i >= 0; --i) task(arg, i);
}

void on_fresh_threads(void* user, int32_t tasks, void (*task)(void*, int32_t), void* arg) {
  ++*static_cast<std::atomic<int>*>(user);
  std::vector<std::thread> threads;
  for (int32_t i = 0; i < tasks; ++i) threads.emplace_back(task, arg, i);
  for (std::thread& thread : threads) thread.join();
}

// Two threads for any number of tasks, as a caller's pool that is smaller than the instance.
void on_two_threads(void* user, int32_t tasks, void (*task)(void*, int32_t), void* arg) {
  ++*static_cast<std::atomic<int>*>(user);
  std::atomic<int32_t> next{0};
  const auto take = [&] {
    for (int32_t i = next++; i < tasks; i = next++) task(arg, i);
  };
  std::thread other(take);
  take();
  other.join();
}

void nothing(void*, int32_t, void (*)(void*, int32_t), void*) {}

void all_but_one(void*, int32_t tasks, void (*task)(void*, int32_t), void* arg) {
  for (int32_t i = 1; i < tasks; ++i) task(arg, i);
}

class Instance {
 public:
  explicit Instance(const korch_options& options) { status = korch_create_with(&options, &handle); }
  ~Instance() { korch_free(handle); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  korch_status status;
  korch_instance* handle = nullptr;
};

korch_options borrowed(int threads, int concurrent, korch_parallel parallel, void* user) {
  return {sizeof(korch_options), threads, concurrent, parallel, user, nullptr, 0, 0, 0, nullptr, 0};
}

korch_options pooled(int threads, korch_pool* pool) {
  return {sizeof(korch_options), threads, 0, nullptr, nullptr, pool, 0, 0, 0, nullptr, 0};
}

class PoolOwner {
 public:
  explicit PoolOwner(int threads) { EXPECT_EQ(korch_pool_create(threads, &handle), KORCH_OK); }
  ~PoolOwner() { korch_pool_free(handle); }
  PoolOwner(const PoolOwner&) = delete;
  PoolOwner& operator=(const PoolOwner&) = delete;
  korch_pool* handle = nullptr;
};

class BorrowedThreads : public testing::TestWithParam<int> {};

TEST_P(BorrowedThreads, AnyWayToRunTheTasks) {
  for (const korch_parallel parallel : {in_turn, on_fresh_threads, on_two_threads}) {
    std::atomic<int> calls{0};
    const Instance instance(borrowed(GetParam(), 0, parallel, &calls));
    ASSERT_EQ(instance.status, KORCH_OK);
    for (int round = 0; round < 20; ++round) {
      Call call(static_cast<float>(round));
      EXPECT_EQ(call.run(instance.handle), KORCH_OK);
      EXPECT_TRUE(call.is_right());
    }
    // A phase with one chunk needs nobody else.
    EXPECT_EQ(calls, GetParam() == 1 ? 0 : 20 * (kStepCount - 1));
  }
}

TEST_P(BorrowedThreads, TasksAtTheSameTimeAreCalledOncePerRun) {
  std::atomic<int> calls{0};
  const Instance instance(borrowed(GetParam(), 1, on_fresh_threads, &calls));
  ASSERT_EQ(instance.status, KORCH_OK);
  for (int round = 0; round < 20; ++round) {
    Call call(static_cast<float>(round));
    EXPECT_EQ(call.run(instance.handle), KORCH_OK);
    EXPECT_TRUE(call.is_right());
  }
  EXPECT_EQ(calls, GetParam() == 1 ? 0 : 20);
}

TEST_P(BorrowedThreads, TimesAndObserves) {
  std::atomic<int> calls{0};
  const Instance instance(borrowed(GetParam(), 0, in_turn, &calls));
  Call call(3);
  std::vector<double> step_us(kStepCount, -1);
  std::vector<uint32_t> seen;
  korch_run_options options{};
  options.struct_size = sizeof options;
  options.step_us = step_us.data();
  options.observe = [](void* user, uint32_t step, void* const*) {
    static_cast<std::vector<uint32_t>*>(user)->push_back(step);
  };
  options.user = &seen;
  EXPECT_EQ(call.run(instance.handle, &options), KORCH_OK);
  EXPECT_EQ(seen, (std::vector<uint32_t>{0, 1, 2}));
  for (const double us : step_us) EXPECT_GE(us, 0);
}

TEST_P(BorrowedThreads, TasksThatDoNotRunAreSeen) {
  if (GetParam() == 1) GTEST_SKIP() << "one task is run by the caller";
  for (const korch_parallel parallel : {nothing, all_but_one}) {
    const Instance instance(borrowed(GetParam(), 0, parallel, nullptr));
    Call call(1);
    EXPECT_EQ(call.run(instance.handle), KORCH_PARALLEL_FAILED);
    EXPECT_NE(std::string(korch_last_error(instance.handle)), "");
  }
  const Instance instance(borrowed(GetParam(), 1, nothing, nullptr));
  EXPECT_EQ(Call(1).run(instance.handle), KORCH_PARALLEL_FAILED);
}

INSTANTIATE_TEST_SUITE_P(Threads, BorrowedThreads, testing::Values(1, 2, 3, 7));

TEST(SharedPool, InstancesFromManyThreadsAtOnce) {
  for (const int pool_threads : {1, 2, 3}) {
    const PoolOwner pool(pool_threads);
    std::vector<std::unique_ptr<Instance>> instances;
    for (int i = 0; i < 4; ++i)
      instances.push_back(std::make_unique<Instance>(pooled(i % (pool_threads + 1), pool.handle)));
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (const auto& instance : instances)
      callers.emplace_back([&] {
        for (int round = 0; round < 100; ++round) {
          Call call(static_cast<float>(round));
          wrong += call.run(instance->handle) != KORCH_OK || !call.is_right();
        }
      });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(SharedPool, AnObserverMayRunAnotherInstance) {
  const PoolOwner pool(2);
  const Instance outer(pooled(0, pool.handle)), inner(pooled(0, pool.handle));
  struct Nested {
    korch_instance* instance;
    korch_status status;
  } nested{inner.handle, KORCH_INTERNAL};
  korch_run_options options{};
  options.struct_size = sizeof options;
  options.observe = [](void* user, uint32_t, void* const*) {
    auto* nested = static_cast<Nested*>(user);
    nested->status = Call(2).run(nested->instance);
  };
  options.user = &nested;
  Call call(1);
  EXPECT_EQ(call.run(outer.handle, &options), KORCH_OK);
  EXPECT_TRUE(call.is_right());
  EXPECT_EQ(nested.status, KORCH_OK);
}

TEST(SharedPool, InTheChildOfAForkItIsRefusedAndFreed) {
  const PoolOwner pool(2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const bool is_refused = Instance(pooled(0, pool.handle)).status == KORCH_FORKED;
    korch_pool_free(pool.handle);
    ::_exit(is_refused ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Options, OlderAndNewerPrograms) {
  struct Newer {
    korch_options known;
    uint64_t more;
  } newer{};
  newer.known.struct_size = sizeof newer;
  newer.known.threads = 2;
  EXPECT_EQ(Instance(newer.known).status, KORCH_OK);
  newer.more = 1;
  EXPECT_EQ(Instance(newer.known).status, KORCH_INVALID_ARGUMENT);

  // One that ends behind `threads`: what lies behind it is not read.
  std::atomic<int> calls{0};
  korch_options older = borrowed(2, 0, in_turn, &calls);
  older.struct_size = offsetof(korch_options, concurrent);
  const Instance instance(older);
  ASSERT_EQ(instance.status, KORCH_OK);
  Call call(1);
  EXPECT_EQ(call.run(instance.handle), KORCH_OK);
  EXPECT_EQ(calls, 0);

  struct NewerRun {
    korch_run_options known;
    uint64_t more;
  } run{};
  run.known.struct_size = sizeof run;
  EXPECT_EQ(call.run(instance.handle, &run.known), KORCH_OK);
  run.more = 1;
  EXPECT_EQ(call.run(instance.handle, &run.known), KORCH_INVALID_ARGUMENT);
  run.known.struct_size = 0;
  EXPECT_EQ(call.run(instance.handle, &run.known), KORCH_INVALID_ARGUMENT);
}

TEST(Options, ThreadsThatSleepAtOnceOrLookForWorkFor) {
  for (const int32_t spin_us : {-1, 1, 20000}) {
    const Instance instance(
        {sizeof(korch_options), 3, 0, nullptr, nullptr, nullptr, spin_us, 0, 0, nullptr, 0});
    ASSERT_EQ(instance.status, KORCH_OK);
    for (int run = 0; run < 20; ++run) {
      Call call(run);
      EXPECT_EQ(call.run(instance.handle), KORCH_OK);
    }
  }
}

// Not read to the end, which may be the end of the memory.
TEST(Options, ASizeThatWasNeverSet) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* memory = ::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(memory) + 2 * page, page, PROT_NONE), 0);
  auto* options = new (memory) korch_options{};
  for (const uint64_t size : {uint64_t{7}, 3 * page, UINT64_MAX}) {
    options->struct_size = size;
    EXPECT_EQ(Instance(*options).status, KORCH_INVALID_ARGUMENT) << size;
  }
  ::munmap(memory, 3 * page);
}

TEST(Options, ContradictionsAreRefused) {
  const PoolOwner pool(2);
  std::atomic<int> calls{0};
  korch_options both = borrowed(2, 0, in_turn, &calls);
  both.pool = pool.handle;
  const korch_options wrong[] = {
      both,
      pooled(3, pool.handle),                                     // more than the pool has
      borrowed(-1, 0, in_turn, &calls),                           //
      borrowed(2, 2, in_turn, &calls),                            // neither yes nor no
      borrowed(2, 1, nullptr, nullptr),                           // nobody's threads at the same time
      {0, 1, 0, nullptr, nullptr, nullptr, 0, 0, 0, nullptr, 0},  // no size
      {sizeof(korch_options), 1, 0, nullptr, nullptr, nullptr, -2, 0, 0, nullptr,
       0},  // neither so long nor at once
      {sizeof(korch_options), 1, 0, nullptr, nullptr, nullptr, 10000001, 0, 0, nullptr, 0},
      {sizeof(korch_options), 1025, 0, nullptr, nullptr, nullptr, 0, 0, 0, nullptr,
       0},  // more than any run may have
      {sizeof(korch_options), 2, 0, nullptr, nullptr, pool.handle, 100, 0, 0, nullptr,
       0},  // of somebody else's threads
      {sizeof(korch_options), 2, 0, nullptr, nullptr, nullptr, 0, 4, 0, nullptr, 0},  // no schedule
      {sizeof(korch_options), 2, 0, nullptr, nullptr, nullptr, 0, -1, 0, nullptr, 0}};
  for (const korch_options& options : wrong) {
    const Instance instance(options);
    EXPECT_EQ(instance.status, KORCH_INVALID_ARGUMENT);
    EXPECT_EQ(instance.handle, nullptr);
  }
  korch_pool* none = nullptr;
  EXPECT_EQ(korch_pool_create(-1, &none), KORCH_INVALID_ARGUMENT);
  EXPECT_EQ(korch_pool_create(1025, &none), KORCH_INVALID_ARGUMENT);
  EXPECT_EQ(korch_pool_create(1, nullptr), KORCH_INVALID_ARGUMENT);
  Instance without(pooled(0, nullptr));
  EXPECT_EQ(korch_create_with(nullptr, nullptr), KORCH_INVALID_ARGUMENT);
  EXPECT_EQ(Call(1).run(without.handle), KORCH_OK);
}

TEST(Outputs, ExtentsAfterARunThatSucceeded) {
  const Instance instance(pooled(2, nullptr));
  int64_t extent = -1;
  EXPECT_EQ(korch_output_dims(instance.handle, 0, &extent), KORCH_INVALID_ARGUMENT);
  Call call(1);
  ASSERT_EQ(call.run(instance.handle), KORCH_OK);
  EXPECT_EQ(korch_output_dims(instance.handle, 0, &extent), KORCH_OK);
  EXPECT_EQ(extent, kCount);
  EXPECT_EQ(korch_output_dims(instance.handle, 1, &extent), KORCH_INVALID_ARGUMENT);
  EXPECT_EQ(korch_output_dims(instance.handle, 0, nullptr), KORCH_INVALID_ARGUMENT);
  const std::atomic<int32_t> at_once{1};
  EXPECT_EQ(call.run_until(instance.handle, at_once), KORCH_CANCELLED);
  EXPECT_EQ(korch_output_dims(instance.handle, 0, &extent), KORCH_INVALID_ARGUMENT);
}

// Of every kind of instance: right or cancelled, and right again afterwards.
class Cancel : public testing::TestWithParam<int> {
 protected:
  Cancel() : pool_(GetParam()) {
    for (const korch_options& options :
         {pooled(GetParam(), nullptr), pooled(0, pool_.handle), borrowed(GetParam(), 0, in_turn, &calls_),
          borrowed(GetParam(), 0, on_two_threads, &calls_)})
      instances_.push_back(std::make_unique<Instance>(options));
  }
  std::atomic<int> calls_{0};
  PoolOwner pool_;
  std::vector<std::unique_ptr<Instance>> instances_;
};

TEST_P(Cancel, BeforeItBegins) {
  const std::atomic<int32_t> at_once{1};
  for (const auto& instance : instances_) {
    Call call(1);
    EXPECT_EQ(call.run_until(instance->handle, at_once), KORCH_CANCELLED);
    EXPECT_TRUE(call.is_untouched());
    EXPECT_NE(std::string(korch_last_error(instance->handle)), "");
    EXPECT_EQ(call.run(instance->handle), KORCH_OK);
    EXPECT_TRUE(call.is_right());
  }
}

// While every worker is in a slice of the first step: those slices end, and no others begin.
TEST_P(Cancel, WithinAStep) {
  for (const size_t kind : {0u, 1u}) {  // whose workers are all in the gate at once
    cancel = 0;
    Call call(1);
    korch_status status = KORCH_INTERNAL;
    gate_is_open = false;
    const int64_t slices_before = slices_run;
    std::thread runner([&] { status = call.run_until(instances_[kind]->handle, cancel); });
    while (workers_at_the_gate != GetParam()) std::this_thread::yield();
    cancel = 1;
    gate_is_open = true;
    runner.join();
    EXPECT_EQ(status, KORCH_CANCELLED);
    EXPECT_EQ(slices_run - slices_before, GetParam() * kGrain);
    EXPECT_TRUE(call.is_untouched());
    cancel = 0;
  }
}

TEST_P(Cancel, AtAnyMoment) {
  std::mt19937 random(7);
  int cancelled = 0;
  for (int round = 0; round < 400; ++round) {
    const auto& instance = instances_[static_cast<size_t>(round) % instances_.size()];
    cancel_at = slices_run + static_cast<int64_t>(random() % (5 * kCount / 4 * kStepCount));
    Call call(static_cast<float>(round));
    const korch_status status = call.run_until(instance->handle, cancel);
    EXPECT_TRUE(status == KORCH_CANCELLED || (status == KORCH_OK && call.is_right())) << status;
    cancelled += status == KORCH_CANCELLED;
    cancel_at = INT64_MAX;
    cancel = 0;
    Call next(static_cast<float>(-round));
    EXPECT_EQ(next.run(instance->handle), KORCH_OK);
    EXPECT_TRUE(next.is_right());
  }
  EXPECT_GT(cancelled, 100);
  EXPECT_LT(cancelled, 400);
}

// By somebody who knows nothing of how far the run is.
TEST_P(Cancel, FromAnotherThread) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto& instance = instances_[static_cast<size_t>(round) % instances_.size()];
    std::atomic<int32_t> flag{0};
    std::atomic<bool> begins{false};
    const int pauses = static_cast<int>(random() % (1u << random() % 13));
    std::thread other([&] {
      while (!begins) std::this_thread::yield();
      for (std::atomic<int> pause{0}; pause < pauses;) ++pause;
      flag = 1;
    });
    Call call(static_cast<float>(round));
    begins = true;
    const korch_status status = call.run_until(instance->handle, flag);
    other.join();
    EXPECT_TRUE(status == KORCH_CANCELLED || (status == KORCH_OK && call.is_right())) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Cancel, testing::Values(1, 2, 3));

}  // namespace
}  // namespace korch::rt
