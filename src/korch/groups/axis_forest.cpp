#include "korch/groups/axis_forest.h"

#include <algorithm>

namespace korch::groups {

AxisList AxisForest::fresh(int64_t extent) {
  if (extent == 1) return {};
  nodes_.push_back({.extent = extent});
  return {static_cast<int>(nodes_.size()) - 1};
}

int AxisForest::root(int axis) const {
  while (nodes_[static_cast<size_t>(axis)].same >= 0) axis = nodes_[static_cast<size_t>(axis)].same;
  return axis;
}

void AxisForest::append(int axis, AxisList& list) const {
  axis = root(axis);
  const AxisList& factors = nodes_[static_cast<size_t>(axis)].factors;
  if (factors.empty()) list.push_back(axis);
  for (int factor : factors) append(factor, list);
}

AxisList AxisForest::expanded(const AxisList& axes) const {
  AxisList list;
  for (int axis : axes) append(axis, list);
  return list;
}

std::vector<AxisList> AxisForest::expanded(const std::vector<AxisList>& dimensions) const {
  std::vector<AxisList> result;
  for (const AxisList& axes : dimensions) result.push_back(expanded(axes));
  return result;
}

void AxisForest::split(int axis, int64_t outer) {
  const AxisList first = fresh(outer), second = fresh(extent(axis) / outer);
  nodes_[static_cast<size_t>(axis)].factors = {first[0], second[0]};
}

bool AxisForest::unify(const AxisList& a, const AxisList& b) {
  size_t at = 0;
  while (true) {
    const AxisList left = expanded(a), right = expanded(b);
    while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
    if (at >= left.size() || at >= right.size()) return left.size() == right.size();
    const int x = left[at], y = right[at];
    const int64_t most = std::max(extent(x), extent(y)), least = std::min(extent(x), extent(y));
    if (most == least)
      nodes_[static_cast<size_t>(std::max(x, y))].same = std::min(x, y);
    else if (most % least == 0)
      split(extent(x) == most ? x : y, least);
    else
      return false;
  }
}

AxisList flattened(const std::vector<AxisList>& dimensions) {
  AxisList axes;
  for (const AxisList& dimension : dimensions) axes.insert(axes.end(), dimension.begin(), dimension.end());
  return axes;
}

bool has_repeated(const AxisList& axes) {
  AxisList sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

}  // namespace korch::groups
