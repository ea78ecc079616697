// What is said of a run beside the one that the compilation measured.
#include "korch/inspect/run_again.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

TEST(RunAgain, NearTimesAreOnlyTold) {
  EXPECT_EQ(describe(RunAgain{.now_us = 120, .compiled_us = 100, .compiled_on = "A", .here = "A"}),
            "run whole now: 120.0 us, when it was compiled: 100.0 us\n");
  EXPECT_EQ(describe(RunAgain{.now_us = 120}),
            "run whole now: 120.0 us; it was not run when it was compiled\n");
}

TEST(RunAgain, FarTimesHaveAReason) {
  const auto has = [](const RunAgain& run, const std::string& part) {
    return describe(run).find(part) != std::string::npos;
  };
  const RunAgain slow{.now_us = 310, .compiled_us = 100, .compiled_on = "A", .here = "A"};
  EXPECT_TRUE(has(slow, "3.1 times as long as when it was compiled")) << describe(slow);
  EXPECT_TRUE(has(slow, "slower than they were")) << describe(slow);
  RunAgain busy = slow;
  busy.disturbed = "other programs used 1.4 of 2 processors";
  EXPECT_TRUE(has(busy, "this machine is busy: other programs used 1.4 of 2 processors")) << describe(busy);
  RunAgain elsewhere = slow;
  elsewhere.here = "B";
  EXPECT_TRUE(has(elsewhere, "another machine (B; it was compiled on A)")) << describe(elsewhere);
  const RunAgain fast{.now_us = 100, .compiled_us = 200, .compiled_on = "A", .here = "A"};
  EXPECT_TRUE(has(fast, "it took 2.0 times as long when it was compiled")) << describe(fast);
  EXPECT_TRUE(has(fast, "compile it again")) << describe(fast);
}

}  // namespace
}  // namespace korch
