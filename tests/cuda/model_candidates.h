// Candidates of the models of models/ that have CUDA text.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "korch/codegen/implementation.h"

namespace korch::testing {

struct ModelCandidates {
  Graph graph;
  std::vector<Candidate> greedy;    // groups of the greedy strategy
  std::vector<Candidate> sampled;   // of all other enumerated candidates
  std::vector<Candidate> unlisted;  // groups of the greedy strategy that no family lists for a GPU
  std::unordered_map<Hash, int, HashHasher> uses;  // groups of the greedy strategy, by canonical_hash
};

// No two of one kernel (canonical_hash). `sample` is the most that `sampled` holds.
ModelCandidates model_candidates(const std::string& model, size_t sample, uint64_t seed);

// The candidate's implementations of family "loop".
std::vector<Implementation> product_implementations(const Graph& graph, const Candidate& candidate);
std::vector<Implementation> loop_implementations(const Graph& graph, const Candidate& candidate);

}  // namespace korch::testing
