#include "korch/codegen/loop/domain.h"

#include <algorithm>

#include "korch/codegen/loop/index_map.h"

namespace korch::tile {

Domain::Domain(const std::string& name, int64_t extent)
    : variables{{name, extent}}, flat(Index::variable(name, extent)) {}

bool Domain::has(const std::string& name) const {
  for (const LoopVariable& variable : variables)
    if (variable.name == name) return true;
  return false;
}

bool Domain::split(const Split& split, const std::string& outer, const std::string& inner) {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != split.variable) continue;
    const int64_t outer_extent = variables[i].extent / split.inner_extent;
    KORCH_ASSERT(outer_extent * split.inner_extent == variables[i].extent, "a split must divide");
    flat = substitute(flat, {{split.variable, Index::variable(outer, outer_extent) * split.inner_extent +
                                                  Index::variable(inner, split.inner_extent)}});
    variables[i] = {outer, outer_extent};
    variables.insert(variables.begin() + static_cast<int64_t>(i) + 1, {inner, split.inner_extent});
    return true;
  }
  return false;
}

std::optional<RowCut> cut_rows(const Domain& domain, int64_t row) {
  RowCut cut;
  int64_t inside = 1;
  for (size_t i = domain.variables.size(); i-- > 0 && inside < row;) {
    const LoopVariable& variable = domain.variables[i];
    if (row % inside != 0) return std::nullopt;
    const int64_t rest = row / inside;
    if (rest % variable.extent == 0) {
      cut.inside.push_back(variable.name);
      inside *= variable.extent;
      continue;
    }
    if (variable.extent % rest != 0) return std::nullopt;
    cut.split = {variable.name, rest};
    return cut;
  }
  return cut;
}

std::vector<Index> coords_in_order(const Index& flat, const Shape& extents, const std::vector<int>& order) {
  Shape physical;
  for (int axis : order) physical.push_back(extents[axis]);
  const std::vector<Index> at = unflatten(flat, physical);
  std::vector<Index> coords(extents.size());
  for (size_t i = 0; i < order.size(); ++i) coords[order[i]] = at[i];
  return coords;
}

std::vector<Index> coords_in_memory_order(const Index& flat, const Shape& shape, const Layout& layout) {
  std::vector<int> order = layout.order;
  if (order.empty())
    for (size_t axis = 0; axis < shape.size(); ++axis) order.push_back(static_cast<int>(axis));
  return coords_in_order(flat, shape, order);
}

void interval_of(const std::vector<Index>& reads, const std::set<std::string>& grid, int64_t axis_extent,
                 Index& base, int64_t& extent) {
  Index moving;  // the part that depends on the grid
  IndexRange range;
  bool first = true, together = true;
  for (const Index& read : reads) {
    Index part(0);
    for (const Index::Term& term : read.terms()) {
      const Index atom = term_index(term);
      const std::set<std::string> names = atom.variables();
      const bool fixed =
          atom.dynamics().empty() && !names.empty() &&
          std::all_of(names.begin(), names.end(), [&](const std::string& n) { return grid.count(n) != 0; });
      if (fixed) part = part + atom;
    }
    const IndexRange rest = (read - part).range();
    if (first) range = rest;
    together = together && (first || part == moving);
    moving = part;
    first = false;
    range = {std::min(range.low, rest.low), std::max(range.high, rest.high)};
  }
  if (together && moving.is_constant())
    range = {std::max<int64_t>(range.low, 0), std::min(range.high, axis_extent - 1)};
  base = moving + Index(range.low);
  extent = range.high - range.low + 1;
  const IndexRange bases = base.range();
  if (!together || extent < 1 || extent >= axis_extent || bases.low < 0 ||
      bases.high + extent > axis_extent) {
    base = Index(0);
    extent = axis_extent;
  }
}

}  // namespace korch::tile
