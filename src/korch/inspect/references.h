// The right elements of Values and their tolerances, from a run in float64 and some with random roundings.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/inspect/tolerance.h"
#include "korch/ir/graph.h"

namespace korch {

class References {
 public:
  static constexpr int kRuns = Tolerance::kMoreRuns;  // with random roundings

  // Of the graph's outputs. It outlives this.
  References(const Graph& graph, ProductType products)
      : graph_(graph), products_(products), outputs_(graph.outputs().begin(), graph.outputs().end()) {}

  // All runs; Values computed by the deadline are kept.
  void run(const std::vector<HostTensor>& inputs, const Deadline& deadline);
  // Takes a Value from a run; `exact`: from the one in float64. From any thread.
  void take(ValueId value, const HostTensor& tensor, bool exact);

  // Null unless all runs have it: fewer show too little of the noise to condemn a kernel.
  const Tolerance* find(ValueId value) const;

 private:
  struct Known {
    std::optional<Tolerance> tolerance;
    std::vector<HostTensor> early;  // runs that came before what is exact
    int runs = 0;                   // that `tolerance` has
  };

  const Graph& graph_;
  const ProductType products_;
  const std::set<ValueId> outputs_;
  std::mutex mutex_;
  std::map<ValueId, Known> known_;
};

}  // namespace korch
