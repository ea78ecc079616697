// One open model through the importer and through plans, each in several runs, compared with the model of
// each run's extents, which is another way through the importer.
#pragma once

#include "campaign.h"
#include "open_maker.h"

namespace korch::fuzz {

// As check_case: a pair is a plan, or the imported graph itself, in one run. `folder`: for executables, and
// for what all cases share.
CaseResult check_open_case(uint64_t seed, const std::string& folder,
                           const std::function<void(const PlanChoice&)>& progress = {});

}  // namespace korch::fuzz
