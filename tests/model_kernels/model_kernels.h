// Kernels that korch makes of the models of models/.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "korch/codegen/implementation.h"

namespace korch::testing {

// What kernels are made for: the instructions of this machine, two threads, no library.
Device model_target();

struct ModelKernel {
  std::string origin;  // "greedy plan", "optimal plan", "sample"
  std::shared_ptr<const Graph> graph;
  Candidate candidate;
  Implementation way;
  bool reorder = false;  // a layout change of the candidate's only input; the way has no family
};

// Of the candidate, or of one like it in another graph.
Result<tile::ScheduledGraph> tile_graph_of(const Graph& graph, const Candidate& candidate,
                                      const Implementation& way, bool reorder);

// The plans' kernels, which are chosen by bounds of costs as by `korch compile --no-measure`, and the most of
// `sample` other candidates, each in one way that exists; drawn with a seed. No two of one kernel
// (canonical_hash and implementation); of the sample no two of one canonical_hash, and none of a plan's.
class ModelKernelSource {
 public:
  explicit ModelKernelSource(uint64_t seed) : seed_(seed) {}
  std::vector<ModelKernel> next(const std::string& model, size_t sample);

 private:
  const uint64_t seed_;
  std::set<Hash> seen_;  // over all models
};

}  // namespace korch::testing
