// The fleet that a compilation's options ask for.
#pragma once

#include <memory>
#include <string>

#include "korch/driver/pipeline.h"
#include "korch/fleet/fleet.h"

namespace korch {

// Null: none. Throws Error{usage} where there is nothing that it could measure, and as Fleet.
std::unique_ptr<Fleet> fleet_of(const CompileOptions& options, const std::string& output);

// Who measured how many kernels, and who did not, and why.
void report_fleet(Fleet& fleet, CompileResult& result);

}  // namespace korch
