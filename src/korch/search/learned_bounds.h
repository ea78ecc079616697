// Lower bounds on latency that learn. The analytic bound (columns.h) knows peaks only. Kernels of one kind
// are slower than it by a factor that measurements of that kind show. So the learned bound is the analytic
// one times the least factor seen, times a margin. No proof stands behind it; measurements below it are
// counted (docs/design/search.md).
#pragma once

#include <limits>
#include <vector>

#include "korch/search/columns.h"

namespace korch {

class LearnedBounds {
 public:
  // `plain_us`: PlainLinear::plain_costs_us.
  LearnedBounds(const Graph& graph, const Columns& columns, std::vector<double> plain_us);

  // A kernel's measured cost, of the first column of its key; once per key.
  void observe(int column, double cost_us);
  // What it costs now, by a better measurement.
  void correct(int column, double cost_us);
  // Better measurements of linear primitives alone.
  void correct_plain(std::vector<double> plain_us) { plain_us_ = std::move(plain_us); }
  // Whether its known cost is much higher, for its work, than the costs of others of its kind: something may
  // have disturbed it.
  bool is_unusual(int column) const;
  // Microseconds; at least the analytic bound, nearly the cost of the linear primitive alone, and nearly the
  // cost of a kernel that computes a part of it. Falls when a kind turns out to be faster.
  double bound_us(int column) const;

 private:
  struct Seen {
    int count = 0;
    double least = std::numeric_limits<double>::infinity();  // cost / analytic bound
  };
  // A kernel of the same kind for a part of the same primitives, and the time that it may spend reading
  // operands which the whole need not read.
  struct Part {
    int column;  // the first of its key
    double saved_us;
  };
  double least_of_kind_us(int column) const;  // 0: too little is known
  void find_parts(const Graph& graph);
  double by_parts_us(int column) const;

  const Columns& columns_;
  std::vector<double> plain_us_;
  std::vector<double> cost_us_;           // per column, of the first of each key; infinite: not known
  std::vector<std::vector<Part>> parts_;  // per column
  std::vector<std::vector<int>> kinds_;   // per column, narrow first: into seen_
  std::vector<Seen> seen_;
};

}  // namespace korch
