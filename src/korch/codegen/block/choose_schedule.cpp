#include <algorithm>

#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/slice.h"

namespace korch::blocks {

std::vector<BlockProduct> products_of(const BlockGraph& graph, const BlockSchedule& schedule,
                                      const Device& target) {
  const Roles roles = roles_with(graph, schedule, target);
  const Slice slice(graph, roles, schedule);
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

BlockSchedule choose_schedule(const BlockGraph& graph, const Device& target, int64_t most_rows,
                              double tiles_in_l2) {
  const Roles r = roles_of(graph, true, Products::packed);
  const auto extent = [&](int axis) { return axis < 0 ? 1 : graph.axes[static_cast<size_t>(axis)].extent; };
  int64_t slices = 1;
  for (int axis : axes_in(graph.grid)) slices *= extent(axis);
  BlockSchedule s;
  s.rows = std::min(most_rows, ceil_div(slices, target.workers));
  const int rows = linear::split_rows(extent(r.rows), static_cast<int>(s.rows)).rows;
  for (int axis : graph.loops) {
    const auto most =
        static_cast<int64_t>(target.own_bytes() * tiles_in_l2) / (rows * static_cast<int64_t>(sizeof(float)));
    const int64_t values = ceil_div(extent(axis), ceil_div(extent(axis), std::max<int64_t>(1, most)));
    int64_t lanes = target.lanes();
    for (const auto& p : r.products)
      if (p && p->columns == axis)
        lanes = linear::rank_tiles(rows, values, extent(p->terms), false, target).front().vectors *
                target.lanes();
    s.block = std::max(s.block, std::min(extent(axis), ceil_div(values, lanes) * lanes));
  }
  return s;
}

}  // namespace korch::blocks
