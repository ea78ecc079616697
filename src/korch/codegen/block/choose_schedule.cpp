#include <algorithm>

#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/phases.h"
#include "korch/codegen/block/slice.h"

namespace korch::blocks {
namespace {

int64_t extent_of(const BlockGraph& graph, int axis) {
  return axis < 0 ? 1 : graph.axes[static_cast<size_t>(axis)].extent;
}

int64_t values_of(const BlockGraph& graph, AxisSet axes) {
  int64_t values = 1;
  for (int axis : axes_in(axes)) values *= extent_of(graph, axis);
  return values;
}

int64_t wanted_parts(const BlockGraph& graph, const Device& target, int64_t rows, const ScheduleAim& aim) {
  if (aim.slices == 0) return 1;
  const std::variant<Phases, std::string> phases = phases_of(graph, 2);
  if (std::holds_alternative<std::string>(phases)) return 1;
  const int64_t slices = ceil_div(values_of(graph, std::get<Phases>(phases).first.grid), rows);
  const auto wanted = static_cast<int64_t>(aim.slices * target.workers);
  return std::clamp<int64_t>(ceil_div(wanted, slices), 1, extent_of(graph, graph.loops[0]));
}

int64_t held_bytes(const BlockGraph& graph, const Roles& roles, const BlockSchedule& schedule) {
  const Slice slice(graph, roles, schedule);
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    if (!roles.used[i] || !roles.held[i]) continue;
    int64_t elements = 1;
    for (int axis : axes_in(roles.local(graph.steps[i].axes))) elements *= slice.most(axis);
    bytes += elements * static_cast<int64_t>(sizeof(float));
  }
  return bytes;
}

// Rows of an image: as many as half of L2 has room for what is computed for them, so that few are computed
// twice. A loop over channels goes over those of one register tile at a time.
BlockSchedule schedule_of_rows(const BlockGraph& graph, const Device& target, const ScheduleAim& aim) {
  const Roles r = roles_of(graph, true, Products::packed);
  BlockSchedule s;
  for (int axis : graph.loops) {
    int64_t lanes = target.lanes();
    for (const auto& p : r.products)
      if (p && p->columns == axis)
        lanes = linear::rank_tiles(extent_of(graph, p->rows), extent_of(graph, axis),
                                   extent_of(graph, p->terms), false, target)
                    .front()
                    .vectors *
                target.lanes();
    s.block = std::max(s.block, std::min(extent_of(graph, axis), lanes));
  }
  constexpr int64_t kMostRows = 28, kRowsOfImage = 8;
  constexpr double kTypicalShare = 0.125, kShareHeld = 0.5;
  const auto most = static_cast<int64_t>(target.own_bytes() * kShareHeld * aim.tiles_in_l2 / kTypicalShare);
  s.rows = std::clamp<int64_t>(kRowsOfImage * aim.most_rows / kMostRows, 1,
                               ceil_div(extent_of(graph, r.rows), target.workers));
  while (s.rows > 1 && held_bytes(graph, r, s) > most) --s.rows;
  return s;
}

}  // namespace

std::vector<BlockProduct> products_of(const BlockGraph& graph, const BlockSchedule& schedule,
                                      const Device& target) {
  BlockSchedule in_tiles = schedule;  // a direct one has the same products, if no register tiles
  in_tiles.direct = false;
  const Roles roles = roles_with(graph, in_tiles, target);
  const Slice slice(graph, roles, in_tiles);
  std::vector<BlockProduct> products;
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    if (!roles.products[i]) continue;
    const RowProduct& p = *roles.products[i];
    BlockProduct& product = products.emplace_back();
    product.tile = tile_of(p, slice, target);
    for (int axis : axes_in(graph.steps[i].axes | graph.steps[i].over))
      (axis == p.rows      ? product.rows
       : axis == p.columns ? product.columns
       : axis == p.terms   ? product.terms
                           : product.matrices) *= slice.extent(axis);
  }
  return products;
}

BlockSchedule choose_schedule(const BlockGraph& graph, const Device& target, const ScheduleAim& aim) {
  if (has_windows(graph)) return schedule_of_rows(graph, target, aim);
  const Roles r = roles_of(graph, true, Products::packed);
  BlockSchedule s;
  s.direct = aim.direct;
  s.rows = std::min(aim.most_rows, ceil_div(values_of(graph, graph.grid), target.workers));
  const int rows = linear::split_rows(extent_of(graph, r.rows), static_cast<int>(s.rows)).rows;
  const int64_t parts = wanted_parts(graph, target, rows, aim);
  for (int axis : graph.loops) {
    const auto most = static_cast<int64_t>(target.own_bytes() * aim.tiles_in_l2) /
                      (rows * static_cast<int64_t>(sizeof(float)));
    const int64_t extent = extent_of(graph, axis), in_part = ceil_div(extent, parts);
    const int64_t values = ceil_div(in_part, ceil_div(in_part, std::max<int64_t>(1, most)));
    int64_t lanes = target.lanes();
    for (const auto& p : r.products)
      if (p && p->columns == axis && !aim.direct)
        lanes = linear::rank_tiles(rows, values, extent_of(graph, p->terms), false, target).front().vectors *
                target.lanes();
    s.block = std::max(s.block, std::min(extent, ceil_div(values, lanes) * lanes));
  }
  if (parts > 1) {
    const int64_t blocks = ceil_div(extent_of(graph, graph.loops[0]), s.block);
    s.parts = ceil_div(blocks, ceil_div(blocks, parts));  // with the same blocks in each but the last one
  }
  return s;
}

bool has_few_slices(const BlockGraph& graph, const Device& target) {
  constexpr int64_t kFew = 4;  // for each worker
  const std::variant<Phases, std::string> phases = phases_of(graph, 2);
  const auto* both = std::get_if<Phases>(&phases);
  return both != nullptr && values_of(graph, both->first.grid) < kFew * target.workers;
}

bool has_few_rows(const BlockGraph& graph) {
  constexpr int64_t kFew = 8;
  int products = 0;
  for (const auto& product : roles_of(graph, true, Products::packed).products) {
    if (!product) continue;
    ++products;
    if (extent_of(graph, product->rows) > kFew) return false;
  }
  return products > 0;
}

}  // namespace korch::blocks
