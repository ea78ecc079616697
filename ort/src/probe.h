// Tries korch's import on the nodes of a Network, one after the other.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "network.h"

namespace korch::ort {

struct Refusal {
  std::string what;            // one line: the node, its operator, the reason; empty where it is taken
  std::set<std::string> open;  // only shapes are missing: dimensions that are open, as open_parts tells them
};

// Per node, why it cannot be in its group, if so. `group` has a number per node; -1: none, and not tried.
// A node sees what others of its group make, and of the rest constants and declared types.
std::vector<std::optional<Refusal>> probe(const Network& network, const std::vector<int>& group);

// 'node "scores" (MatMul)'; by what it makes where it has no name.
std::string label(const proto::NodeProto& node);

}  // namespace korch::ort
