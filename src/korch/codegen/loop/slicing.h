// The parallel grid of a draft: which variables of the primary output number the slices, so that slices
// repeat little work, a slice is long enough to be worth handing out and holds the variables that vector code
// runs along, and there are slices for all workers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "korch/codegen/loop/domain.h"
#include "korch/codegen/loop/draft.h"
#include "korch/device/device.h"

namespace korch::tile {

class Slicing {
 public:
  Slicing(const Draft& draft, const Domain& primary, std::set<std::string> grid, const Device& target);

  // One change of the grid after which the draft must be lowered again: a variable that leaves it, or one
  // that is split and whose inner part leaves.
  struct Change {
    std::string remove;
    Split split{{}, 0};
    bool none() const { return remove.empty() && split.inner_extent == 0; }
  };
  Change decide();
  // Valid once decide() returned none.
  const std::vector<GridVariable>& grid() const { return result_; }

 private:
  Change repeat_less() const;
  Change keep_inside(const LoopVariable& variable);
  Change grow_block();
  bool may_grow(int64_t steps) const;
  Change chunk();
  bool mostly_reductions() const;
  int64_t slices() const;
  const LoopVariable* innermost() const;  // of the grid's variables, if any

  const Draft& draft_;
  std::vector<LoopVariable> variables_;  // of the primary output, extents over 1, outermost first
  std::set<std::string> grid_;
  int lanes_;
  int64_t wanted_;  // slices, so that no worker waits long for the last one
  bool is_gpu_;
  int64_t workers_;
  bool has_several_nests_;  // several nests share the slice
  std::vector<GridVariable> result_;
};

}  // namespace korch::tile
