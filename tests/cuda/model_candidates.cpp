#include "model_candidates.h"

#include <algorithm>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "korch/codegen/cuda/cuda_kernel.h"
#include "korch/codegen/implementation.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/loop/loop_family.h"
#include "korch/fission/fission.h"
#include "korch/onnx/import.h"
#include "korch/onnx/models.h"
#include "korch/search/strategy.h"

namespace korch::testing {
namespace {

Device target() {
  return cpu_device(Isa::x86_64_v3);
}

// As the driver decides what greedy may fuse.
std::vector<Candidate> greedy_groups(const Graph& graph) {
  std::unordered_map<Hash, bool, HashHasher> known;
  return greedy_candidates(graph,
                           [&](const Candidate& candidate) {
                             const Hash hash = canonical_hash(graph, candidate);
                             if (const auto found = known.find(hash); found != known.end())
                               return found->second;
                             bool any = false;
                             for (const Implementation& way :
                                  implementations(graph, candidate, target(), Accuracy::standard))
                               if ((any = propose(graph, candidate, way, target()).ok())) break;
                             return known[hash] = any;
                           })
      .candidates;
}

}  // namespace

std::vector<Implementation> product_implementations(const Graph& graph, const Candidate& candidate) {
  std::vector<Implementation> found;
  std::vector<Refusal> refused;
  list_linear_generic(graph, candidate, target(), Accuracy::standard, found, refused);
  return found;
}

std::vector<Implementation> loop_implementations(const Graph& graph, const Candidate& candidate) {
  std::vector<Implementation> found;
  std::vector<Refusal> refused;
  list_loop(graph, candidate, target(), Accuracy::standard, found, refused);
  return found;
}

ModelCandidates model_candidates(const std::string& model, size_t sample, uint64_t seed) {
  ModelCandidates result;
  result.graph = fission(import_onnx_bytes(fill_skeleton(KORCH_SOURCE_DIR "/models", model)));
  std::unordered_set<Hash, HashHasher> seen;
  const auto is_new = [&](const Candidate& candidate) {
    return !cuda_implementations(result.graph, candidate).empty() &&
           seen.insert(canonical_hash(result.graph, candidate)).second;
  };
  for (Candidate& candidate : greedy_groups(result.graph)) {
    if (cuda_implementations(result.graph, candidate).empty()) result.unlisted.push_back(candidate);
    ++result.uses[canonical_hash(result.graph, candidate)];
    if (is_new(candidate)) result.greedy.push_back(std::move(candidate));
  }
  if (sample == 0) return result;
  std::vector<Candidate> all = enumerate_candidates(result.graph, linear_context()).candidates;
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < all.size() && result.sampled.size() < sample; ++i) {
    std::swap(all[i], all[i + random() % (all.size() - i)]);
    if (is_new(all[i])) result.sampled.push_back(std::move(all[i]));
  }
  return result;
}

}  // namespace korch::testing
