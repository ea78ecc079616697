// The package stage: a plan as an executable, checked against the network and run whole before it is kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/driver/heal.h"
#include "korch/driver/stage_clock.h"
#include "korch/driver/stages.h"

namespace korch {

struct Finished {
  std::optional<Fault> fault;  // then nothing is written
  std::vector<std::string> warnings;
};

// Writes a draft and runs it whole: against the interpreter, and for its latency. Checks that the database
// remembers for this very plan, code and weights included, are not repeated. Then writes `output`; with
// `part` no file is written, and `part` receives the plan. `built.plan` gets its schedule and measured times.
Finished finish(const Imported& network, BuiltPlan& built, std::vector<Placement> placements,
                const std::string& output, BuiltPlan* part, const Setting& setting, StageClock& clock);

}  // namespace korch
