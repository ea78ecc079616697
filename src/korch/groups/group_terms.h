// From a set of primitives to terms over axes: what a search for block graphs begins with
// (docs/design/groups.md).
#pragma once

#include "korch/block/term.h"
#include "korch/groups/group_axes.h"

namespace korch::groups {

struct GroupTerms {
  block::Terms terms;
  // By leaf: the Value that it is an element of, made by none of the group's sums and reductions, and where:
  // per dimension of the Value the axes whose values, as digits, are the coordinate. No axes: 0. Numbers of
  // axes are those of `terms`.
  std::vector<Place> leaves;
  // By result: the candidate's output.
  std::vector<Place> results;
};

// Axes, leaves and terms are in the order in which the results lead to them, so groups that differ in extents
// alone have the same terms. Refused: primitives that terms do not have (Conv, Cast of a sum), and axes that
// mix, which the refusal names.
Result<GroupTerms> terms_of(const Graph& graph, const Candidate& candidate);

// The same with extents, and with the Values that leaves and results are, for people.
std::string print(const Graph& graph, const GroupTerms& group);

}  // namespace korch::groups
