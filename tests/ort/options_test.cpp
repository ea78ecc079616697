#include "options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "korch/base/error.h"
#include "korch/options/option_table.h"

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
                                         {"budget", "2.5m"},
                                         {"compiler", "/bin/korch"}});
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.cache, "/folder");
  EXPECT_EQ(options.compiler, "/bin/korch");
  const std::map<std::string, std::string> asked = {
      {"threads", "3"}, {"accuracy", "strict"}, {"measure", "0"}, {"budget", "2.5m"}};
  EXPECT_EQ(options.compile, asked);
}

TEST(Options, Defaults) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  Options options = parse_options({});
  EXPECT_EQ(options.cache, "/somewhere/korch/ort");
  EXPECT_EQ(options.threads, 0);
  EXPECT_EQ(options.compiler, "");
  EXPECT_TRUE(options.compile.empty());
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(parse_options({}).cache, "/home/me/.cache/korch/ort");
}

// Each is taken, and kept for the compiler.
TEST(Options, EveryRowOfTheTable) {
  for (const OptionRow& row : option_rows(kProvider)) {
    const std::string value = row.kind == OptionKind::word ? row.words[0] : row.preset;
    const Options options = parse_options({{row.name, value}});
    if (row.name == "cache")
      EXPECT_EQ(options.cache, value);
    else if (row.name == "compiler")
      EXPECT_EQ(options.compiler, value);
    else
      EXPECT_EQ(options.compile.at(row.name), value);
  }
}

TEST(Options, Wrong) {
  EXPECT_NE(failure("treads", "2").find("no option 'treads'; there are target, threads, "),
            std::string::npos);
  EXPECT_NE(failure("stop_after", "plan").find("no option 'stop_after'"), std::string::npos);
  EXPECT_EQ(failure("threads", "-1"), "option threads: a whole number from 0 to 1024, not '-1'");
  EXPECT_EQ(failure("accuracy", "sloppy"),
            "option accuracy: standard, strict, tf32, f16, bf16 or relaxed:ERROR, not 'sloppy'");
  for (const char* value : {"", "2x", "two", "99999999999999999999"})
    EXPECT_NE(failure("threads", value), "none") << value;
  for (const char* value : {"", "-1", "nan", "inf", "1 hour"})
    EXPECT_NE(failure("budget", value), "none") << value;
  for (const char* value : {"", "yes", "2"}) EXPECT_NE(failure("measure", value), "none") << value;
}

}  // namespace
}  // namespace korch::ort
