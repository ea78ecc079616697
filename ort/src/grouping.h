// Convex groups of a graph's nodes: what one executable can compute in one go.
#pragma once

#include <vector>

namespace korch::ort {

// Nodes are numbered producers first; `producers` has, per node, those it reads from. Returns disjoint groups
// of the wanted nodes, each ascending, ordered by first node. Within a group all are connected; no path from
// one of a group to another of it leaves the group, and with each group contracted to one node there is still
// no cycle. No two groups joined by an edge could be one.
std::vector<std::vector<int>> convex_groups(const std::vector<std::vector<int>>& producers,
                                            const std::vector<bool>& wanted);

}  // namespace korch::ort
