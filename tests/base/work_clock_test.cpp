// Seconds by kind of work.
#include "korch/base/work_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace korch {
namespace {

void wait_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(WorkClock, CountsInnerWorkAsItselfAlone) {
  WorkClock clock;
  const Stopwatch all;
  {
    const WorkClock::Timed outer(&clock, "outer");
    wait_ms(4);
    for (int i = 0; i < 2; ++i) {
      const WorkClock::Timed inner(&clock, "inner");
      wait_ms(20);
      const WorkClock::Timed innermost(&clock, "innermost");
      wait_ms(4);
    }
  }
  const WorkClock::Timed nobody_asks(nullptr, "nothing");
  const double seconds = all.seconds();
  ASSERT_EQ(clock.seconds().size(), 3u);
  const double outer = clock.seconds().at("outer"), inner = clock.seconds().at("inner"),
               innermost = clock.seconds().at("innermost");
  EXPECT_GE(outer, 0.004);
  EXPECT_GE(inner, 0.040);
  EXPECT_GE(innermost, 0.008);
  EXPECT_LE(outer + inner + innermost, seconds + 1e-6);
}

}  // namespace
}  // namespace korch
