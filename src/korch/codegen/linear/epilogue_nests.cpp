#include "korch/codegen/linear/epilogue_nests.h"

#include <algorithm>

namespace korch::linear {
namespace {

// Of the columns c, which `loops` go over.
tile::ScheduledNest epilogue_nest(KernelBuilder& builder, const FinishedTile& tile, const Index& c,
                                  std::vector<tile::LoopVariable> loops, int lanes) {
  tile::ScheduledNest nest;
  const Index r = Index::variable("r", tile.rows);
  int result = builder.load(tile.buffer, tile.offset + r * tile.row_step + c * tile.column_step);
  if (tile.divisors >= 0) result = builder.call(ScalarFn::div, {result, builder.load(tile.divisors, r)});
  nest.loops = {{"r", tile.rows}};
  nest.loops.insert(nest.loops.end(), loops.begin(), loops.end());
  nest.stores = builder.outputs(tile.coords(r, tile.column + c), result);
  if (lanes > 1 && loops.back().extent > 1) nest.schedule = {.lanes = lanes, .variable = loops.back().name};
  return nest;
}

bool divides_columns(const tile::ExprPool& pool, const tile::ScheduledNest& nest) {
  for (const tile::Store& store : nest.stores)
    if (!store.offset.affine_in("c")) return true;
  for (int id : pool.reachable(nest.roots()))
    for (const Index& coord : pool[id].coords)
      if (!coord.affine_in("c")) return true;
  return false;
}

// In vectors of `lanes`; 0: as vectorize thinks best. Where columns are divided on their way to an output,
// single vectors may not be.
tile::ScheduledNest epilogue_nest(KernelBuilder& builder, const FinishedTile& tile, int64_t first,
                                  int64_t count, int lanes) {
  tile::ScheduledNest whole =
      epilogue_nest(builder, tile, Index::variable("c", count) + first, {{"c", count}}, lanes);
  if (lanes < 2 || count % lanes != 0 || count == lanes || !divides_columns(builder.pool(), whole))
    return whole;
  const Index c = Index::variable("j", count / lanes) * lanes + Index::variable("c", lanes) + first;
  return epilogue_nest(builder, tile, c, {{"j", count / lanes}, {"c", lanes}}, lanes);
}

}  // namespace

void add_epilogue(KernelBuilder& builder, const FinishedTile& tile,
                  const std::vector<tile::OuterLoop>& around, std::vector<tile::ScheduledNest>& nests) {
  const auto add = [&](tile::ScheduledNest nest) {
    nest.around = around;
    nests.push_back(std::move(nest));
  };
  if (tile.along_rows) return add(epilogue_nest(builder, tile, 0, tile.valid_columns, 0));
  // A nest for each width of vectors.
  int64_t first = 0;
  for (size_t i = 0; i < tile.lanes.size() && first < tile.valid_columns;) {
    size_t next = i;
    while (next < tile.lanes.size() && tile.lanes[next] == tile.lanes[i]) ++next;
    const int64_t count =
        std::min<int64_t>(static_cast<int64_t>(next - i) * tile.lanes[i], tile.valid_columns - first);
    add(epilogue_nest(builder, tile, first, count, tile.lanes[i]));
    first += count;
    i = next;
  }
}

}  // namespace korch::linear
