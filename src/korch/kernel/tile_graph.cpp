#include "korch/kernel/tile_graph.h"

#include <fmt/format.h>

namespace korch::tile {

double Nest::work() const {
  double count = 1;
  for (const LoopVariable& loop : loops) count *= static_cast<double>(loop.extent);
  for (const LoopVariable& loop : reduced) count *= static_cast<double>(loop.extent);
  return count;
}

std::vector<int> roots_of(const std::vector<Store>& stores) {
  std::vector<int> roots;
  for (const Store& store : stores) roots.push_back(store.value);
  return roots;
}

std::vector<int> Nest::roots() const {
  return roots_of(stores);
}

int64_t slices_of(const std::vector<GridVariable>& grid) {
  int64_t count = 1;
  for (const GridVariable& variable : grid) count *= variable.count();
  return count;
}

double Phase::slice_work() const {
  double work = 0;
  for (const Nest& nest : nests) work += nest.work();
  return work;
}

const GridVariable* Phase::chunked(const std::string& name) const {
  for (const GridVariable& variable : grid)
    if (variable.chunk > 1 && variable.variable.name == name) return &variable;
  return nullptr;
}

std::string TileGraph::name(int buffer) const {
  const char* names[] = {"in", "const", "out", "temp", "s"};
  int number = 0;
  for (int i = 0; i < buffer; ++i) number += buffers[i].role == buffers[buffer].role ? 1 : 0;
  return fmt::format("{}{}", names[static_cast<int>(buffers[buffer].role)], number);
}

}  // namespace korch::tile
