#include <gtest/gtest.h>

#include <map>

#include "korch/groups/group_terms.h"
#include "random_group.h"
#include "term_values.h"

namespace korch::groups {
namespace {

TEST(RandomGroups, TermsComputeWhatPrimitivesDo) {
  int taken = 0, combined = 0;
  std::map<std::string, int> refused;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomGroup maker(seed);
    const Graph graph = maker.make();
    if (graph.outputs().empty()) continue;
    const Candidate candidate = all_of(graph);
    const Result<GroupTerms> group = terms_of(graph, candidate);
    if (!group) {
      const std::string& detail = group.refusal().detail;
      ++refused[detail.substr(detail.find(':'), 20)];
      continue;
    }
    int64_t elements = 1;
    for (const block::Axis& axis : group.value().terms.axes) elements *= axis.extent;
    if (elements > 200'000) continue;
    ++taken;
    for (const block::Term& term : group.value().terms.terms) combined += term.kind == block::TermKind::fold;
    expect_equal_values(graph, candidate, group.value(), seed);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(combined, 1500);
  EXPECT_GT(refused.size(), 1u);
  for (const auto& [reason, count] : refused) EXPECT_GT(count, 10) << reason;
}

}  // namespace
}  // namespace korch::groups
