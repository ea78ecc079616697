// Which nodes of a Network korch takes over, in groups that are compiled as one each; and why not the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probe.h"

namespace korch::ort {

struct Support {
  std::vector<std::vector<int>> groups;
  std::vector<std::optional<Refusal>> refusals;  // per node; a node without may still be in no group
};

// Decided by korch's own import, so what is taken is read by the compiler too: every node by its rule, with
// the constants that it reads; a group sees of the others no more than the declared types of what it reads.
// Groups are as in grouping.h; those that compute too little to be worth a call are left out.
Support find_support(const Network& network);

// Lines for a log: what is not taken, each operator once, and the dimensions that were left open.
std::vector<std::string> describe_refusals(const Network& network, const Support& support);

// "12 nodes, from node \"a\" (Conv) to node \"b\" (Relu)".
std::string describe_group(const Network& network, const std::vector<int>& group);

}  // namespace korch::ort
