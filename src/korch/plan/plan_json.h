// A Plan as JSON text (stored in executables, shown by `korch explain`) and back. Kernel sources and graphs
// are left out.
#pragma once

#include <string>

#include "korch/plan/plan.h"

namespace korch {

std::string plan_to_json(const Plan& plan);
// The report alone, as in the plan.
std::string report_to_json(const PlanReport& report);
// Throws Error{io} on text that is not a plan.
Plan plan_from_json(const std::string& text);

// For the database. What cannot be read is empty.
std::string to_text(const std::vector<ScheduleRun>& runs);
std::vector<ScheduleRun> schedule_runs_from(const std::string& text);

}  // namespace korch
