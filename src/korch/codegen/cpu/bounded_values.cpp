#include "korch/codegen/cpu/bounded_values.h"

#include <algorithm>
#include <cmath>

namespace korch::tile {

double bound_of(const ExprPool& pool, const Expr& extreme, int& other) {
  for (size_t i = 0; i < 2; ++i) {
    const Expr& bound = pool[extreme.args[i]];
    if (bound.kind != ExprKind::constant || !is_float(bound.type)) continue;
    other = extreme.args[1 - i];
    return bound.number;
  }
  return std::nan("");
}

namespace {

// Of a Min or Max with a constant; NaN: of none.
double own_bound(const ExprPool& pool, int node, int& other) {
  const Expr& e = pool[node];
  const bool is_extreme = e.kind == ExprKind::call && (e.fn == ScalarFn::min || e.fn == ScalarFn::max);
  return is_extreme && is_float(e.type) ? bound_of(pool, e, other) : std::nan("");
}

}  // namespace

FloatBounds float_bounds(const ExprPool& pool, int node) {
  int other = node;
  const double bound = own_bound(pool, node, other);
  if (std::isnan(bound)) return {};
  const FloatBounds inner = float_bounds(pool, other);
  if (pool[node].fn == ScalarFn::max) return {std::max(inner.low, bound), std::max(inner.high, bound)};
  return {std::min(inner.low, bound), std::min(inner.high, bound)};
}

int unbounded(const ExprPool& pool, int node) {
  for (int other = node; !std::isnan(own_bound(pool, node, other)); node = other) {
  }
  return node;
}

}  // namespace korch::tile
