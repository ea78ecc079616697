// Iteration domains: one flat variable over all elements in memory order, split where index expressions
// divide by something, so that loops stay as long as the accesses allow.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "korch/kernel/expr.h"
#include "korch/tensor/layout.h"

namespace korch::tile {

struct Domain {
  Domain() = default;
  Domain(const std::string& name, int64_t extent);

  std::vector<LoopVariable> variables;  // outermost first
  Index flat;                           // position in the domain, in terms of the variables

  bool has(const std::string& name) const;
  // Replaces the variable by outer * inner_extent + inner; false when it is not of this domain.
  bool split(const Split& split, const std::string& outer, const std::string& inner);
};

// How to cut a domain into runs of `row` consecutive elements: the variables inside a run, and the split (if
// inner_extent is not 0) whose inner part is inside, too. Nothing if the extents do not allow it.
struct RowCut {
  std::vector<std::string> inside;
  Split split{{}, 0};
};
std::optional<RowCut> cut_rows(const Domain& domain, int64_t row);

// Logical coordinates of position `flat` of memory that holds `extents`, the axes in `order` (outermost
// first).
std::vector<Index> coords_in_order(const Index& flat, const Shape& extents, const std::vector<int>& order);
std::vector<Index> coords_in_memory_order(const Index& flat, const Shape& shape, const Layout& layout);

// The interval base .. base + extent - 1 of an axis of `axis_extent` elements that holds all of `reads`, with
// a base that depends on grid variables only. The whole axis if the reads do not move together.
void interval_of(const std::vector<Index>& reads, const std::set<std::string>& grid, int64_t axis_extent,
                 Index& base, int64_t& extent);

}  // namespace korch::tile
