#include "korch/runtime/executor.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "korch/runtime/library.h"

namespace korch::rt {
namespace {

struct DestroyPool {
  void operator()(Pool* pool) const { Pool::destroy(pool); }
};
struct DestroyExecutor {
  void operator()(Executor* executor) const { Executor::destroy(executor); }
};
using PoolOwner = std::unique_ptr<Pool, DestroyPool>;
using ExecutorOwner = std::unique_ptr<Executor, DestroyExecutor>;

constexpr int64_t kCount = 1000;

const float* in(const korch_kernel_context* context, int arg) {
  return static_cast<const float*>(context->args[arg]);
}
float* out(const korch_kernel_context* context, int arg) {
  return static_cast<float*>(context->args[arg]);
}

// out = in * weight
int32_t scale(const korch_kernel_context* context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) out(context, 2)[i] = in(context, 0)[i] * in(context, 1)[i];
  return KORCH_KERNEL_OK;
}

// Prefix sums of blocks of 10 into a temporary; goes through the worker's scratch.
int32_t block_sums(const korch_kernel_context* context, int64_t begin, int64_t end) {
  auto* scratch = static_cast<float*>(context->scratch);
  for (int64_t block = begin; block < end; ++block) {
    std::memcpy(scratch, in(context, 0) + 10 * block, 10 * sizeof(float));
    out(context, 2)[block] = std::accumulate(scratch, scratch + 10, 0.0f);
  }
  return KORCH_KERNEL_OK;
}

// Reads what other workers wrote in the phase before.
int32_t subtract_total(const korch_kernel_context* context, int64_t begin, int64_t end) {
  const float total = std::accumulate(in(context, 2), in(context, 2) + kCount / 10, 0.0f);
  for (int64_t i = begin; i < end; ++i) out(context, 1)[i] = in(context, 0)[i] - total;
  return KORCH_KERNEL_OK;
}

int32_t out_of_range(const korch_kernel_context*, int64_t begin, int64_t end) {
  return begin <= 500 && 500 < end ? KORCH_KERNEL_INDEX_OUT_OF_RANGE : KORCH_KERNEL_OK;
}

int32_t must_not_run(const korch_kernel_context* context, int64_t, int64_t) {
  *out(context, 0) = -1;
  return KORCH_KERNEL_OK;
}

struct Fixture {
  Fixture() : input(kCount), weights(kCount), output(kCount) {
    for (int64_t i = 0; i < kCount; ++i) {
      input[static_cast<size_t>(i)] = static_cast<float>(i % 17);
      weights[static_cast<size_t>(i)] = static_cast<float>(i % 3);
    }
  }
  std::vector<float> input, weights, output;
};

class ExecutorTest : public testing::TestWithParam<int> {
 protected:
  ExecutorTest() : pool(Pool::create(GetParam())) {}
  RunStatus run(const Program& program, const RunOptions& options = {}) {
    RunStatus status;
    const ExecutorOwner executor(Executor::create(&program, data.weights.data(), pool->workers(), &status));
    if (executor == nullptr) return status;
    const void* inputs[] = {data.input.data()};
    void* outputs[] = {data.output.data()};
    for (int repeat = 0; repeat < 20; ++repeat) status = executor->run(inputs, outputs, options);
    return status;
  }
  PoolOwner pool;
  Fixture data;
};

const Phase kScale[] = {{scale, kCount, 7}};
const BufferRef kScaleArgs[] = {{kInput, 0, 0}, {kWeights, 0, 0}, {kArena, 0, 4096}};
const Phase kCenter[] = {{block_sums, kCount / 10, 3}, {subtract_total, kCount, 64}};
const BufferRef kCenterArgs[] = {{kArena, 0, 4096}, {kOutput, 0, 0}, {kArena, 0, 0}};
const Step kSteps[] = {{kScale, 1, kScaleArgs, 3, nullptr, nullptr, 0, nullptr, 0, "scale"},
                       {kCenter, 2, kCenterArgs, 3, nullptr, nullptr, 0, nullptr, 0, "center"}};

TEST_P(ExecutorTest, StepsAndPhasesInOrder) {
  ASSERT_EQ(run({kSteps, 2, 1, 4096 + 4 * kCount, 40, false}).error, RunError::none);
  float total = 0;
  for (int64_t i = 0; i < kCount; ++i) total += static_cast<float>(i % 17 * (i % 3));
  for (int64_t i = 0; i < kCount; ++i)
    ASSERT_EQ(data.output[static_cast<size_t>(i)], static_cast<float>(i % 17 * (i % 3)) - total) << i;
}

TEST_P(ExecutorTest, ExecutorsThatFollowEachOtherShareAMapping) {
  Mapping mapping;
  const void* inputs[] = {data.input.data()};
  void* outputs[] = {data.output.data()};
  const Program small{kSteps, 2, 1, 4096 + 4 * kCount, 40, false};
  const Program large{kSteps, 2, 1, 64 * (4096 + 4 * kCount), 40, false};
  void* arena_of_large = nullptr;
  for (const Program* program : {&small, &large, &small}) {
    RunStatus status;
    const ExecutorOwner executor(
        Executor::create(program, data.weights.data(), pool->workers(), &status, &mapping));
    ASSERT_NE(executor, nullptr);
    EXPECT_EQ(executor->arena(), mapping.start());
    if (program == &large) arena_of_large = executor->arena();
    data.output.assign(kCount, 0);
    ASSERT_EQ(executor->run(inputs, outputs).error, RunError::none);
    EXPECT_NE(data.output[static_cast<size_t>(kCount - 1)], 0);
  }
  EXPECT_EQ(mapping.start(), arena_of_large);  // not mapped again for less
}

int32_t quarter(const korch_kernel_context* context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) out(context, 1)[i] = in(context, 0)[i] * 0.25f;
  return KORCH_KERNEL_OK;
}

TEST_P(ExecutorTest, SubnormalResultsAreFlushedOnDemandAndWhileItRunsOnly) {
  const Phase phase[] = {{quarter, kCount, 7}};
  const BufferRef args[] = {{kInput, 0, 0}, {kOutput, 0, 0}};
  const Step steps[] = {{phase, 1, args, 2, nullptr, nullptr, 0, nullptr, 0, "quarter"}};
  for (float& x : data.input) x = std::numeric_limits<float>::min();
  for (bool flushes : {false, true}) {
    ASSERT_EQ(run({steps, 1, 1, 0, 0, flushes}).error, RunError::none);
    for (float y : data.output) ASSERT_EQ(y, flushes ? 0.f : std::numeric_limits<float>::min() / 4);
    volatile float smallest = std::numeric_limits<float>::min();
    EXPECT_GT(smallest * 0.25f, 0.f);
  }
}

TEST_P(ExecutorTest, FailureNamesTheStepAndStops) {
  const Phase failing[] = {{out_of_range, kCount, 10}};
  const Phase last[] = {{must_not_run, 1, 1}};
  const BufferRef last_args[] = {{kOutput, 0, 0}};
  const Step steps[] = {kSteps[0],
                        kSteps[1],
                        {failing, 1, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, "gather"},
                        {last, 1, last_args, 1, nullptr, nullptr, 0, nullptr, 0, "last"}};
  const RunStatus status = run({steps, 4, 1, 4096 + 4 * kCount, 40, false});
  EXPECT_EQ(status.error, RunError::index_out_of_range);
  EXPECT_EQ(status.step, 2);
  float total = 0;
  for (int64_t i = 0; i < kCount; ++i) total += static_cast<float>(i % 17 * (i % 3));
  EXPECT_EQ(data.output[0], -total);
}

TEST_P(ExecutorTest, ObserverSeesEachStep) {
  struct Seen {
    std::vector<uint32_t> steps;
    float scaled = 0;
  } seen;
  double step_us[2] = {-1, -1};
  RunOptions options;
  options.step_us = step_us;
  options.observe_user = &seen;
  options.observe = [](void* user, uint32_t step, void* const* args) {
    auto* seen = static_cast<Seen*>(user);
    seen->steps.push_back(step);
    if (step == 0) seen->scaled = static_cast<const float*>(args[2])[16];
  };
  ASSERT_EQ(run({kSteps, 2, 1, 4096 + 4 * kCount, 40, false}, options).error, RunError::none);
  ASSERT_EQ(seen.steps.size(), 40u);  // 20 runs
  EXPECT_EQ(seen.steps[0], 0u);
  EXPECT_EQ(seen.steps[39], 1u);
  EXPECT_EQ(seen.scaled, 16.0f);
  EXPECT_GE(step_us[0], 0);
  EXPECT_GE(step_us[1], 0);
}

TEST_P(ExecutorTest, LibraryCallsGetTheirState) {
  const LibraryFunction* copy = find_library_function("korch", "copy");
  ASSERT_NE(copy, nullptr);
  const Phase phases[] = {{copy->run, 1, 1}};
  const BufferRef args[] = {{kInput, 0, 0}, {kOutput, 0, 0}};
  const int64_t params[] = {4 * kCount};
  const Step step = {phases, 1, args, 2, copy->ops, params, 1, nullptr, 0, "copy"};
  ASSERT_EQ(run({&step, 1, 1, 0, 0, false}).error, RunError::none);
  EXPECT_EQ(data.output, data.input);

  const Step refused = {phases, 1, args, 2, copy->ops, params, 0, nullptr, 0, "copy"};
  const Step steps[] = {step, refused};
  const RunStatus status = run({steps, 2, 1, 0, 0, false});
  EXPECT_EQ(status.error, RunError::library_refused);
  EXPECT_EQ(status.step, 1);
}

int32_t find_no_memory(const korch_kernel_context*, int64_t, int64_t) {
  return KORCH_KERNEL_OUT_OF_MEMORY;
}

TEST_P(ExecutorTest, ShortageIsToldFromRefusal) {
  const LibraryOps no_memory = {
      [](const int64_t*, uint32_t, const float*, uint32_t, uint64_t*, int32_t* code) -> void* {
        *code = KORCH_KERNEL_OUT_OF_MEMORY;
        return nullptr;
      },
      nullptr};
  const Phase phases[] = {{find_no_memory, 1, 1}};
  const Step unprepared = {phases, 1, nullptr, 0, &no_memory, nullptr, 0, nullptr, 0, "call"};
  const Step failing = {phases, 1, nullptr, 0, nullptr, nullptr, 0, nullptr, 0, "call"};
  for (const Step& step : {unprepared, failing}) {
    const RunStatus status = run({&step, 1, 1, 0, 0, false});
    EXPECT_EQ(status.error, RunError::out_of_memory);
    EXPECT_EQ(status.step, 0);
  }
  EXPECT_EQ(run({kSteps, 2, 1, uint64_t{1} << 60, 40, false}).error, RunError::out_of_memory);
}

TEST(Executor, DefaultThreadsAreThoseCompiledForThatTheProcessMayUse) {
  Program program{};
  program.threads = 1;
  EXPECT_EQ(default_threads(program), 1);
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  program.threads = static_cast<uint32_t>(CPU_COUNT(&before)) + 1;
  EXPECT_LE(default_threads(program), CPU_COUNT(&before));
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(default_threads(program), 1);
  ::sched_setaffinity(0, sizeof before, &before);
}

TEST(Executor, UnknownLibraryFunction) {
  EXPECT_EQ(find_library_function("korch", "nothing"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Threads, ExecutorTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace korch::rt
