// Candidates that a search found kernels for: groups around values that memory bounds, with block graphs that
// were checked (docs/design/structures.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/block/enumerate.h"
#include "korch/groups/workloads.h"
#include "korch/structures/check_structure.h"

namespace korch::structures {

struct Options {
  groups::WorkloadOptions workloads = {};
  block::SearchLimits search = {};
  int searches = 8;        // of groups with different terms: of those that may save most
  int structures = 4;      // of a group, that are offered
  Deadline deadline = {};  // after which no other structure is searched for
};

// One search: of all groups with the same terms, whatever their extents.
struct Searched {
  std::string group;  // its terms
  block::SearchLog log;
  int checked = 0;
  std::map<std::string, int> refused;  // structures, by the check
  std::vector<block::BlockGraph> accepted;
  std::vector<Checked> checks;  // of each
};

// Structures of groups; what is searched for once is known.
class StructureBook {
 public:
  bool knows(const block::Terms& group) const;
  // What is known for the terms, or found now.
  const Searched& find(const block::Terms& group, const Options& options);
  const std::vector<Searched>& all() const { return searched_; }

 private:
  std::vector<Searched> searched_;
  std::map<std::string, size_t> by_text_;
};

struct StructuredCandidates {
  std::vector<Candidate> candidates;  // with structures
  std::map<std::string, int> counts;  // what was left out, by reason
  std::vector<std::string> limits;    // that bit, in words
};

// Of a graph of primitives, each Value by its first producer. The device's speeds are known.
StructuredCandidates structured_candidates(const Graph& graph, const Device& device, const Options& options,
                                           StructureBook& book);

}  // namespace korch::structures
