// What an expression's constants say of its values: of Min and Max with them.
#pragma once

#include <limits>

#include "korch/kernel/expr.h"

namespace korch::tile {

// NaN apart.
struct FloatBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// Of Min and Max around each other: which together are one Max(Min(x, high), low) of what `unbounded` gives.
FloatBounds float_bounds(const ExprPool& pool, int node);
int unbounded(const ExprPool& pool, int node);
// The constant of a Min or Max of one; NaN: neither operand is a constant. `other` is set to the other one.
double bound_of(const ExprPool& pool, const Expr& extreme, int& other);

}  // namespace korch::tile
