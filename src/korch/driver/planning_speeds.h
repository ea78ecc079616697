// What a compilation assumes of this machine: whether it has the workers that are asked for, and the speeds
// for planning.
#pragma once

#include <string>
#include <vector>

#include "korch/backend/backend.h"
#include "korch/device/device.h"
#include "korch/options/compile_options.h"
#include "korch/profile/database.h"
#include "korch/search/columns.h"
#include "korch/search/solve_memo.h"

namespace korch {

// That a compilation is for: of a file, else of its target's name.
Device device_of(const CompileOptions& options);

// Error{unsupported} when an executable is to be written and this build cannot.
void require_complete(const Backend& backend);

// Error{usage} when kernels are to be measured and this process cannot run the target's code, or the machine
// has so few processors for so many workers that it would measure nothing but their taking turns.
void require_measurable(const Device& target);

// A warning for more workers than `cpus`; "" otherwise.
std::string crowding(int workers, int cpus);

struct PlanningSpeeds {
  Device device;      // with the speeds
  std::string are;    // where they are from, as in PlanReport::peaks_are
  std::string doubt;  // as in PlanReport::doubts; "": none
};

// Measured ones where the target runs here (`database` may be null), else those that the target has, else
// nominal ones. A plan that is drawn at random needs none.
PlanningSpeeds planning_speeds(const Device& target, Strategy strategy, Database* database);

// Reasons for PlanReport::doubts: other programs ran while kernels were measured, or kernels beat the peaks.
// Beaten peaks are raised in the database if that can be believed.
std::vector<std::string> doubts_after_measuring(const SolveMemo& solved, const Graph& graph,
                                                const Columns& columns, const Device& target,
                                                Database* database);

}  // namespace korch
