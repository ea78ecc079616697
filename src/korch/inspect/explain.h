// `korch explain`: the plan inside an executable, for people. Reads the file; never runs its code.
#pragma once

#include <string>

#include "korch/plan/plan.h"

namespace korch {

struct ExplainOptions {
  int kernel = -1;  // a step number: that step alone, with its primitives and rejected alternatives
};

// Every figure of the report with what it means, one per line.
std::string explain_figures(const PlanReport& report);

// `needed`: sonames of the shared libraries that the executable loads.
std::string explain(const Plan& plan, const std::vector<std::string>& needed, const ExplainOptions& options);

}  // namespace korch
