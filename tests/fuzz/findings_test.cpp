// What the fuzzer has found, made small: each through the plan that showed it and a few others.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "finding_file.h"
#include "korch/base/files.h"

namespace korch::fuzz {
namespace {

constexpr uint64_t kPlans = 8;

TEST(Findings, StayFixed) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(KORCH_FINDINGS_DIR))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  for (const std::string& file : files) {
    SavedCase saved = saved_case_from(read_file(file));
    for (uint64_t seed = 0; seed < kPlans; ++seed) saved.what.plans.push_back({Subject::Kind::random, seed});
    saved.what.plans.push_back({Subject::Kind::greedy, 1});
    const CaseResult result = check_case(saved.input_seed, saved.what);
    EXPECT_TRUE(result.is_defined) << file;
    for (const Finding& finding : result.findings)
      ADD_FAILURE() << "plan " << to_string(finding.plan) << ": " << finding.mismatch.kind << " ("
                    << finding.mismatch.where << ")\n  " << finding.mismatch.text
                    << "\n  alone: fuzz --replay " << file;
  }
}

}  // namespace
}  // namespace korch::fuzz
