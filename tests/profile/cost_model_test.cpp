#include "korch/profile/cost_model.h"

#include <gtest/gtest.h>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/estimate/shipped_model.h"
#include "korch/profile/cost_row.h"

namespace korch {
namespace {

TEST(CostModel, TheProgramsOwnIsOne) {
  std::string warning;
  const CostModel model = cost_model_named("shipped", warning);
  EXPECT_EQ(warning, "");
  ASSERT_TRUE(model.is_learned());
  EXPECT_GT(model.trees().networks, 20);
  const CostEstimate estimate = model.estimate(Features(feature_names().size()));
  EXPECT_LE(estimate.low, 0);
  EXPECT_LE(shipped_model_text().size(), 500'000U);
}

TEST(CostModel, AnalyticOnesKnowNothing) {
  std::string warning;
  EXPECT_FALSE(cost_model_named("analytic", warning).is_learned());
  EXPECT_NE(cost_model_named("analytic", warning).key(), cost_model_named("shipped", warning).key());
  EXPECT_EQ(warning, "");
}

// A program whose own model is of no use still compiles, and says what it goes by.
TEST(CostModel, BoundsStandInForTheProgramsOwn) {
  const std::string good(shipped_model_text());
  std::string newer = good;
  newer.replace(newer.find("\"korch_cost_model\":2"), 20, "\"korch_cost_model\":3");
  for (const std::string& text : {std::string(), good.substr(0, good.size() / 2), newer}) {
    std::string warning;
    EXPECT_FALSE(own_cost_model(text, warning).is_learned());
    EXPECT_TRUE(warning.starts_with("the program's own model of costs: ")) << warning;
    EXPECT_TRUE(warning.ends_with("; bounds stand for costs that are not measured")) << warning;
  }
  std::string warning;
  EXPECT_TRUE(own_cost_model(good, warning).is_learned());
  EXPECT_EQ(warning, "");
}

// The user chose it: nothing stands in.
TEST(CostModel, AUsersFileIsRefused) {
  const TempDir folder;
  const std::string file = folder.path() + "/m.json";
  const std::string good(shipped_model_text());
  std::string warning;
  write_file(file, good);
  EXPECT_EQ(cost_model_named(file, warning).key(), cost_model_named("shipped", warning).key());
  write_file(file, good.substr(0, good.size() - 100));
  EXPECT_THROW(cost_model_named(file, warning), Error);
  EXPECT_THROW(cost_model_named(folder.path() + "/none.json", warning), Error);
  EXPECT_EQ(warning, "");
}

}  // namespace
}  // namespace korch
