// The baselines that `optimal` is compared with, as sets of candidates: the same kernels and layouts are
// available to all.
#pragma once

#include <functional>
#include <vector>

#include "korch/candidate/candidate.h"

namespace korch {

// One primitive, one kernel.
std::vector<Candidate> unfused_candidates(const Graph& graph);

using HasKernel = std::function<bool(const Candidate&)>;

struct GreedyOptions {
  // The most primitives of a group. Larger groups would save little, since one Value lies between two groups.
  // Without a limit an elementwise chain of any length would be one kernel, and the compiler takes more than
  // linear time for its text. The largest group of a dozen exported networks has 31.
  int max_primitives = 128;
};

// Fuses every memory-bound primitive into its only consumer and every epilogue into its linear producer while
// `has_kernel` says that a kernel exists for the group, which is asked only where that is in doubt. The
// groups partition the primitives. `pruned` counts merges that `max_primitives` refused, as
// "greedy_group_size".
Enumeration greedy_candidates(const Graph& graph, const HasKernel& has_kernel,
                              const GreedyOptions& options = {});

}  // namespace korch
