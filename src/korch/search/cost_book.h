// All known costs of a program's columns, and the bounds that stand for the others: analytic, or learned. The
// costs in the program's columns are the book's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/search/columns.h"
#include "korch/search/cost_source.h"
#include "korch/search/estimates.h"
#include "korch/search/learned_bounds.h"
#include "korch/search/plain_linear.h"

namespace korch {

struct CostBookOptions {
  Deadline deadline = {};      // after which a look throws BudgetSpent
  bool small_batches = false;  // of kernels between two looks at the clock
  std::function<void(int64_t done, int64_t total)> progress = nullptr;  // kernels measured
};

class CostBook {
 public:
  // All outlive it.
  CostBook(const Graph& graph, Columns& columns, CostSource& source, CostBookOptions options = {});

  // Looks at the kernels of these columns, quickly the first time and thoroughly the second. The second look
  // is final: the lowest of many quick looks would be too low. Every column of the same key gets the same
  // cost; columns that cannot be built leave the program.
  void measure(const std::vector<int>& columns);
  // One more look at those of these columns that may cost less.
  void look_again(const std::vector<int>& columns);
  // The costs that the source carries, whatever their care.
  void take_carried_costs();
  // Whether every kernel of the plan exists; those that do not leave the program.
  bool build(const std::vector<int>& plan);
  // Whether a kernel of this plan, which was built, costs more than was thought before; it gets that cost.
  bool cost_more_when_built(const std::vector<int>& plan);
  // A quick look is final where nobody wanted a thorough one.
  void take_quick_costs();
  // Out of the program.
  static void drop(Column& column);

  // Linear primitives alone tell which implementations are hopeless, and bound all they are fused into: they
  // are measured, and bounds learn from now on.
  void learn();
  bool is_learning() const { return learned_.has_value(); }
  // From now on a kernel that nobody has looked at costs what the source's model says, corrected by those
  // that somebody has. Kernels that are known not to exist leave the program. `caution`: Estimates'.
  void estimate(double caution = 0);
  // Where estimates stand for costs: now their 5 % quantiles do, as bounds of a proof; and estimates again.
  void stand_low();
  void stand_estimated() { raise_bounds(); }
  // Measures up to so many kernels, drawn from those of these columns that nobody has looked at. Returns how
  // many there were, and how many of them cost less than their 5 % quantile.
  struct Audit {
    int measured = 0, below = 0;
  };
  Audit audit(std::vector<int> columns, int most);
  // At those whose cost is unusual for their work, and those that cost `much_us`, since it bounds all kernels
  // that they are fused into. Later than their first look, so that the disturbance of that is over.
  void look_again_at_linear_alone(double much_us);
  // While it learns: implementations that the probes show to be hopeless leave the program, except for
  // columns that `is_spared`. Returns their number.
  int drop_dominated(const std::function<bool(int column)>& is_spared);

  // Somebody has looked at its cost, whatever the care.
  bool is_known(int column) const { return is_known_[column]; }
  // Its kernel was built for a plan.
  bool is_built(int column) const { return is_built_[column]; }
  // The numbers of different kernels that the program may choose, of those with a look, and of those that
  // cost less than their analytic bound, or less than the bound learned from their kind until then.
  int kernels() const;
  int measured() const;
  int bound_violations() const;
  int learned_violations() const { return learned_violations_; }
  // The first of each.
  const std::map<RefusalReason, std::string>& refusal_examples() const { return refusal_examples_; }

 private:
  template <typename CareOf>
  void look(const std::vector<int>& columns, const CareOf& care_of);
  void look(const std::vector<int>& columns, Care care);
  void record(int column, const Result<Cost>& cost);
  void learn_from(int column);
  void raise_bounds();
  template <typename CostOf>
  void put_in_place(const CostOf& cost_of);
  void count_refusal(const Refusal& refusal);
  void drop_all(int column, const Refusal& refusal);
  void propose_alike(int column);
  const std::vector<int>& same_kernel(int column) const { return by_key_.at(columns_.infos[column].key); }
  bool is_view(int column) const { return columns_.infos[column].kind == ColumnInfo::Kind::view; }

  const Graph& graph_;
  Columns& columns_;
  CostSource& source_;
  const CostBookOptions options_;
  std::unordered_map<Hash, std::vector<int>, HashHasher> by_key_;
  std::vector<bool> is_known_, is_built_;  // by column
  std::optional<PlainLinear> plain_;       // with learned_
  std::optional<LearnedBounds> learned_;
  std::optional<Estimates> estimates_;  // in place of learned bounds
  int learned_violations_ = 0;
  int64_t looked_at_ = 0;
  struct Taken {
    double seconds = 0;
    double kernels = 0;
  };
  std::map<Care, Taken> taken_;  // by all looks so far, compiling included
  std::map<RefusalReason, std::string> refusal_examples_;
};

}  // namespace korch
