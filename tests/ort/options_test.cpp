#include "options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "korch/base/error.h"

namespace korch::ort {
namespace {

std::string failure(const std::string& name, const std::string& value) {
  try {
    parse_options({{name, value}});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "none";
}

TEST(Options, Given) {
  const Options options = parse_options({{"threads", "3"},
                                         {"accuracy", "strict"},
                                         {"cache", "/folder"},
                                         {"measure", "0"},
                                         {"budget_s", "2.5"},
                                         {"compiler", "/bin/korch"}});
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.accuracy, "strict");
  EXPECT_EQ(options.cache, "/folder");
  EXPECT_FALSE(options.measure);
  EXPECT_EQ(options.budget_s, 2.5);
  EXPECT_EQ(options.compiler, "/bin/korch");
}

TEST(Options, Defaults) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  Options options = parse_options({});
  EXPECT_EQ(options.cache, "/somewhere/korch/ort");
  EXPECT_TRUE(options.measure);
  EXPECT_EQ(options.threads, 0);
  EXPECT_EQ(options.accuracy, "standard");
  EXPECT_EQ(options.budget_s, 0);
  EXPECT_EQ(options.compiler, "");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(parse_options({}).cache, "/home/me/.cache/korch/ort");
  ::unsetenv("HOME");
  EXPECT_EQ(parse_options({}).cache, "");
}

TEST(Options, Wrong) {
  EXPECT_EQ(failure("treads", "2"),
            "no option 'treads'; there are threads, accuracy, cache, measure, budget_s, compiler");
  EXPECT_EQ(failure("threads", "-1"), "option threads: a number of threads, or 0, not '-1'");
  EXPECT_EQ(failure("accuracy", "sloppy"), "option accuracy: strict or standard, not 'sloppy'");
  for (const char* value : {"", "2x", "two", "99999999999999999999"})
    EXPECT_NE(failure("threads", value), "none") << value;
  for (const char* value : {"", "-1", "nan", "inf", "1 hour"})
    EXPECT_NE(failure("budget_s", value), "none") << value;
  for (const char* value : {"", "yes", "2"}) EXPECT_NE(failure("measure", value), "none") << value;
}

}  // namespace
}  // namespace korch::ort
