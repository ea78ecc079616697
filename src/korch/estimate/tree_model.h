// Gradient-boosted regression trees that say how long a kernel takes, from its features. They are trained on
// measured costs
// (`korch costs train`) and read from a file:
//
//   {"korch_cost_model": 2, "feature_set": 1, "protocol": 6, "features": ["family", ...], "rows": 5000,
//   "networks": 60,
//    "spread": 0.15, "low": {"rows": 900, "networks": 20, "shift": -0.3, "trees": [...]},
//    "trees": [{"feature": [...], "at": [...], "less": [...], "more": [...], "leaf": [...]}, ...]}
//
// A tree's nodes are numbered from 0, the root. A kernel whose feature is at most `at` goes on with `less`,
// else with `more`; -1 is the first leaf, -2 the second. The sum of the leaves is the natural logarithm of
// cost / bound.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/estimate/features.h"

namespace korch {

struct RegressionTree {
  std::vector<int> feature, less, more;
  std::vector<float> at, leaf;
};

// Of the leaves that the features lead to.
double sum_of(const std::vector<RegressionTree>& trees, const Features& features);

// The 5 % quantile of ln(cost / estimate): what the leaves add up to, and a shift that makes it one on
// networks which it did not learn from (profile/low_quantile.h).
struct LowQuantile {
  int rows = 0, networks = 0;  // that it was calibrated on
  double shift = 0;
  std::vector<RegressionTree> trees;  // none: the same for all kernels
};

struct TreeModel {
  int protocol = 0;            // of the costs that it learned from (profile/cost_row.h)
  int rows = 0, networks = 0;  // that it learned from
  // The middle of |ln(cost / estimate)| on networks that it did not learn from.
  double spread = 0;
  LowQuantile low;
  std::vector<RegressionTree> trees;

  // ln(cost / bound).
  double log_factor(const Features& features) const;
  // The 5 % quantile of ln(cost / estimate), at most 0.
  double log_low(const Features& features) const;
};

std::string to_text(const TreeModel& model);
// Throws Error{invalid} with what is wrong and, where it helps, what to do: other features than this
// program's, a tree that is none, a number that no model has. `protocol`: of the costs that it has to have
// learned from.
TreeModel tree_model_from_text(std::string_view text, const std::string& file, int protocol);

}  // namespace korch
