// What cannot be measured is refused before any work.
#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/usable_cpus.h"
#include "korch/driver/planning_speeds.h"

namespace korch {
namespace {

void expect_refused(const Device& target, const std::vector<std::string>& words) {
  try {
    require_measurable(target);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    for (const std::string& part : words)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(RequireMeasurable, RefusesWorkersThatWouldOnlyTakeTurns) {
  Device target = detect_device("native", 1);
  EXPECT_NO_THROW(require_measurable(target));
  target.workers = usable_cpus() + 1;
  EXPECT_NO_THROW(require_measurable(target));
  target.workers = 1000 * usable_cpus();
  expect_refused(target, {std::to_string(target.workers) + " workers", "--no-measure"});
}

// Costs of one processor say nothing of another one's, though it runs the same code.
TEST(RequireMeasurable, RefusesAnotherMachine) {
  Device target = detect_device("native", 1);
  target.name = "a machine elsewhere";
  expect_refused(target, {"no a machine elsewhere", "--no-measure"});
}

}  // namespace
}  // namespace korch
