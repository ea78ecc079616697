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

// The nest's part in the life of the tile that `tile` may be; false: the buffer has to lie in memory.
bool fits(const TileGraph& graph, const Nest& nest, const NestSchedule& schedule, int buffer, int64_t threads,
          HeldTile& tile) {
  const bool stores = std::any_of(nest.stores.begin(), nest.stores.end(),
                                  [&](const Store& store) { return store.buffer == buffer; });
  if (stores) {
    if (!schedule.registers || nest.loops.size() != 2 || nest.first_slice_only) return false;
    if (schedule.matrix_units && !terms_follow(graph, nest)) return false;
    const int64_t rows = nest.loops[0].extent, columns = nest.loops[1].extent;
    if (tile.rows == 0)
      tile = !schedule.matrix_units ? dealt_out(rows, columns, threads)
                                    : dealt_to_matrix_units(rows, columns, threads, *schedule.matrix_units);
    return tile.matrix_units == schedule.matrix_units && tile.rows == rows && tile.columns == columns &&
           is_place(nest.stores[0].offset, nest.loops[0].name, columns, nest.loops[1].name);
  }
  if (loads_of(graph, nest, buffer).empty()) return true;
  return tile.rows > 0 && held_reader(graph, nest, {{buffer, tile}}).buffer == buffer;
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

std::map<int, HeldTile> held_tiles(const ScheduledGraph& graph, size_t phase, int64_t threads) {
  const std::vector<Nest>& nests = graph.phases[phase].nests;
  std::map<int, HeldTile> held;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const int buffer = static_cast<int>(i);
    if (graph.buffers[i].role != BufferRole::scratch) continue;
    HeldTile tile;
    bool fit = true;
    for (size_t n = 0; n < nests.size() && fit; ++n)
      fit = fits(graph, nests[n], graph.schedule[phase][n], buffer, threads, tile);
    if (fit && tile.rows > 0) held[buffer] = tile;
  }
  return held;
}

HeldReader held_reader(const TileGraph& graph, const Nest& nest, const std::map<int, HeldTile>& held) {
  for (const auto& [buffer, tile] : held) {
    const std::set<int> loads = loads_of(graph, nest, buffer);
    if (loads.size() != 1 || nest.kind != NestKind::map || nest.first_slice_only) continue;
    const Index& offset = graph.pool[*loads.begin()].coords[0];
    HeldReader reader{buffer, *loads.begin(), {}, {}};
    size_t found = 0;
    for (const LoopVariable& loop : nest.loops) {
      if (!offset.affine_in(loop.name)) continue;
      const int64_t stride = offset.stride(loop.name);
      if (stride == 1 && loop.extent <= tile.columns) reader.column = loop;
      if (stride > 0 && stride % tile.columns == 0) reader.rows.push_back({loop, stride / tile.columns});
      found += stride == 0 && loop.extent > 1 ? 2 * nest.loops.size() : stride == 0 ? 0 : 1;
    }
    std::sort(reader.rows.begin(), reader.rows.end(),
              [](const auto& a, const auto& b) { return a.unit > b.unit; });
    if (offset.constant() == 0 && found == offset.terms().size() &&
        found == reader.rows.size() + (reader.column.name.empty() ? 0 : 1))
      return reader;
  }
  return {};
}

}  // namespace korch::tile
