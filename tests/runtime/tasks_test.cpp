// Programs run by tasks: the same results as phase after phase, for any number of workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "korch/plan/task_fault.h"
#include "korch/runtime/cpu/ready.h"
#include "korch/runtime/executor.h"
#include "task_program.h"

namespace korch::testing {
namespace {

using rt::Executor;
using rt::Pool;
using rt::RunError;
using rt::RunStatus;
using rt::Schedule;

struct Destroy {
  void operator()(Pool* pool) const { Pool::destroy(pool); }
  void operator()(Executor* executor) const { Executor::destroy(executor); }
};
using PoolOwner = std::unique_ptr<Pool, Destroy>;
using ExecutorOwner = std::unique_ptr<Executor, Destroy>;

ExecutorOwner executor_of(const rt::Program& program, const void* weights, Pool* pool, Schedule schedule) {
  RunStatus status;
  ExecutorOwner executor(Executor::create(&program, weights, pool->workers(), &status, nullptr, schedule));
  EXPECT_EQ(status.error, RunError::none);
  return executor;
}

std::vector<uint64_t> arena_after_run(Executor* executor) {
  auto* arena = static_cast<uint64_t*>(executor->arena());
  std::fill(arena, arena + RandomProgram::kWords, 0);
  EXPECT_EQ(executor->run(nullptr, nullptr).error, RunError::none);
  return {arena, arena + RandomProgram::kWords};
}

class Tasks : public ::testing::TestWithParam<int> {};

TEST_P(Tasks, RandomProgramsAgreeWithPhaseAfterPhase) {
  constexpr uint32_t kPrograms = 60;
  constexpr int kRuns = 20;
  const PoolOwner pool(Pool::create(GetParam()));
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const RandomProgram random(seed, GetParam());
    const ExecutorOwner barrier =
        executor_of(random.program(), random.weights(), pool.get(), Schedule::barrier);
    const std::vector<uint64_t> wanted = arena_after_run(barrier.get());
    for (const Schedule schedule : {rt::kAsCompiled, Schedule::dynamic}) {
      const ExecutorOwner executor = executor_of(random.program(), random.weights(), pool.get(), schedule);
      for (int run = 0; run < kRuns; ++run)
        ASSERT_EQ(arena_after_run(executor.get()), wanted) << "seed " << seed << ", run " << run;
    }
  }
}

// Who ran which slices, and when.
TEST_P(Tasks, WhoObservesIsToldOfEachSliceOnce) {
  const PoolOwner pool(Pool::create(GetParam()));
  const RandomProgram random(3, GetParam());
  const rt::Program& program = random.program();
  using Runs = std::vector<std::vector<rt::SlicesRun>>;
  for (const Schedule schedule : {Schedule::barrier, Schedule::dynamic}) {
    const ExecutorOwner executor = executor_of(program, random.weights(), pool.get(), schedule);
    Runs runs(static_cast<size_t>(GetParam()));  // of each worker, so that none needs a lock
    rt::RunOptions options;
    options.on_slices = {[](void* user, const rt::SlicesRun& run) {
                           (*static_cast<Runs*>(user))[static_cast<size_t>(run.worker)].push_back(run);
                         },
                         &runs};
    ASSERT_EQ(executor->run(nullptr, nullptr, options).error, RunError::none);
    std::map<std::pair<uint32_t, uint32_t>, std::vector<int>> times;
    for (const std::vector<rt::SlicesRun>& of_worker : runs) {
      double at = 0;
      for (const rt::SlicesRun& run : of_worker) {
        EXPECT_GE(run.begin_us, at);
        EXPECT_GE(at = run.end_us, run.begin_us);
        std::vector<int>& slices = times[{run.step, run.phase}];
        slices.resize(static_cast<size_t>(program.steps[run.step].phases[run.phase].grid));
        for (int64_t slice = run.begin; slice < run.end; ++slice) ++slices.at(static_cast<size_t>(slice));
      }
    }
    size_t phases = 0;
    for (uint32_t s = 0; s < program.step_count; ++s) phases += program.steps[s].phase_count;
    EXPECT_EQ(times.size(), phases);
    for (const auto& [phase, slices] : times)
      EXPECT_EQ(slices, std::vector<int>(slices.size(), 1)) << "step " << phase.first;
  }
}

// Of fewer and of more workers than the program was made for.
TEST(TasksOfOthers, AnyNumberOfWorkers) {
  const RandomProgram random(7, 3);
  std::vector<uint64_t> wanted;
  for (int workers : {1, 2, 5}) {
    const PoolOwner pool(Pool::create(workers));
    const ExecutorOwner executor =
        executor_of(random.program(), random.weights(), pool.get(), Schedule::dynamic);
    const std::vector<uint64_t> found = arena_after_run(executor.get());
    if (wanted.empty()) wanted = found;
    EXPECT_EQ(found, wanted) << workers;
  }
}

// Each kernel of a chain fails at slice 5 of the step that the first argument names.
struct Trouble {
  std::atomic<int32_t> step{-1};
  std::atomic<int32_t> cancel{0}, cancel_at{-1};
  std::atomic<int> slices{0};
};

template <int kStep>
int32_t count(const korch_kernel_context* context, int64_t begin, int64_t end) {
  auto* trouble = static_cast<Trouble*>(context->args[0]);
  trouble->slices += static_cast<int>(end - begin);
  if (trouble->cancel_at == kStep) trouble->cancel = 1;
  return trouble->step == kStep && begin <= 5 && 5 < end ? KORCH_KERNEL_INDEX_OUT_OF_RANGE : KORCH_KERNEL_OK;
}

class Chain {
 public:
  static constexpr int kSteps = 3;
  static constexpr int64_t kSlices = 64;

  explicit Chain(int workers) : tables_(task_graph(uses())) {
    for (size_t s = 0; s < kSteps; ++s)
      steps_[s] = {&phases_[s], 1, &arg_, 1, nullptr, nullptr, 0, nullptr, 0, "count"};
    program_ = {steps_,         kSteps,           static_cast<uint32_t>(workers), 0, 0, false,
                &tables_.table, Schedule::dynamic};
  }
  rt::Program& program() { return program_; }

 private:
  static std::vector<TaskUse> uses() {
    std::vector<TaskUse> uses;
    for (int step = 0; step < kSteps; ++step)
      for (int64_t i = 0; i < kSlices; i += 4)
        uses.push_back({step, 0, i, i + 4, 1, {{0, {}, {{i, i + 4}}}}});
    return uses;
  }
  TaskTables tables_;
  const rt::Phase phases_[kSteps] = {{count<0>, kSlices, 4}, {count<1>, kSlices, 4}, {count<2>, kSlices, 4}};
  const rt::BufferRef arg_ = {rt::kInput, 0, 0};
  rt::Step steps_[kSteps];
  rt::Program program_{};
};

TEST_P(Tasks, AfterAFailureTheNextRunIsWhole) {
  Chain chain(GetParam());
  Trouble trouble;
  const void* inputs[] = {&trouble};
  const PoolOwner pool(Pool::create(GetParam()));
  const ExecutorOwner executor = executor_of(chain.program(), nullptr, pool.get(), Schedule::dynamic);
  for (int run = 0; run < 200; ++run) {
    trouble.step = run % (Chain::kSteps + 1);
    trouble.slices = 0;
    const RunStatus status = executor->run(inputs, nullptr);
    if (trouble.step == Chain::kSteps) {
      ASSERT_EQ(status.error, RunError::none);
      ASSERT_EQ(trouble.slices, Chain::kSteps * Chain::kSlices);
    } else {
      ASSERT_EQ(status.error, RunError::index_out_of_range);
      ASSERT_EQ(status.step, trouble.step);
    }
  }
}

TEST_P(Tasks, CancelledAndWholeAgain) {
  Chain chain(GetParam());
  Trouble trouble;
  const void* inputs[] = {&trouble};
  const PoolOwner pool(Pool::create(GetParam()));
  const ExecutorOwner executor = executor_of(chain.program(), nullptr, pool.get(), Schedule::dynamic);
  for (int run = 0; run < 200; ++run) {
    trouble.cancel_at = run % 2 == 0 ? 0 : -1;
    trouble.cancel = 0;
    trouble.slices = 0;
    rt::RunOptions options;
    options.cancel = reinterpret_cast<const int32_t*>(&trouble.cancel);
    const RunStatus status = executor->run(inputs, nullptr, options);
    ASSERT_EQ(status.error, run % 2 == 0 ? RunError::cancelled : RunError::none);
    if (run % 2 != 0) {
      ASSERT_EQ(trouble.slices, Chain::kSteps * Chain::kSlices);
    }
  }
}

// Executors come and go while workers may still look at what the last run left.
TEST_P(Tasks, ExecutorsFollowEachOtherOnOnePool) {
  const PoolOwner pool(Pool::create(GetParam()));
  Chain chain(GetParam());
  Trouble trouble;
  const void* inputs[] = {&trouble};
  for (int i = 0; i < 300; ++i) {
    const ExecutorOwner executor = executor_of(chain.program(), nullptr, pool.get(), Schedule::dynamic);
    ASSERT_EQ(executor->run(inputs, nullptr).error, RunError::none);
    rt::RunOptions timed;
    double step_us[Chain::kSteps];
    timed.step_us = step_us;
    ASSERT_EQ(executor->run(inputs, nullptr, timed).error, RunError::none);
  }
  EXPECT_EQ(trouble.slices, 600 * Chain::kSteps * Chain::kSlices);
}

// As the plans of one executable do: each finds its own tasks, whichever ran before.
TEST_P(Tasks, ProgramsTakeTurnsOnOnePool) {
  constexpr uint32_t kPrograms = 4;
  const PoolOwner pool(Pool::create(GetParam()));
  std::vector<std::unique_ptr<RandomProgram>> programs;
  std::vector<ExecutorOwner> executors;  // of each program one by each schedule
  std::vector<std::vector<uint64_t>> wanted;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const RandomProgram& random =
        *programs.emplace_back(std::make_unique<RandomProgram>(seed + 100, GetParam()));
    for (const Schedule schedule : {Schedule::barrier, Schedule::dynamic})
      executors.push_back(executor_of(random.program(), random.weights(), pool.get(), schedule));
    wanted.push_back(arena_after_run(executors[executors.size() - 2].get()));
  }
  uint32_t next = 1;
  for (int run = 0; run < 600; ++run) {
    next = next * 1664525 + 1013904223;
    const size_t e = (next >> 16) % executors.size();
    ASSERT_EQ(arena_after_run(executors[e].get()), wanted[e / 2]) << "run " << run << ", executor " << e;
  }
}

// Two tasks, each of which waits for the other to begin.
std::atomic<int> met{0};
int32_t meet(const korch_kernel_context*, int64_t, int64_t) {
  ++met;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (met < 2 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  return met >= 2 ? KORCH_KERNEL_OK : KORCH_KERNEL_LIBRARY_FAILED;
}

TEST(TasksOfOthers, WhoSleptBeforeTheExecutorWasMadeIsWoken) {
  const TaskTables tables(task_graph({{0, 0, 0, 1, 1, {}}, {0, 0, 1, 2, 1, {}}}));
  const rt::Phase phase = {meet, 2, 1};
  const rt::Step step = {&phase, 1, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, "meet"};
  const rt::Program program = {&step, 1, 2, 0, 0, false, &tables.table, Schedule::dynamic};
  const PoolOwner pool(Pool::create(2));
  for (int run = 0; run < 3; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    met = 0;
    EXPECT_EQ(executor_of(program, nullptr, pool.get(), Schedule::dynamic)->run(nullptr, nullptr).error,
              RunError::none);
  }
}

TEST(TaskTable, TablesThatPointNowhereAreRefused) {
  const auto is_refused = [&](const std::function<void(TaskTables&)>& damage) {
    const std::vector<TaskUse> uses = {
        {0, 0, 0, 1, 1, {{0, {}, {{0, 1}}}}}, {0, 0, 1, 2, 1, {}}, {1, 0, 0, 2, 1, {{0, {{0, 1}}, {}}}}};
    TaskTables tables(task_graph(uses));
    const rt::Phase phase = {meet, 2, 1};
    const rt::Step step = {&phase, 1, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, "meet"};
    const rt::Step steps[] = {step, step};
    const rt::Program program = {steps, 2, 2, 0, 0, false, &tables.table, Schedule::dynamic};
    std::vector<uint32_t> room(rt::task_fault_room(tables.table));
    EXPECT_STREQ(rt::task_fault(program, room.data()), "");
    damage(tables);
    room.resize(rt::task_fault_room(tables.table));
    return rt::task_fault(program, room.data())[0] != '\0';
  };
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].step = 2; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].phase = 1; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].begin = -1; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].end = 3; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].end = t.tasks[0].begin; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].waits = 1; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].waits = 99; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].first_trigger = 1; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.tasks[0].trigger_count = 1u << 30; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.events[1].needed = 7; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.events[0].first_task = 1; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.events[0].task_count = 1u << 31; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.triggers[0] = 99; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.triggers[0] = 0; }));
  EXPECT_TRUE(is_refused([](TaskTables& t) { t.table.event_count = 1; }));
  // The task of the second step waits for itself, then for one behind it.
  EXPECT_TRUE(is_refused([](TaskTables& t) {
    const auto first = std::find(t.triggers.begin(), t.triggers.end(), 1);
    ASSERT_EQ(t.tasks[2].step, 1u);
    std::swap(*first, t.triggers[t.tasks[2].first_trigger]);
  }));
  EXPECT_FALSE(is_refused([](TaskTables&) {}));
}

INSTANTIATE_TEST_SUITE_P(Threads, Tasks, ::testing::Values(1, 2, 3, 4, 8));

TEST(ReadyTasks, EachIsTakenOnceAndTheMostUrgentFirst) {
  constexpr uint32_t kCount = 10000;
  std::vector<unsigned char> memory(rt::ReadyTasks::bytes_for(kCount) + 64);
  rt::ReadyTasks ready;
  ready.place(memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64, kCount);
  uint32_t task;
  EXPECT_FALSE(ready.any());
  EXPECT_FALSE(ready.take(&task));
  for (uint32_t added : {9999u, 4097u, 63u, 64u}) ready.add(added);
  for (uint32_t wanted : {63u, 64u, 4097u, 9999u}) {
    EXPECT_TRUE(ready.any());
    ASSERT_TRUE(ready.take(&task));
    EXPECT_EQ(task, wanted);
  }
  EXPECT_FALSE(ready.any());
  std::vector<std::atomic<int>> taken(kCount);
  std::atomic<uint32_t> left{kCount};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = t; i < kCount; i += 4) ready.add(i);
      uint32_t mine;
      while (left != 0)
        if (ready.take(&mine)) {
          ++taken[mine];
          --left;
        }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<int>& count : taken) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace korch::testing
