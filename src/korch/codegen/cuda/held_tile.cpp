#include "korch/codegen/cuda/held_tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/kernel/product.h"

namespace korch::tile {
namespace {

constexpr int64_t kBlock = 4;  // neighbouring elements of a vector load

// Blocks of all threads cover the tile; 0 x 0 where they cannot.
HeldTile dealt_out(int64_t rows, int64_t columns, int64_t threads) {
  for (int64_t high : {kBlock, 2 * kBlock})
    for (int64_t wide : {kBlock, 2 * kBlock})
      if (rows % high == 0 && columns % wide == 0 && rows * columns == high * wide * threads)
        return {rows, columns, high, wide};
  return {};
}

constexpr int64_t kUnitRows = 16, kUnitColumns = 8, kWarps = 8, kWarpThreads = 32;

// Eight warps, two by four.
HeldTile dealt_to_matrix_units(int64_t rows, int64_t columns, int64_t threads, ProductType matrix_units) {
  HeldTile tile{rows, columns, 0, 0, matrix_units};
  if (threads != kWarps * kWarpThreads || tile.warp_rows() * 2 != rows ||
      tile.warp_columns() * 4 != columns || tile.warp_rows() % kUnitRows != 0 ||
      tile.warp_columns() % kUnitColumns != 0)
    return {};
  tile.thread_rows = tile.warp_rows() / 8;
  tile.thread_columns = tile.warp_columns() / 4;
  return tile;
}

// offset == row * pitch + column.
bool is_place(const Index& offset, const std::string& row, int64_t pitch, const std::string& column) {
  return offset.constant() == 0 && offset.terms().size() == 2 && offset.affine_in(row) &&
         offset.affine_in(column) && offset.stride(row) == pitch && offset.stride(column) == 1;
}

// Whether terms lie at one distance from each other, whatever loops count them.
bool terms_follow(const TileGraph& graph, const Nest& nest) {
  const std::optional<Product> product = product_of(graph, nest);
  if (!product || product->row.empty() || product->column.empty()) return false;
  for (const Index* offset : {&product->a, &product->b}) {
    int64_t stride = offset->stride(nest.reduced.back().name);
    for (size_t i = nest.reduced.size(); i-- > 0; stride *= nest.reduced[i].extent)
      if (offset->stride(nest.reduced[i].name) != stride) return false;
  }
  return true;
}

std::set<int> loads_of(const TileGraph& graph, const Nest& nest, int buffer) {
  std::set<int> loads;
  for (int id : graph.pool.reachable(nest.roots()))
    if (graph.pool[id].kind == ExprKind::load && graph.pool[id].buffer == buffer) loads.insert(id);
  return loads;
}

bool stores_to(const Nest& nest, int buffer) {
  return std::any_of(nest.stores.begin(), nest.stores.end(),
                     [&](const Store& store) { return store.buffer == buffer; });
}

// The tile that the product makes of the buffer as a whole; 0 x 0: none.
HeldTile tile_made(const TileGraph& graph, const Nest& nest, const NestSchedule& schedule, int64_t threads) {
  if (!schedule.registers || nest.kind != NestKind::reduce || nest.loops.size() != 2 ||
      nest.first_slice_only || (schedule.matrix_units && !terms_follow(graph, nest)))
    return {};
  const int64_t rows = nest.loops[0].extent, columns = nest.loops[1].extent;
  if (!is_place(nest.stores[0].offset, nest.loops[0].name, columns, nest.loops[1].name)) return {};
  return !schedule.matrix_units ? dealt_out(rows, columns, threads)
                                : dealt_to_matrix_units(rows, columns, threads, *schedule.matrix_units);
}

bool same_shape(const HeldTile& a, const HeldTile& b) {
  return a.matrix_units == b.matrix_units && a.rows == b.rows && a.columns == b.columns;
}

// Whether the nest makes the tile, reads its elements at their places, where it may write them, or has
// nothing to do with it; else the buffer has to lie in memory.
bool fits(const TileGraph& graph, const Nest& nest, const NestSchedule& schedule, int buffer, int64_t threads,
          const HeldTile& tile) {
  const std::set<int> loads = loads_of(graph, nest, buffer);
  if (stores_to(nest, buffer) && nest.kind != NestKind::map)
    return loads.empty() && same_shape(tile_made(graph, nest, schedule, threads), tile);
  if (loads.empty()) return !stores_to(nest, buffer);
  if (held_reader(graph, nest, {{buffer, tile}}).loads.count(buffer) == 0) return false;
  return std::all_of(nest.stores.begin(), nest.stores.end(), [&](const Store& store) {
    return store.buffer != buffer ||
           (store.condition.always_true() && store.offset == graph.pool[*loads.begin()].coords[0]);
  });
}

// Whether maps that read several tiles find them all at the same places; if not, one that has to lie in
// memory.
std::optional<int> read_apart(const TileGraph& graph, const Phase& phase,
                              const std::map<int, HeldTile>& held) {
  for (const Nest& nest : phase.nests) {
    if (nest.kind != NestKind::map) continue;
    const HeldReader reader = held_reader(graph, nest, held);
    for (const auto& [buffer, tile] : held)
      if (!loads_of(graph, nest, buffer).empty() && reader.loads.count(buffer) == 0) return buffer;
  }
  return std::nullopt;
}

}  // namespace

std::string HeldTile::row_of(const std::string& i) const {
  return !matrix_units ? fmt::format("{0} / 4 * {1} + {0} % 4", i, row_step())
                       : fmt::format("{0} / 2 * {1} + {0} % 2 * 8", i, kUnitRows);
}

std::string HeldTile::column_of(const std::string& j) const {
  return !matrix_units ? fmt::format("{0} / 4 * {1} + {0} % 4", j, column_step())
                       : fmt::format("{0} / 2 * {1} + {0} % 2", j, kUnitColumns);
}

std::string HeldTile::together(const std::string& name, const std::string& i, const std::string& j) const {
  return !matrix_units
             ? fmt::format("{}[{}][{}]", name, i, j)
             : fmt::format("f32x2{{{{{0}[{1} / 2][{2}][{1} % 2 * 2], {0}[{1} / 2][{2}][{1} % 2 * 2 + 1]}}}}",
                           name, i, j);
}

std::string HeldTile::result(const std::string& name, const std::string& i, const std::string& j) const {
  return !matrix_units ? fmt::format("{0}[{1}][{2} / 4][{2} % 4]", name, i, j)
                       : fmt::format("{0}[{1} / 2][{2} / 2][{1} % 2 * 2 + {2} % 2]", name, i, j);
}

std::string HeldTile::put(const std::string& name, const std::string& i, const std::string& j,
                          const std::string& value, bool neighbours) const {
  if (!neighbours || !matrix_units)
    return fmt::format("{} = {};", neighbours ? together(name, i, j) : result(name, i, j), value);
  return fmt::format(
      "{{ const f32x2 put = {3}; {0}[{1} / 2][{2}][{1} % 2 * 2] = put[0]; {0}[{1} / 2][{2}][{1} % 2 * 2 + 1] "
      "= "
      "put[1]; }}",
      name, i, j, value);
}

std::map<int, HeldTile> held_tiles(const ScheduledGraph& graph, size_t phase, int64_t threads) {
  const std::vector<Nest>& nests = graph.phases[phase].nests;
  const std::vector<NestSchedule>& schedule = graph.schedule[phase];
  std::map<int, HeldTile> held;
  for (size_t i = 0; i < nests.size(); ++i) {
    if (!schedule[i].registers) continue;
    const int buffer = nests[i].stores[0].buffer;
    if (graph.buffers[buffer].role != BufferRole::scratch || held.count(buffer) != 0) continue;
    const HeldTile tile = tile_made(graph, nests[i], schedule[i], threads);
    bool fit = tile.rows > 0;
    for (size_t n = 0; n < nests.size() && fit; ++n)
      fit = fits(graph, nests[n], schedule[n], buffer, threads, tile);
    if (fit) held[buffer] = tile;
  }
  while (const std::optional<int> buffer = read_apart(graph, graph.phases[phase], held)) held.erase(*buffer);
  return held;
}

HeldReader held_reader(const TileGraph& graph, const Nest& nest, const std::map<int, HeldTile>& held) {
  if (nest.kind != NestKind::map || nest.first_slice_only) return {};
  HeldReader reader;
  for (const auto& [buffer, tile] : held) {
    const std::set<int> loads = loads_of(graph, nest, buffer);
    if (loads.size() != 1) continue;
    const Index& offset = graph.pool[*loads.begin()].coords[0];
    if (reader.buffer >= 0) {  // further tiles: like the first
      const Index& first = graph.pool[reader.loads.at(reader.buffer)].coords[0];
      if (same_shape(tile, held.at(reader.buffer)) && offset == first) reader.loads[buffer] = *loads.begin();
      continue;
    }
    HeldReader found{buffer, {{buffer, *loads.begin()}}, {}, {}};
    size_t count = 0;
    for (const LoopVariable& loop : nest.loops) {
      if (!offset.affine_in(loop.name)) continue;
      const int64_t stride = offset.stride(loop.name);
      if (stride == 1 && loop.extent <= tile.columns) found.column = loop;
      if (stride > 0 && stride % tile.columns == 0) found.rows.push_back({loop, stride / tile.columns});
      count += stride == 0 && loop.extent > 1 ? 2 * nest.loops.size() : stride == 0 ? 0 : 1;
    }
    std::sort(found.rows.begin(), found.rows.end(),
              [](const auto& a, const auto& b) { return a.unit > b.unit; });
    if (offset.constant() == 0 && count == offset.terms().size() &&
        count == found.rows.size() + (found.column.name.empty() ? 0 : 1))
      reader = found;
  }
  return reader;
}

}  // namespace korch::tile
