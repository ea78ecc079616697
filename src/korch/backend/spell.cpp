#include "korch/backend/spell.h"

#include "korch/codegen/cpu/cpu_kernel.h"
#include "korch/codegen/passes/passes.h"

namespace korch {

tile::ScheduledGraph lowered(tile::ScheduledGraph graph, const Device& device) {
  tile::lower_for_cpu(graph, device);
  return graph;
}

std::string source_of(const tile::ScheduledGraph& graph, const Device& device) {
  return tile::cpu_source(graph, device);
}

Kernel spelled(const KernelSpec& spec, const Device& device) {
  Kernel kernel = spec.kernel;
  if (spec.tiles) kernel.source = source_of(*spec.tiles, device);
  return kernel;
}

Kernel spelled(const tile::ScheduledGraph& graph, const Device& device) {
  return tile::cpu_kernel(graph, device);
}

}  // namespace korch
