#include "korch/kernel/implication.h"

#include <algorithm>

namespace korch::tile {

IndexRange range_where(const Index& index, const Condition& known) {
  IndexRange range = index.range();
  const auto narrow = [&](int64_t low, int64_t high) {
    range = {std::max(range.low, low), std::min(range.high, high)};
  };
  for (const Bound& bound : known.bounds()) {
    const Index difference = index - bound.index, sum = index + bound.index;
    if (difference.is_constant())
      narrow(bound.low + difference.constant(), bound.high + difference.constant());
    else if (sum.is_constant())
      narrow(sum.constant() - bound.high, sum.constant() - bound.low);
  }
  return range;
}

bool implies(const Condition& known, const Condition& other) {
  if (known.always_false()) return true;
  return !other.always_false() &&
         std::all_of(other.bounds().begin(), other.bounds().end(), [&](const Bound& bound) {
           return range_where(bound.index, known).inside(bound.low, bound.high);
         });
}

Condition remaining(const Condition& condition, const Condition& known) {
  Condition result;
  if (condition.always_false()) result.require(Index(0), 1, 1);
  for (const Bound& bound : condition.bounds()) {
    const IndexRange range = range_where(bound.index, known);
    if (range.high < bound.low || range.low > bound.high)
      result.require(Index(0), 1, 1);
    else if (!range.inside(bound.low, bound.high))
      result.require(bound.index, bound.low, bound.high);
  }
  return result;
}

}  // namespace korch::tile
