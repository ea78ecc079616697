// The one table of options: what it takes and refuses, and that every user's part of it is whole.
#include "korch/options/option_table.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>

#include "korch/base/error.h"
#include "korch/base/usable_cpus.h"

namespace korch {
namespace {

constexpr unsigned kUsers[] = {kProgram, kPython, kLibrary, kProvider, kTorch};
constexpr unsigned kAll = kProgram | kPython | kLibrary | kProvider | kTorch;

std::string failure(unsigned users, const std::string& name, const std::string& value) {
  try {
    UserOptions options;
    set_option(options, users, name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "none";
}

// Values that a row takes, and such that it refuses.
std::pair<std::vector<std::string>, std::vector<std::string>> values_of(const OptionRow& row) {
  switch (row.kind) {
    case OptionKind::truth:
      return {{"0", "1"}, {"", "2", "yes", "true", " 1"}};
    case OptionKind::whole: {
      std::vector<std::string> wrong = {"", "-1", "1.5", "0x1", "one", "1 ", "99999999999999999999"};
      if (row.most < UINT64_MAX) wrong.push_back(std::to_string(row.most + 1));
      if (row.least > 0) wrong.push_back(std::to_string(row.least - 1));
      return {{std::to_string(row.least), std::to_string(row.most)}, wrong};
    }
    case OptionKind::seconds:
      return {{"0", "90", "2.5s", "5m", "1h", "1e3"},
              {"", "-1", "s", "nan", "inf", "soon", "1 h", "1e308h", "5min"}};
    case OptionKind::word: {
      std::vector<std::string> right = row.words;
      if (right.back() == "random:SEED") right.back() = "random:7";
      if (right.back() == "relaxed:ERROR") right.back() = "relaxed:1e-2";
      return {right, {"", "none of them", right[0] + " ", "random:", "random:x", "random:7x"}};
    }
    case OptionKind::texts:
      if (row.name == "state") return {{"none", "in=out", "a=b=c"}, {"", "any", "=out", "in="}};
      return {{"", "any", "/a/b c"}, {}};
    case OptionKind::text:
    case OptionKind::place:
      return {{"", "any", "/a/b c"}, {}};
  }
  return {};
}

TEST(OptionTable, EveryRowTakesItsValuesAndRefusesOthersByName) {
  const std::vector<OptionRow> rows = option_rows(kAll);
  EXPECT_GE(rows.size(), 20u);
  std::set<std::string> names, flags;
  for (const OptionRow& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(flags.insert(row.program_name).second) << row.program_name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_NE(row.help.back(), '.') << row.name;  // who shows it ends the sentence
    const auto& [right, wrong] = values_of(row);
    for (const std::string& value : right) EXPECT_EQ(failure(kAll, row.name, value), "none");
    for (const std::string& value : wrong) {
      const std::string message = failure(kAll, row.name, value);
      EXPECT_TRUE(message.starts_with("option " + row.name + ": ")) << message;
      EXPECT_TRUE(message.ends_with(", not '" + value + "'")) << message;
    }
  }
}

// What is set by its preset is what nobody sets.
TEST(OptionTable, PresetsAreValues) {
  const UserOptions untouched = preset_options();
  UserOptions set = preset_options();
  for (const OptionRow& row : option_rows(kAll)) {
    // A word or a list that is not given has no text.
    if (row.preset.empty() && (row.kind == OptionKind::word || row.kind == OptionKind::texts)) continue;
    set_option(set, kAll, row.name, row.preset);
  }
  const CompileOptions &a = untouched.compile, &b = set.compile;
  EXPECT_EQ(std::tie(a.target, a.threads, a.seed, a.accuracy, a.strategy, a.bounds, a.exhaustive,
                     a.alternatives, a.measure, a.other_schedules, a.structures, a.verify, a.heal, a.variants.which,
                     a.schedule, a.database_path, a.dump_dir, a.save_inputs, a.stop_after, a.budget_s,
                     a.fleet_hosts, a.fleet_dir, a.fleet_tolerance, a.runs),
            std::tie(b.target, b.threads, b.seed, b.accuracy, b.strategy, b.bounds, b.exhaustive,
                     b.alternatives, b.measure, b.other_schedules, b.structures, b.verify, b.heal, b.variants.which,
                     b.schedule, b.database_path, b.dump_dir, b.save_inputs, b.stop_after, b.budget_s,
                     b.fleet_hosts, b.fleet_dir, b.fleet_tolerance, b.runs));
  EXPECT_EQ(std::tie(untouched.cache, untouched.compiler, untouched.instances, untouched.constants),
            std::tie(set.cache, set.compiler, set.instances, set.constants));
}

TEST(OptionTable, ValuesArriveInTheirFields) {
  UserOptions options;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"threads", "3"},
                                                        {"accuracy", "strict"},
                                                        {"strategy", "random:18446744073709551615"},
                                                        {"budget", "1.5m"},
                                                        {"schedule", "barrier"},
                                                        {"variants", "none"},
                                                        {"rule", "a"},
                                                        {"rule", "b"},
                                                        {"verify", "0"},
                                                        {"seed", "7"},
                                                        {"stop_after", "columns"},
                                                        {"fleet", "slurm:2"},
                                                        {"fleet", "start {dir}"},
                                                        {"fleet_tolerance", "10"},
                                                        {"at", "seq=1,past=3"},
                                                        {"at", "seq=2"},
                                                        {"runs", "runs.txt"},
                                                        {"database", ""}})
    set_option(options, kProgram, name, value);
  const CompileOptions& o = options.compile;
  EXPECT_EQ(o.threads, 3);
  EXPECT_EQ(o.accuracy, Accuracy::strict);
  EXPECT_EQ(o.strategy, Strategy::random);
  EXPECT_EQ(o.random_seed, UINT64_MAX);
  EXPECT_EQ(o.budget_s, 90);
  EXPECT_EQ(o.schedule, rt::Schedule::barrier);
  EXPECT_EQ(o.variants.which, WhichVariants::none);
  EXPECT_EQ(o.rules, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(o.verify);
  EXPECT_EQ(o.seed, 7u);
  EXPECT_EQ(o.stop_after, "columns");
  EXPECT_EQ(o.fleet, (std::vector<std::string>{"slurm:2", "start {dir}"}));
  EXPECT_EQ(o.fleet_tolerance, 10);
  EXPECT_EQ(o.at, (std::vector<std::string>{"seq=1,past=3", "seq=2"}));
  EXPECT_EQ(o.runs, "runs.txt");
  EXPECT_EQ(failure(kProgram, "strategy", "published"),
            "--strategy: optimal, greedy, unfused or random:SEED, not 'published'");
  for (const char* given :
       {"relaxed", "relaxed:", "relaxed:0", "relaxed:1", "relaxed:-1e-2", "relaxed:nan", "relaxed:1e-2x"})
    EXPECT_NE(failure(kProgram, "accuracy", given), "none") << given;
  set_option(options, kProgram, "accuracy", "relaxed:2e-2");
  EXPECT_EQ(o.accuracy, Accuracy::relaxed);
  EXPECT_EQ(o.output_error, 2e-2);
  EXPECT_EQ(failure(kProgram, "threads", "1025"), "--threads: a whole number from 0 to 1024, not '1025'");
  EXPECT_EQ(failure(kPython, "threads", "1025"), "option threads: a whole number from 0 to 1024, not '1025'");
}

// Everybody has the options of a compilation; what only some have is no option of the others.
TEST(OptionTable, EachUserHasItsRows) {
  for (unsigned user : kUsers) {
    std::set<std::string> names;
    for (const OptionRow& row : option_rows(user)) names.insert(row.name);
    for (const char* name : {"threads", "accuracy", "seed", "strategy", "measure", "verify", "heal",
                             "schedule", "other_schedules", "database", "budget", "rule", "alternatives", "structures"})
      EXPECT_EQ(names.count(name), 1u) << name << " of user " << user;
    for (const OptionRow& row : option_rows(kAll & ~user)) {
      if (names.count(row.name) != 0) continue;
      const std::string message = failure(user, row.name, row.preset);
      EXPECT_TRUE(message.starts_with("no option '" + row.name + "'; there are ")) << message;
      for (const std::string& known : names) EXPECT_NE(message.find(known), std::string::npos) << known;
    }
  }
  EXPECT_TRUE(
      failure(kTorch, "tre\nads", "2").starts_with("no option 'tre\\x0aads'; there are target, threads, "));
}

TEST(OptionTable, PlacesAreBelowTheUsersCache) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(place_in_cache("kernels.db"), "/somewhere/korch/kernels.db");
  EXPECT_EQ(preset_options().compile.database_path, "/somewhere/korch/kernels.db");
  EXPECT_EQ(CompileOptions().database_path, "");  // who compiles by functions names one or has none
  ::setenv("XDG_CACHE_HOME", "not/absolute", 1);
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(place_in_cache("ort"), "/home/me/.cache/korch/ort");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace korch
