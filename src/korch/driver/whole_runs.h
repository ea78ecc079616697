// The finished executable run whole before it is kept: how it is scheduled, and how long it takes.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "korch/base/deadline.h"
#include "korch/package/package_input.h"
#include "korch/plan/plan.h"
#include "korch/profile/database.h"

namespace korch {

// Of a very plan, code and weights included, on this machine.
Hash plan_key(const PackageInput& input, const Device& target);

// An executable that is not kept, written when it is first asked for.
using DraftPath = std::function<const std::string&()>;

class WholeRuns {
 public:
  // `key`: plan_key. `database` may be null; what it remembers of the plan is not run again. `deadline`
  // leaves less time to run: nothing runs that would end later by what the plan costs.
  WholeRuns(Database* database, const Hash& key, DraftPath draft, const Deadline& deadline)
      : database_(database), key_(key), draft_(std::move(draft)), deadline_(deadline) {}

  // Sets the plan's schedule, and PlanReport::schedules to what each takes: by tasks as they become ready,
  // unless another one is faster beyond doubt. Open dimensions are in the middle between the `least` extents
  // for which the plan is taken, by their names (else those that there are), and its bounds. Nothing where
  // the plan has no tasks, or no time is left.
  void choose_schedule(Plan& plan, const std::map<std::string, int64_t>& least) const;
  // Median of the plan at its bounds, in microseconds, by its schedule; 0: there was no time to run it.
  double latency_us(const Plan& plan) const;

 private:
  // To run it so often.
  bool has_time(const Plan& plan, double runs) const;

  Database* database_;
  const Hash key_;
  const DraftPath draft_;
  const Deadline deadline_;
};

}  // namespace korch
