// Variants in an executable: the tables that packaging writes, and what is refused of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/package/loaded.h"
#include "korch/package/plan_tasks.h"
#include "korch/package/seal.h"
#include "korch/plan/plan_json.h"
#include "korch/plan/program.h"
#include "test_plan.h"

namespace korch {
namespace {

constexpr double kSlope = 1234.625;  // no other number of the file

// The test plan for n = 1 to 100 elements, whose first step has a second variant: less below half of them
// (and 5 % less below 48). It gives other results, so that it is seen.
Plan open_plan() {
  Plan plan = test_plan();
  plan.dimensions = {{"n", 1, kElements, {{0, 0}}}};
  PlanTensor n;
  n.name = "n";
  n.type = {DType::i64, {}};
  n.size_bytes = 8;
  n.role = TensorRole::input;
  n.index = 1;
  plan.tensors.push_back(n);
  Kernel other = plan.kernels[0];
  const std::string product = "in(c, 0)[i] * in(c, 1)[i];";
  other.source.replace(other.source.find(product), product.size(), "7;");
  plan.kernels.push_back(other);
  KernelVariants& variants = plan.steps[0].variants;
  variants.extents = {5};
  variants.samples = {{1}, {kElements}};
  variants.trusted = true;
  KernelVariant own{0, {1},   {}, "own", {{1, 0, 1, 0}}, {kSlope / 2, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0},
                    0, {1, 1}};
  KernelVariant variant = own;
  variant.kernel = 2;
  variant.limits = {{0, 5, 1, kElements, 1, 0, 1}};
  variant.shares = {{1, 0, 1, kElements}};
  variant.over = {0, kSlope, 0, 0, 0, 0};
  variants.list = {own, variant};
  return plan;
}

HostTensor input_of(int64_t elements) {
  HostTensor x(TensorType{DType::f32, {elements}});
  for (int64_t i = 0; i < elements; ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 7);
  return x;
}

TEST(PackagedVariants, RunByTheExtent) {
  const TempDir folder;
  const std::string path = folder.path() + "/model.so";
  const Plan plan = open_plan();
  write_executable(test_package(plan, Isa::portable), path);
  for (const int threads : {1, 2, 3, 5})
    for (const PlanSchedule schedule : kSchedules) {
      LoadedExecutable executable(path, threads, schedule);
      for (const int64_t n : {100, 10, 47, 48, 10}) {
        const std::vector<HostTensor> outputs = executable.run({input_of(n)});
        // With the second variant the first step gives 7, so that relu(7) - total is the same of all that it
        // computes.
        const float* y = outputs[0].data<float>();
        EXPECT_EQ(y[3] == y[4], n < 48) << n << " " << name(schedule);
      }
    }
}

// In the place of the step's own slices; the copy of an output reads what it may have written.
TEST(PackagedVariants, SharesAreWaitedForAsAWhole) {
  const Plan plan = open_plan();
  const std::optional<TaskGraph> tasks = plan_tasks(plan, plan_memory(plan));
  ASSERT_TRUE(tasks);
  EXPECT_EQ(fault_of(*tasks, plan, plan_memory(plan)), "");
  std::vector<std::pair<int64_t, int64_t>> shares;
  int first = -1;
  for (const Task& task : tasks->tasks) {
    if (task.step > 0 && task.phase == 0) {
      EXPECT_EQ(tasks->events[static_cast<size_t>(task.waits)].needed, variant_shares(plan.threads));
    }
    if (task.step != 0) continue;
    shares.emplace_back(task.begin, task.end);
    first = first < 0 ? task.waits : first;
    EXPECT_EQ(task.waits, first);
  }
  std::sort(shares.begin(), shares.end());
  ASSERT_EQ(shares.size(), static_cast<size_t>(variant_shares(plan.threads)));
  for (size_t i = 0; i < shares.size(); ++i) EXPECT_EQ(shares[i], std::pair(int64_t(i), int64_t(i) + 1));
}

TEST(PackagedVariants, DamagedTasksAreRefused) {
  const TempDir folder;
  const std::string path = folder.path() + "/model.so";
  const Plan plan = open_plan();
  write_executable(test_package(plan, Isa::portable), path);
  const std::string whole = read_file(path);
  const int64_t shares = variant_shares(plan.threads);
  const rt::SliceTask last{0, 0, shares - 1, shares, 0, 0, 0};
  constexpr size_t kKnown = offsetof(rt::SliceTask, first_trigger);
  const size_t at = whole.find(std::string(reinterpret_cast<const char*>(&last), kKnown));
  ASSERT_NE(at, std::string::npos);
  for (const int64_t end : {int64_t{0}, shares - 1, shares + 1, INT64_MAX}) {
    std::string damaged = whole;
    std::memcpy(damaged.data() + at + offsetof(rt::SliceTask, end), &end, sizeof end);
    const std::string file = folder.path() + "/damaged.so";
    write_file(file, damaged);
    seal_executable(file);  // as if it had been written so
    EXPECT_EQ(kind_of_failure([&] { LoadedExecutable executable(file); }), ErrorKind::io) << end;
  }
}

TEST(PackagedVariants, DamagedTablesAreRefused) {
  const TempDir folder;
  const std::string path = folder.path() + "/model.so";
  const Plan plan = open_plan();
  write_executable(test_package(plan, Isa::portable), path);
  const std::string whole = read_file(path);
  const size_t at = whole.find(std::string(reinterpret_cast<const char*>(&kSlope), sizeof kSlope));
  ASSERT_NE(at, std::string::npos);
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    std::string damaged = whole;
    std::memcpy(damaged.data() + at, &bad, sizeof bad);
    const std::string file = folder.path() + "/damaged.so";
    write_file(file, damaged);
    seal_executable(file);  // as if it had been written so
    EXPECT_EQ(kind_of_failure([&] { LoadedExecutable executable(file); }), ErrorKind::io) << bad;
  }
}

TEST(PackagedVariants, TextRoundTripsAndRefusesNonsense) {
  const Plan plan = open_plan();
  const auto steps_of = [](const std::string& json) {
    return json.substr(json.find("\"steps\""), json.find("\"kernels\": [") - json.find("\"steps\""));
  };
  const std::string text = plan_to_json(plan);
  EXPECT_TRUE(steps_of(plan_to_json(plan_from_json(text))) == steps_of(text));
  const auto is_refused = [](const std::function<void(KernelVariants&)>& damage) {
    Plan damaged = open_plan();
    damage(damaged.steps[0].variants);
    const std::string json = plan_to_json(damaged);
    return kind_of_failure([&] { plan_from_json(json); }) == ErrorKind::io;
  };
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[1].over[1] = NAN; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[0].under[0] = INFINITY; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[1].over.pop_back(); }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[1].kernel = 3; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[1].constants[0] = -1; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[1].limits[0].tensor = 6; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[1].shares[0].by = 0; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.extents[0] = 6; }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.extents.clear(); }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.samples.clear(); }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.samples[0].push_back(1); }));
  EXPECT_TRUE(is_refused([](KernelVariants& l) { l.list[0].measured_us.clear(); }));
}

}  // namespace
}  // namespace korch
