#pragma once

#include <vector>

namespace korch {

// Strongly connected components (Tarjan, without recursion) of a directed graph given as successors per node.
// Returns each node's component; a component's successors have smaller numbers.
std::vector<int> strong_components(const std::vector<std::vector<int>>& successors);

}  // namespace korch
