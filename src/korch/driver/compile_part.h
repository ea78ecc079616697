// One pass of the pipeline: a network for the shapes it is imported with.
#pragma once

#include "korch/base/file_roles.h"
#include "korch/driver/pipeline.h"
#include "korch/search/plan_builder.h"

namespace korch {

// The network; says which files it reads, and what is worth a warning.
using ImportNetwork = std::function<Graph(FileRoles& files, std::vector<std::string>& warnings)>;

// As compile_model. With `part` no file is written: it takes the plan, verified as the file would have been.
CompileResult compile_part(const std::string& name, const CompileOptions& options,
                           const ImportNetwork& import, const std::string& output, BuiltPlan* part = nullptr);

}  // namespace korch
