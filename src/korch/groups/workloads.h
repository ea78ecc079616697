// Workloads: groups of primitives around a Value that memory bounds, between two products or between a
// product and a reduction. No kernel family holds both ends; a search over block graphs may find a kernel
// that never stores what is between them (docs/design/groups.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/device/device.h"
#include "korch/groups/group_terms.h"

namespace korch::groups {

struct WorkloadOptions {
  int most_linear = 3;
  int most_primitives = 16;
  int most_groups = 2000;    // of one network; those that save most
  double least_gain = 0.02;  // what a group saves, as a part of its time at the device's speeds
  Deadline deadline = {};    // after which no other set is looked at
};

struct Workload {
  Candidate candidate;  // with one output
  GroupTerms group;
  double fused_us = 0;  // at least, if nothing between the group's inputs and its output is stored
  double saved_us = 0;  // at most: what the Values that families would store take to be written and read
};

// Why a set of primitives is no workload; counted.
enum class Dropped { obstacle, size, linear, sinks, needed_outside, gain, terms, most_groups, budget };
const char* name(Dropped rule);

struct Workloads {
  std::vector<Workload> groups;        // what saves most for the time of its search first
  int links = 0;                       // pairs of a product and a product or reduction that a Value leads to
  int sets = 0;                        // that were looked at
  std::map<std::string, int> dropped;  // by rule
  std::map<std::string, int> refused;  // of those without terms: by the refusal's detail
};

// Of a graph of primitives: each Value is made by its first producer, alternatives are not looked at. The
// device's speeds must be known.
Workloads find_workloads(const Graph& graph, const Device& device, const WorkloadOptions& options = {});

}  // namespace korch::groups
