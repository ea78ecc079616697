// Kernels and tile graphs of candidates, without a store that keeps them.
#pragma once

#include "korch/backend/spell.h"

namespace korch {

inline Result<Kernel> generate(const Graph& graph, const Candidate& candidate,
                               const Implementation& implementation, const Device& target) {
  const Result<KernelSpec> spec = propose(graph, candidate, implementation, target);
  return spec.ok() ? Result<Kernel>(spelled(spec.value(), target)) : spec.refusal();
}

inline Result<tile::ScheduledGraph> tile_graph(const Graph& graph, const Candidate& candidate,
                                               const Implementation& implementation, const Device& target) {
  const Result<KernelSpec> spec = propose(graph, candidate, implementation, target);
  if (!spec.ok()) return spec.refusal();
  if (!spec.value().tiles) return Refusal{RefusalReason::no_kernel_family, "a call of a library"};
  return *spec.value().tiles;
}

inline Kernel generate_reorder(const TensorType& type, const Layout& from, const Layout& to,
                               const Device& target) {
  return spelled(propose_reorder(type, from, to, target), target);
}

}  // namespace korch
