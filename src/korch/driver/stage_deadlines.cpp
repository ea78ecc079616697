#include "korch/driver/stage_deadlines.h"

#include <algorithm>

namespace korch {
namespace {

// Of a budget: what is left when nothing more is added to the program; what packaging takes; what packaging
// and the check are left at least, and the check at most; by how much a check that has begun may be late.
constexpr double kBehindGrowing = 0.6, kPackaging = 0.1, kLeastBehindSearch = 0.2, kMostCheck = 0.5;
constexpr double kLate = 0.1, kLate_s = 2;
constexpr double kStructures = 0.1;  // the search for block graphs

}  // namespace

StageDeadlines::StageDeadlines(double budget_s)
    : budget_s_(budget_s),
      behind_search_s_(kLeastBehindSearch * budget_s),
      whole_(budget_s > 0 ? Deadline(budget_s) : Deadline()) {}

void StageDeadlines::reserve_for_check(double seconds) {
  if (seconds <= kMostCheck * budget_s_)
    behind_search_s_ = std::max(behind_search_s_, seconds + kPackaging * budget_s_);
}

Deadline StageDeadlines::growing() const {
  if (budget_s_ == 0) return Deadline(StageLimits().growing_s);
  return whole_.earlier_by(std::max(kBehindGrowing * budget_s_, behind_search_s_));
}

Deadline StageDeadlines::structures() const {
  if (budget_s_ == 0) return Deadline(StageLimits().structures_s);
  return Deadline(std::min(growing().left_s(), kStructures * budget_s_));
}

Deadline StageDeadlines::search() const {
  return budget_s_ == 0 ? Deadline(StageLimits().search_s) : whole_.earlier_by(behind_search_s_);
}

Deadline StageDeadlines::check() const {
  return budget_s_ == 0 ? Deadline(StageLimits().check_s) : whole_.earlier_by(-(kLate * budget_s_ + kLate_s));
}

}  // namespace korch
