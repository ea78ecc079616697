// Kernel variants of a step, by tasks: a run takes one of them for the whole step, when what tells its extent
// has ended, and runs each slice once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "korch/plan/task_fault.h"
#include "korch/runtime/executor.h"
#include "task_program.h"

namespace korch::testing {
namespace {

using rt::Executor;
using rt::Pool;
using rt::RunError;
using rt::RunStatus;
using rt::Schedule;
using rt::Step;

constexpr int64_t kMost = 100, kBlock = 10;
constexpr uint32_t kShares = 7;

// What the steps exchange, in the arena.
struct Shared {
  int64_t extent;
  int64_t first_phase;             // slices that ended in the first phase of the variant that has two
  int64_t count[kMost];            // how often each element was made
  int64_t variant_of[kMost];       // by which variant
  int64_t too_early;               // slices of the second phase that began before the first had ended
  int64_t made, variants, failed;  // what the last step finds: elements, different variants
};

void add(int64_t& to, int64_t what) {
  __atomic_fetch_add(&to, what, __ATOMIC_RELAXED);
}

Shared& shared(const korch_kernel_context* context) {
  return *static_cast<Shared*>(context->args[0]);
}

// The input is the extent, negative where the step in the middle is to fail.
int32_t tell(const korch_kernel_context* context, int64_t, int64_t) {
  const int64_t extent = *static_cast<const int64_t*>(context->args[1]);
  shared(context) = {};
  shared(context).extent = extent < 0 ? -extent : extent;
  shared(context).failed = extent < 0;
  return KORCH_KERNEL_OK;
}

template <int kWay, int64_t kElements>
int32_t make(const korch_kernel_context* context, int64_t begin, int64_t end) {
  Shared& s = shared(context);
  if (kWay == 2 && __atomic_load_n(&s.first_phase, __ATOMIC_RELAXED) != s.extent) add(s.too_early, 1);
  for (int64_t i = begin * kElements; i < end * kElements; ++i) {
    add(s.count[i], 1);
    __atomic_store_n(&s.variant_of[i], kWay, __ATOMIC_RELAXED);
  }
  return s.failed ? KORCH_KERNEL_INDEX_OUT_OF_RANGE : KORCH_KERNEL_OK;
}

int32_t prepare(const korch_kernel_context* context, int64_t begin, int64_t end) {
  add(shared(context).first_phase, end - begin);
  return KORCH_KERNEL_OK;
}

int32_t look(const korch_kernel_context* context, int64_t, int64_t) {
  Shared& s = shared(context);
  std::set<int64_t> variants;
  for (int64_t i = 0; i < kMost; ++i) {
    if (i < s.extent) variants.insert(s.variant_of[i]);
    s.made += s.count[i];
  }
  s.variants = static_cast<int64_t>(variants.size());
  return KORCH_KERNEL_OK;
}

// Three variants that cost 100, 2 e and 20 + e: one of blocks, one of single elements, one of two phases.
class Variants {
 public:
  explicit Variants(int workers) : tables_(task_graph(uses())) {
    for (Step& other : others_) {
      other.limits = limits_;
      other.limit_count = static_cast<uint32_t>(other.phase_count);
    }
    table_.shares = kShares;
    steps_[1].variants = &table_;
    program_.threads = static_cast<uint32_t>(workers);
  }
  const rt::Program& program() const { return program_; }
  TaskTables& tables() { return tables_; }

 private:
  static std::vector<TaskUse> uses() {
    const MemoryUse extent{0, {}, {{0, 8}}}, middle{0, {{0, 8}}, {{8, 16}}}, end{0, {{8, 16}}, {{16, 24}}};
    std::vector<TaskUse> uses = {{0, 0, 0, 1, 1, {extent}}};
    for (int phase = 0; phase < 2; ++phase)
      for (int64_t i = 0; i < kShares; ++i) uses.push_back({1, phase, i, i + 1, 1, {middle}});
    uses.push_back({2, 0, 0, 1, 1, {end}});
    return uses;
  }
  static rt::VariantCost cost(double constant, double slope, int64_t count) {
    return {{{1, 0, 1, count}, {1, 0, 1, 0}}, {constant, slope, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}};
  }
  template <size_t kCount>
  Step step(const rt::Phase (&phases)[kCount], uint32_t args) const {
    return {phases, kCount, args_, args, nullptr, nullptr, 0, nullptr, 0, "variant"};
  }

  TaskTables tables_;
  const rt::Phase tell_[1] = {{tell, 1, 1}}, look_[1] = {{look, 1, 1}};
  const rt::Phase blocks_[1] = {{make<0, kBlock>, kMost / kBlock, 1}};
  const rt::Phase single_[1] = {{make<1, 1>, kMost, 3}};
  const rt::Phase two_[2] = {{prepare, kMost, 2}, {make<2, 1>, kMost, 1}};
  const rt::BufferRef args_[2] = {{rt::kArena, 0, 0}, {rt::kInput, 0, 0}};
  const rt::SliceLimit limits_[2] = {{0, 0, 1, kMost, 1, 0, 1}, {1, 0, 1, kMost, 1, 0, 1}};
  Step others_[2] = {step(single_, 1), step(two_, 1)};
  const rt::VariantCost costs_[3] = {cost(100, 0, 0), cost(0, 200, kMost), cost(20, 100, kMost)};
  rt::VariantTable table_{others_, costs_, 3, 1, {0, 0}, {kBlock, 0}, {kMost, 0}, true};
  Step steps_[3] = {step(tell_, 2), step(blocks_, 1), step(look_, 1)};
  rt::Program program_{steps_, 3, 1, sizeof(Shared), 0, false, &tables_.table, Schedule::dynamic};
};

struct Destroy {
  void operator()(Pool* pool) const { Pool::destroy(pool); }
  void operator()(Executor* executor) const { Executor::destroy(executor); }
};

class VariantTasks : public ::testing::TestWithParam<std::tuple<int, Schedule>> {
 protected:
  VariantTasks() : ways_(threads()), pool_(Pool::create(threads())) {
    RunStatus status;
    executor_.reset(Executor::create(&ways_.program(), nullptr, pool_->workers(), &status, nullptr,
                                     std::get<1>(GetParam())));
  }
  static int threads() { return std::get<0>(GetParam()); }
  RunStatus status_of(int64_t extent, const rt::RunOptions& options = {}) {
    const void* inputs[] = {&extent};
    return executor_->run(inputs, nullptr, options);
  }
  // The variant that a run of this extent took.
  int64_t run(int64_t extent, const rt::RunOptions& options = {}) {
    EXPECT_EQ(status_of(extent, options).error, RunError::none);
    const Shared& s = *static_cast<const Shared*>(executor_->arena());
    EXPECT_EQ(s.variants, 1);
    EXPECT_EQ(s.too_early, 0);
    for (int64_t i = 0; i < extent; ++i) EXPECT_EQ(s.count[i], 1) << i;
    EXPECT_EQ(s.made, s.variant_of[0] == 0 ? kMost : extent);
    return s.variant_of[0];
  }

  Variants ways_;
  std::unique_ptr<Pool, Destroy> pool_;
  std::unique_ptr<Executor, Destroy> executor_;
};

TEST_P(VariantTasks, RunTheWayThatCostsLeast) {
  for (int repeat = 0; repeat < 5; ++repeat)
    for (int64_t at = 0; at < 91; ++at) {
      const int64_t e = kBlock + at * 37 % 91;
      if (e == 20 || e == 75) continue;  // equal costs
      ASSERT_EQ(run(e), e < 20 ? 1 : e < 75 ? 2 : 0) << e;
    }
}

TEST_P(VariantTasks, RunsTryThreeWhereCostsDoNotTell) {
  int turns[3] = {};
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(status_of(-15).error, RunError::index_out_of_range);
    EXPECT_EQ(status_of(-5).step, 1);  // which counts as no try
    ++turns[run(5)];
    EXPECT_EQ(run(15), 1);
  }
  for (const int count : turns) EXPECT_EQ(count, 3);
  const int64_t kept = run(5);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(run(5), kept);
}

TEST_P(VariantTasks, WhoObservesIsToldOfEachSliceOnce) {
  using Slices = std::vector<std::set<std::array<int64_t, 3>>>;  // of each worker: phase, begin, end
  Slices slices(static_cast<size_t>(threads()));
  rt::RunOptions options;
  options.on_slices = {[](void* user, const rt::SlicesRun& run) {
                         if (run.step == 1)
                           (*static_cast<Slices*>(user))[static_cast<size_t>(run.worker)].insert(
                               {run.phase, run.begin, run.end});
                       },
                       &slices};
  ASSERT_EQ(run(50, options), 2);
  std::set<std::array<int64_t, 3>> all;
  for (const auto& some : slices) all.insert(some.begin(), some.end());
  int64_t at = 0, phase = 0;
  for (const auto& [of, begin, end] : all) {
    if (of != phase) {
      EXPECT_EQ(at, 50);
      at = 0;
      phase = of;
    }
    EXPECT_EQ(begin, at);
    at = end;
  }
  EXPECT_EQ(phase, 1);
  EXPECT_EQ(at, 50);
}

INSTANTIATE_TEST_SUITE_P(Threads, VariantTasks,
                         ::testing::Combine(::testing::Values(1, 2, 3, 8),
                                            ::testing::Values(Schedule::barrier, Schedule::dynamic)));

TEST(VariantTasksTable, SharesThatPointNowhereAreRefused) {
  std::vector<uint32_t> counts(1024);
  Variants variants(2);
  EXPECT_STREQ(rt::task_fault(variants.program(), counts.data()), "");
  std::vector<rt::SliceTask>& tasks = variants.tables().tasks;
  const auto first = std::find_if(tasks.begin(), tasks.end(), [](const rt::SliceTask& task) {
    return task.step == 1 && task.phase == 0 && task.begin == 0;
  });
  first->end = kShares + 1;
  EXPECT_STREQ(rt::task_fault(variants.program(), counts.data()), "a task");
  first->end = 1;
  first->phase = 1;  // so that nobody would choose a variant
  EXPECT_STREQ(rt::task_fault(variants.program(), counts.data()), "a share");
}

}  // namespace
}  // namespace korch::testing
