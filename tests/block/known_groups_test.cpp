#include "korch/block/known_groups.h"

#include <gtest/gtest.h>

#include "groups.h"
#include "korch/base/error.h"
#include "korch/block/enumerate.h"

namespace korch::block {
namespace {

constexpr const char* kMean = R"(group {
  axes a, b
  leaf x0 f32 [a, b]
  leaf x1 f32 constant [b]
  %0 = load x0
  %1 = load x1
  %2 = Mul(%0, %1)
  %3 = sum b %2
  %4 = number 0.5
  %5 = Mul(%3, %4)
  result %5
}
block {
  axes a grid, b
  leaf x0 f32 [a, b]
  leaf x1 f32 constant [b]
  loop b {
    %0 = load x0
    %1 = load x1
    %2 = Mul(%0, %1)
    %3 = sum b %2
  }
  %4 = number 0.5
  %5 = Mul(%3, %4)
  result %5
}
)";

std::string fault_of(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  try {
    parse_known_groups(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(KnownGroups, AreReadAsTheyArePrinted) {
  const std::vector<KnownGroup> known = parse_known_groups(std::string("// mine\n") + kMean);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(print(known[0]), kMean);
  EXPECT_TRUE(parse_known_groups("").empty());
}

TEST(KnownGroups, WhatASearchFindsIsFoundAgainByItsTerms) {
  std::string text;
  std::vector<KnownGroup> made;
  for (const auto& [name, terms] : groups()) {
    SearchLog log;
    made.push_back({terms, structures(terms, {}, log)});
    text += print(made.back());
  }
  const std::vector<KnownGroup> read = parse_known_groups(text);
  ASSERT_EQ(read.size(), made.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(structure_text(read[i].group), structure_text(made[i].group));
    ASSERT_EQ(read[i].structures.size(), made[i].structures.size());
    for (size_t s = 0; s < read[i].structures.size(); ++s)
      EXPECT_EQ(read[i].structures[s].steps, made[i].structures[s].steps);
  }
}

TEST(KnownGroups, FaultsAreNamedWithTheirLine) {
  EXPECT_TRUE(has(fault_of(kMean, "block {", "blok {"), "line 13"));
  EXPECT_TRUE(has(fault_of(kMean, "axes a grid, b", "axes a grid, c"), "there is no axis 'b'"));
  EXPECT_TRUE(has(fault_of(kMean, "axes a grid, b", "axes b, a grid"), "other axes than its group"));
  EXPECT_TRUE(has(fault_of(kMean, "constant [b]\n  loop", "[b]\n  loop"), "other leaves than its group"));
  EXPECT_TRUE(has(fault_of(kMean, "axes a, b", "axes a grid, b"), "no grid and no loop"));
  EXPECT_TRUE(has(fault_of(kMean, "axes a grid, b", "axes a grid, b grid"), "what ends here is none"));
  EXPECT_TRUE(has(fault_of(kMean, "}\nblock", "}\ngroup"), "'block' is missing"));
  EXPECT_TRUE(has(fault_of(std::string(kMean) + kMean, "group", "group"), "stands twice"));
}

}  // namespace
}  // namespace korch::block
