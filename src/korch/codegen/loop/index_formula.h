// Constant index tensors as arithmetic: what resizing and slicing gathers with follows clamp(floor((a*i + b)
// / d)).
#pragma once

#include <optional>
#include <vector>

#include "korch/kernel/index.h"

namespace korch::tile {

struct IndexFormula {
  int64_t factor = 0, offset = 0, divisor = 1;
  int64_t low = 0, high = 0;
  Index at(const Index& position) const;
};

// The formula that gives values[i] for every i, or nothing.
std::optional<IndexFormula> find_formula(const std::vector<int64_t>& values);

}  // namespace korch::tile
