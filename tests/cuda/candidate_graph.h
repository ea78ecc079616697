// A candidate as a graph of its own, and random values for its inputs, alike on every machine.
#pragma once

#include <vector>

#include "korch/candidate/candidate.h"

namespace korch::testing {

struct CandidateGraph {
  Graph graph;                        // its inputs and outputs are the candidate's
  std::vector<TensorType> generated;  // of the constants that generated_constant made, in order
};

// Constants that a kernel takes as arguments get random values instead of theirs; constants whose values are
// part of the kernel's text (canonical_hash) keep them.
CandidateGraph candidate_graph(const Graph& graph, const Candidate& candidate);
HostTensor generated_constant(const TensorType& type, size_t number);

// All nodes of such a graph as one candidate.
Candidate whole_candidate(const Graph& graph);

// Uniform in [low, high); integers in [0, count); bools 0 or 1.
struct Range {
  double low = -2, high = 2;
  int64_t count = 2;
};
HostTensor random_tensor(const TensorType& type, uint64_t seed, const Range& range);
// What element i of such a tensor is made of; a GPU computes the same (bench/gpu/device.cu).
uint64_t random_bits(uint64_t seed, uint64_t i);

// What random integers in this input may be: indices that every Gather finds.
int64_t index_count(const Graph& graph, ValueId input);

constexpr Range kInputRange{-2, 2, 2};
constexpr Range kPositiveInputRange{0.125, 2, 2};

}  // namespace korch::testing
