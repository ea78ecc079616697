// Candidates that a search found kernels for: groups around values that memory bounds, with block graphs that
// were checked (docs/design/structures.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/block/enumerate.h"
#include "korch/block/known_groups.h"
#include "korch/groups/workloads.h"
#include "korch/structures/check_structure.h"

namespace korch::structures {

struct Options {
  groups::WorkloadOptions workloads = {};
  block::SearchLimits search = {};
  int groups = 8;          // with different terms: of those that may save most
  int structures = 4;      // of a group, that are offered
  Deadline deadline = {};  // after which no other structure is searched for
};

struct Structure {
  block::BlockGraph graph;
  std::string origin;      // for people
  bool is_tested = false;  // by korch's own tests: check_again
  Checked checked = {};
};

// What there is for all groups with the same terms, whatever their extents.
struct Searched {
  std::string group;  // its terms
  bool was_searched = false;
  block::SearchLog log;  // of the search
  int checked = 0;
  std::map<std::string, int> refused;  // structures, by the check
  std::vector<Structure> accepted;
};

// Structures of groups: those that files have, else those that a search finds, once.
class StructureBook {
 public:
  // Their block graphs are offered once they are checked, in the order in which they were added.
  void add_file(const std::vector<block::KnownGroup>& groups, const std::string& path);
  void add_shipped();                         // those of shipped_structures()
  bool has(const block::Terms& group) const;  // that `find` was asked for
  // What files have for the terms, or a search finds. If all of a file's are refused a search is made.
  const Searched& find(const block::Terms& group, const Options& options);
  const std::vector<Searched>& all() const { return searched_; }

 private:
  void add(const std::vector<block::KnownGroup>& groups, const Structure& like);

  std::map<std::string, std::vector<Structure>> known_;  // not checked yet
  std::vector<Searched> searched_;
  std::map<std::string, size_t> by_key_;
};

// Of the file that is part of the program: what searches of networks found, in docs/results/structures.md.
std::vector<block::KnownGroup> shipped_structures();

struct StructuredCandidates {
  std::vector<Candidate> candidates;  // with structures
  std::map<std::string, int> counts;  // what was left out, by reason
  std::vector<std::string> limits;    // that bit, in words
};

// Of a graph of primitives, each Value by its first producer. The device's speeds are known.
StructuredCandidates structured_candidates(const Graph& graph, const Device& device, const Options& options,
                                           StructureBook& book);

}  // namespace korch::structures
