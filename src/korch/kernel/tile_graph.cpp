#include "korch/kernel/tile_graph.h"

#include <fmt/format.h>

namespace korch::tile {

static_assert([] {
  for (size_t i = 0; i < std::size(kNestKinds); ++i)
    if (static_cast<size_t>(kNestKinds[i].kind) != i) return false;
  return true;
}());

double Nest::work() const {
  double count = 1;
  for (const LoopVariable& loop : loops) count *= static_cast<double>(loop.extent);
  for (const LoopVariable& loop : reduced) count *= static_cast<double>(loop.extent);
  return count;
}

size_t shared_loops(const std::vector<OuterLoop>& a, const std::vector<OuterLoop>& b) {
  size_t shared = 0;
  while (shared < a.size() && shared < b.size() && a[shared] == b[shared]) ++shared;
  return shared;
}

std::vector<int> roots_of(const std::vector<Store>& stores) {
  std::vector<int> roots;
  for (const Store& store : stores) roots.push_back(store.value);
  for (const Store& store : stores)
    for (int dynamic : store.offset.dynamics()) roots.push_back(dynamic);
  return roots;
}

std::vector<int> always_stored(const std::vector<Store>& stores) {
  std::vector<Store> always;
  for (const Store& store : stores)
    if (store.condition.always_true()) always.push_back(store);
  return roots_of(always);
}

std::vector<int> Nest::roots() const {
  return roots_of(stores);
}

bool scatters_in_lanes(const TileGraph& graph, const Nest& nest, const std::string& variable) {
  if (nest.stores.size() != 1 || nest.loops.empty() || nest.loops.back().name != variable) return false;
  const Index& offset = nest.stores[0].offset;
  for (int dynamic : offset.dynamics())
    if (graph.pool.variables(dynamic).count(variable) != 0) return false;
  return offset.affine_in(variable) && offset.stride(variable) != 0;
}

int64_t slices_of(const std::vector<GridVariable>& grid) {
  int64_t count = 1;
  for (const GridVariable& variable : grid) count *= variable.count();
  return count;
}

std::vector<int64_t> blocks_of(const std::vector<GridVariable>& grid, int64_t slice) {
  std::vector<int64_t> blocks(grid.size());
  for (size_t i = grid.size(); i-- > 0; slice /= grid[i].count()) blocks[i] = slice % grid[i].count();
  return blocks;
}

int64_t Phase::rounds() const {
  int64_t count = 1;
  for (const GridVariable& g : grid)
    if (g.ordered) count *= g.count();
  return count;
}

double Phase::slice_work() const {
  double work = 0;
  for (const Nest& nest : nests) {
    double passes = 1;
    for (const OuterLoop& loop : nest.around) {
      const GridVariable* grid = grid_variable(loop.variable.name);
      if (grid == nullptr || grid->chunk > 1) passes *= static_cast<double>(loop.high - loop.low);
    }
    work += passes * nest.work();
  }
  return work;
}

const GridVariable* Phase::grid_variable(const std::string& name) const {
  for (const GridVariable& variable : grid)
    if (variable.variable.name == name) return &variable;
  return nullptr;
}

const GridVariable* Phase::chunked(const std::string& name) const {
  const GridVariable* variable = grid_variable(name);
  return variable != nullptr && variable->chunk > 1 ? variable : nullptr;
}

std::string TileGraph::name(int buffer) const {
  const char* names[] = {"in", "const", "out", "temp", "s"};
  int number = 0;
  for (int i = 0; i < buffer; ++i) number += buffers[i].role == buffers[buffer].role ? 1 : 0;
  return fmt::format("{}{}", names[static_cast<int>(buffers[buffer].role)], number);
}

}  // namespace korch::tile
