// Lazy measurement (docs/design/solve.md): a plan by lower bounds, costs for its unmeasured columns, another
// plan, and so on, until a plan of measured columns is proven to be the best. The solver measures nothing: it
// asks.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/solve/problem.h"

namespace korch {

struct LazyOptions {
  SolveOptions solve = {};
  Deadline deadline = {};     // after which a search throws BudgetSpent
  bool second_looks = false;  // whether it asks for them
  bool other_plan = false;    // likewise
  // False: no bound is proven. What stands for costs that are not known are estimates; the plan is the best
  // one by them, when its own are known.
  bool prove = true;
  bool bounds = false;  // where it does not prove: whether it asks for them, and for an audit
  bool audit = false;
};

struct Question {
  enum class Kind {
    // Better costs of `columns`, which are not measured. The answer's `has_learnt`: whether there are any.
    costs,
    // Once more the costs of `columns`, which may be lower now; the same answer.
    second_look,
    // Before the best plan, `columns`, is proven: another one of which something is known, `plan` in the
    // answer,
    // the same one, or none. More columns may have been measured for it.
    other_plan,
    // The plan stands: lower bounds, in place of estimates, of what is not known. The same answer; without
    // them
    // the bound is by the estimates.
    bounds,
    // Costs of some of `columns`, by which bounds are judged, and estimates again. The same answer.
    audit,
  };
  Kind kind = Kind::costs;
  std::vector<int> columns;
  Solution best;  // the best plan by what is known, which may have columns that are not measured
};

struct Answer {
  bool has_learnt = false;
  Solution plan = {};
};

struct CostedPlan {
  double cost_us = 0;
  std::vector<int> chosen;
  auto operator<=>(const CostedPlan&) const = default;
};

struct LazyResult {
  Solution solution;
  std::vector<CostedPlan> others;  // plans measured throughout that cost little more, cheapest first
  int bound_violations = 0;        // columns measured below their bound
  bool certified = false;
};

class LazySolver {
 public:
  // `problem` outlives it. Between two questions the caller puts costs into its columns: a column whose cost
  // is final is marked as measured, more than were asked for if it likes (isomorphic ones), and one that
  // cannot be built gets an infinite cost, which is final.
  explicit LazySolver(Problem& problem, LazyOptions options = {});
  ~LazySolver();
  LazySolver(const LazySolver&) = delete;
  LazySolver& operator=(const LazySolver&) = delete;

  // The next question, given the answer to the one before. Nothing at the end. If nothing was learnt, the end
  // comes with the best plan that is measured throughout (status feasible), if there is one.
  std::optional<Question> next(Answer answer = {});
  LazyResult& result();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// As solve, among columns that can be built: shows the columns of a plan and is told whether all of them can
// be built. Those that cannot have an infinite cost by then.
class BuildableSolver {
 public:
  // After the deadline a search for a plan throws BudgetSpent.
  explicit BuildableSolver(const Problem& problem, SolveOptions options = {}, const Deadline& deadline = {});
  ~BuildableSolver();
  BuildableSolver(const BuildableSolver&) = delete;
  BuildableSolver& operator=(const BuildableSolver&) = delete;

  std::optional<std::vector<int>> next(bool can_be_built = false);
  // The time for building does not count in its seconds.
  Solution& result();

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace korch
