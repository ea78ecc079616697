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

FloatBounds float_bounds(const ExprPool& pool, int node) {
  const Expr& e = pool[node];
  if (e.kind != ExprKind::call || (e.fn != ScalarFn::min && e.fn != ScalarFn::max) || !is_float(e.type))
    return {};
  int other = node;
  const double bound = bound_of(pool, e, other);
  if (std::isnan(bound)) return {};
  const FloatBounds inner = float_bounds(pool, other);
  if (e.fn == ScalarFn::max) return {std::max(inner.low, bound), std::max(inner.high, bound)};
  return {std::min(inner.low, bound), std::min(inner.high, bound)};
}

}  // namespace korch::tile
