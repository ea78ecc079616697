#include <algorithm>
#include <utility>

#include "korch/base/conversation.h"
#include "korch/solve/lazy.h"
#include "korch/solve/orchestrator.h"

namespace korch {
namespace {

constexpr int kNarrow = 4;           // width of the first searches
constexpr double kLeastProof = 0.5;  // of the limit, however long it took to find a plan

}  // namespace

class BuildableSolver::Loop {
 public:
  Loop(const Problem& problem, SolveOptions options, const Deadline& deadline)
      : options_(std::move(options)),
        limit_s_(time_limit_s(problem, options_)),
        orchestrator_(problem, deadline) {
    conversation_.begin(run());
  }

  std::optional<std::vector<int>> next(bool can_be_built) { return conversation_.next(can_be_built); }
  Solution& result() { return conversation_.result(); }

 private:
  Task<Solution> run() {
    int width = std::min(kNarrow, options_.width);
    for (;;) {
      // A search finds a plan in a fraction of what a proof takes, a narrow one in a fraction of that: most
      // of what cannot be built goes before they begin.
      const std::vector<int>& start = best_.chosen.empty() ? options_.start : best_.chosen;
      Solution found = counted(orchestrator_.regress(start, width));
      if (found.status == SolveStatus::infeasible) co_return found;
      if (!co_await conversation_.ask(found.chosen)) continue;
      const bool is_better = best_.chosen.empty() || found.objective_us < best_.objective_us;
      best_ = found;
      if (found.status == SolveStatus::optimal) co_return best_;
      const bool was_narrow = std::exchange(width, options_.width) < options_.width;
      if (!was_narrow && !is_better) break;
    }
    // The clock ends a proof: it tells how good the plan is, and takes no other one, so that the plan does
    // not depend on how fast the machine is.
    const double proof_s = std::max(limit_s_ - seconds_, kLeastProof * limit_s_);
    const Solution proof = counted(orchestrator_.solve(proof_s, best_.chosen, /*width=*/0));
    if (proof.status == SolveStatus::optimal && proof.objective_us >= (1 - kRounding) * best_.objective_us)
      best_.status = SolveStatus::optimal;
    best_.bound_us = std::min(proof.bound_us, best_.objective_us);
    best_.seconds = seconds_;
    best_.rounds = rounds_;
    co_return best_;
  }

  Solution counted(Solution solution) {
    seconds_ += solution.seconds;
    rounds_ += solution.rounds;
    best_.bound_us = std::max(best_.bound_us, solution.bound_us);
    solution.bound_us = best_.bound_us;
    solution.seconds = seconds_;
    solution.rounds = rounds_;
    return solution;
  }

  const SolveOptions options_;
  const double limit_s_;
  Orchestrator orchestrator_;
  Solution best_;  // of which everything can be built
  double seconds_ = 0;
  int rounds_ = 0;
  Conversation<std::vector<int>, bool, Solution> conversation_;
};

BuildableSolver::BuildableSolver(const Problem& problem, SolveOptions options, const Deadline& deadline)
    : loop_(std::make_unique<Loop>(problem, std::move(options), deadline)) {}
BuildableSolver::~BuildableSolver() = default;
std::optional<std::vector<int>> BuildableSolver::next(bool can_be_built) {
  return loop_->next(can_be_built);
}
Solution& BuildableSolver::result() {
  return loop_->result();
}

}  // namespace korch
