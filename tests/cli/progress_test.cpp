// What a compilation says of itself, at made-up times.
#include "progress.h"

#include <gtest/gtest.h>

namespace korch {
namespace {

TEST(Progress, TimesAreRoundedUp) {
  EXPECT_EQ(time_text(0), "0 s");
  EXPECT_EQ(time_text(0.1), "1 s");
  EXPECT_EQ(time_text(59.5), "1 min 00 s");
  EXPECT_EQ(time_text(125), "2 min 05 s");
}

TEST(Progress, TimeLeftIsAtTheRateSinceTheStageBegan) {
  ProgressLine line;
  EXPECT_EQ(line("import", 0, 0, 0), "import");
  EXPECT_EQ(line("solve", 10, 100, 50), "solve 10/100");  // what an earlier stage took says nothing
  EXPECT_EQ(line("solve", 20, 100, 55), "solve 20/100, 40 s left");
  EXPECT_EQ(line("solve", 40, 400, 65), "solve 40/400, 3 min 00 s left");
  EXPECT_EQ(line("verify", 0, 0, 66), "verify");
}

TEST(Progress, ALogGetsALinePerStageAndPeriod) {
  ProgressLog log(100);
  EXPECT_EQ(log("import", 0, 0, 100.5), "[    0.5 s] import");
  EXPECT_EQ(log("solve", 0, 10, 101), "[    1.0 s] solve 0/10");
  EXPECT_EQ(log("solve", 1, 10, 110), std::nullopt);
  EXPECT_EQ(log("solve", 2, 10, 111), "[   11.0 s] solve 2/10, 40 s left");
  EXPECT_EQ(log("solve", 3, 10, 112), std::nullopt);
  EXPECT_EQ(log("package", 0, 0, 112), "[   12.0 s] package");
}

}  // namespace
}  // namespace korch
