// The predicted time of a kernel variant of a step (docs/design/variants.md).
#pragma once

#include "korch/plan/program.h"

namespace korch::rt {

// In (0, 1].
inline double needed_share(const NeededShare& share, int64_t extent) {
  if (share.count <= 0) return 1;
  int64_t needed = (extent * share.times + share.plus) / share.by;
  if (needed < 1) needed = 1;
  if (needed > share.count) needed = share.count;
  return static_cast<double>(needed) / static_cast<double>(share.count);
}

inline double polynomial(const double* of, double x, double y) {
  return of[0] + x * (of[1] + x * of[3] + y * of[4]) + y * (of[2] + y * of[5]);
}

inline double ratio_at(const double* over, const double* under, double x, double y) {
  return polynomial(over, x, y) / polynomial(under, x, y);
}

// The share of the step's own time that another variant may take at most. The step's own kernel was chosen
// among others, for its neighbours: times of kernels alone differ from those in a network.
constexpr double kWorthAnother = 0.95;

// The number by which variants are compared.
inline double variant_rank(double us, uint32_t variant) {
  return variant == 0 ? us * kWorthAnother : us;
}

// `extents`: as many as the table has.
inline double variant_us(const VariantCost& cost, const int64_t* extents, uint32_t extent_count) {
  const double x = needed_share(cost.shares[0], extents[0]);
  const double y = extent_count > 1 ? needed_share(cost.shares[1], extents[1]) : 1;
  return ratio_at(cost.over, cost.under, x, y);
}

}  // namespace korch::rt
