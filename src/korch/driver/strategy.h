// The baselines that `optimal` is compared with, as sets of candidates: the same kernels and layouts are
// available to all.
#pragma once

#include <functional>
#include <vector>

#include "korch/candidate/candidate.h"

namespace korch {

// published: as Korch (ASPLOS 2024) does it: rewritten first, kernels of one output, linear primitives alone,
// row-major tensors; the program chooses among these. random: any plan of all that `optimal` chooses from
// (random_plan.h), to debug and to test with; never measured.
enum class Strategy { optimal, published, greedy, unfused, random };
const char* name(Strategy strategy);

// What `published` enumerates.
EnumerateOptions published_kernels();

// One primitive, one kernel.
std::vector<Candidate> unfused_candidates(const Graph& graph);

// Fuses every memory-bound primitive into its only consumer and every epilogue into its linear producer while
// `has_kernel` says that a kernel exists for the group. The groups partition the primitives.
std::vector<Candidate> greedy_candidates(const Graph& graph,
                                         const std::function<bool(const Candidate&)>& has_kernel);

}  // namespace korch
