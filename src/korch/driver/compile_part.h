// One pass of the pipeline: a network for the shapes it is imported with.
#pragma once

#include "korch/base/file_roles.h"
#include "korch/driver/pipeline.h"
#include "korch/fleet/fleet.h"
#include "korch/search/plan_builder.h"

namespace korch {

// Gives the network; adds the files that it reads, and warnings.
using ImportNetwork = std::function<Graph(FileRoles& files, std::vector<std::string>& warnings)>;

// As compile_model. With `part` no file is written: `part` receives the plan, verified as the file would be.
// `fleet`: measures, if it is not null.
CompileResult compile_part(const std::string& name, const CompileOptions& options,
                           const ImportNetwork& import, const std::string& output, BuiltPlan* part = nullptr,
                           Fleet* fleet = nullptr);

}  // namespace korch
