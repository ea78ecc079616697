// Lower bounds on latency that learn. The analytic bound (columns.h) knows peaks only, and kernels of one
// kind stay away from them by a factor that the measurements of that kind soon tell: the least factor seen,
// times a margin. No proof stands behind such a bound, as behind a learned quantile of a distribution; what
// is measured below it is counted (docs/design/driver.md).
#pragma once

#include <vector>

#include "korch/driver/columns.h"

namespace korch {

class LearnedBounds {
 public:
  // `plain_us`: PlainLinear::plain_costs_us.
  LearnedBounds(const Graph& graph, const Columns& columns, std::vector<double> plain_us);

  // A kernel's measured cost; once per key.
  void observe(int column, double cost_us);
  // Microseconds; at least the analytic bound, and nearly what the linear primitive costs alone. Falls when a
  // kind turns out to be faster than what was seen of it.
  double bound_us(int column) const;

 private:
  struct Seen {
    int count = 0;
    double least = 0;  // cost / analytic bound
  };
  const Columns& columns_;
  std::vector<double> plain_us_;
  std::vector<std::vector<int>> kinds_;  // per column, narrow first: into seen_
  std::vector<Seen> seen_;
};

}  // namespace korch
