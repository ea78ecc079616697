// Whether a machine is busy, by what its system says, without a clock.
#include "korch/profile/machine_load.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

constexpr char kProcStat[] =
    "cpu  300 30 60 1000 7 1 2 50 0 0\n"
    "cpu0 100 10 20 400 3 1 1 20 0 0\n"
    "cpu1 200 20 40 600 4 0 1 30 0 0\n"
    "intr 12345 0 9\n"
    "ctxt 777\n";

LoadSnapshot snapshot_of(std::string_view text, const std::vector<int>& cpus) {
  LoadSnapshot snapshot;
  add_cpu_times(text, cpus, 0.01, snapshot);
  return snapshot;
}

TEST(MachineLoad, AddsUpTheProcessorsThatMayBeUsed) {
  EXPECT_NEAR(snapshot_of(kProcStat, {1}).busy_s, 2.61, 1e-9);
  EXPECT_NEAR(snapshot_of(kProcStat, {1}).stolen_s, 0.3, 1e-9);
  EXPECT_NEAR(snapshot_of(kProcStat, {0, 1}).busy_s, 1.32 + 2.61, 1e-9);
  EXPECT_NEAR(snapshot_of(kProcStat, {}).busy_s, 1.32 + 2.61, 1e-9);  // not the line of the sum
  EXPECT_EQ(snapshot_of(kProcStat, {7}).busy_s, 0);
  for (const char* text : {"", "cpu", "cpu0 1 2", "cpuX 1 2 3 4 5 6 7 8\n"})
    EXPECT_EQ(snapshot_of(text, {}).busy_s, 0) << text;
}

TEST(MachineLoad, WhatThisProcessUsesIsNotOthers) {
  const LoadSnapshot begin{.at_s = 10, .busy_s = 100, .stolen_s = 1, .own_s = 5};
  const LoadSnapshot alone{.at_s = 12, .busy_s = 104, .stolen_s = 1, .own_s = 9};
  EXPECT_NEAR(load_between(begin, alone, 2).others_cpus, 0, 1e-9);
  EXPECT_EQ(disturbance(load_between(begin, alone, 2)), "");
  const LoadSnapshot shared{.at_s = 12, .busy_s = 104, .stolen_s = 1.4, .own_s = 6};
  EXPECT_NEAR(load_between(begin, shared, 2).others_cpus, 1.5, 1e-9);
  EXPECT_NEAR(load_between(begin, shared, 2).stolen_cpus, 0.2, 1e-9);
  // The system's ticks lag behind a process' own time.
  const LoadSnapshot lagging{.at_s = 12, .busy_s = 103, .stolen_s = 1, .own_s = 9};
  EXPECT_EQ(load_between(begin, lagging, 2).others_cpus, 0);
  EXPECT_EQ(disturbance(load_between(begin, begin, 2)), "");
}

TEST(MachineLoad, IsNamedWhereItDisturbs) {
  EXPECT_EQ(disturbance({.cpus = 2, .others_cpus = 0.3, .stolen_cpus = 0.05, .waited = 0.03}), "");
  EXPECT_EQ(disturbance({.cpus = 2, .others_cpus = 1.44}), "other programs used 1.4 of 2 processors");
  EXPECT_EQ(disturbance({.cpus = 64, .others_cpus = 1.4}), "");
  EXPECT_EQ(disturbance({.cpus = 2, .stolen_cpus = 0.3}),
            "other guests of this host took 0.3 of 2 processors");
  EXPECT_EQ(
      disturbance({.cpus = 2, .others_cpus = 1, .waited = 0.5}),
      "other programs used 1.0 of 2 processors, threads that measured waited for a processor 50 % of the "
      "time");
}

}  // namespace
}  // namespace korch
