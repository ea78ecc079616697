#include "korch/backend/spell.h"

#include "korch/backend/target_row.h"
#include "korch/codegen/cpu/cpu_kernel.h"

namespace korch {
namespace {

void spell(const tile::ScheduledGraph& graph, const Device& device, Kernel& kernel) {
  kernel.source = source_of(graph, device);
  if (const auto launch = target_row(device).launch) launch(graph, kernel);
}

}  // namespace

tile::ScheduledGraph lowered(tile::ScheduledGraph graph, const Device& device) {
  target_row(device).lower(graph, device);
  return graph;
}

std::string source_of(const tile::ScheduledGraph& graph, const Device& device) {
  return target_row(device).print(lowered(graph, device), device);
}

std::string source_extension(const Device& device) {
  return target_row(device).extension;
}

Kernel spelled(const KernelSpec& spec, const Device& device) {
  Kernel kernel = spec.kernel;
  if (spec.tiles) spell(*spec.tiles, device, kernel);
  return kernel;
}

Kernel spelled(const tile::ScheduledGraph& graph, const Device& device) {
  Kernel kernel = tile::cpu_launch(graph, device);
  spell(graph, device, kernel);
  return kernel;
}

}  // namespace korch
