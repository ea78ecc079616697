#include "korch/base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace korch {
namespace {

using Json = nlohmann::json;

TEST(Json, AnIntegerIsReadFromAnIntegerThatFits) {
  EXPECT_EQ(Json::parse("-7").get<int>(), -7);
  EXPECT_EQ(Json::parse("[3, 4]").get<std::vector<int64_t>>(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(Json::parse("18446744073709551615").get<uint64_t>(), std::numeric_limits<uint64_t>::max());
  for (const char* text :
       {"1e300", "0.5", "2147483648", "-2147483649", "18446744073709551615", "\"7\"", "true"})
    EXPECT_THROW(Json::parse(text).get<int>(), Json::exception) << text;
  EXPECT_THROW(Json::parse("-1").get<uint64_t>(), Json::exception);
  EXPECT_THROW(Json::parse("[1, 1e300]").get<std::vector<int>>(), Json::exception);
}

TEST(Json, OtherValuesAndWritingAreTheLibrarys) {
  EXPECT_EQ(Json::parse("7").get<double>(), 7.0);
  EXPECT_TRUE(Json::parse("true").get<bool>());
  EXPECT_EQ(Json({{"a", -1}, {"b", size_t{2}}, {"c", true}}).dump(), R"({"a":-1,"b":2,"c":true})");
}

}  // namespace
}  // namespace korch
