// The extent that an open dimension must have, if a network fits together for certain extents alone: a cache
// of `past` keys and one more make masks of `past + 1`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace korch {

struct ExtentSum {
  struct Term {
    int dimension = 0;   // among the open ones; one that has no sum itself
    int64_t factor = 1;  // at least 1: the sum is largest where all extents are

    friend bool operator==(const Term&, const Term&) = default;
  };
  int64_t plus = 0;
  std::vector<Term> terms;

  // `extents`: of each open dimension.
  int64_t of(const std::vector<int64_t>& extents) const {
    int64_t sum = plus;
    for (const Term& term : terms) sum += term.factor * extents[static_cast<size_t>(term.dimension)];
    return sum;
  }
  friend bool operator==(const ExtentSum&, const ExtentSum&) = default;
};

// "past + 1", "2 * a + b - 3"; `names`: of the open dimensions.
std::string to_string(const ExtentSum& sum, const std::vector<std::string>& names);

}  // namespace korch
