// The pipeline: ONNX file -> executable. Reads like the paper's figure, one line per stage.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/fleet/roster.h"
#include "korch/ir/graph.h"
#include "korch/options/compile_options.h"
#include "korch/plan/plan.h"

namespace korch {

struct CompileResult {
  Plan plan;                       // without steps when stopped early
  int compiled = 0, measured = 0;  // kernels, not counting what the database held
  std::map<std::string, double> stage_seconds;
  std::optional<FleetReport> fleet;   // who measured, where other machines were asked to
  std::vector<std::string> warnings;  // of the database and of healing; the compilation went on
};

// Throws Error. Writes `output` only when everything succeeded.
CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options);

// The same behind the import: `graph` is what the importer makes, `name` what the report calls it.
CompileResult compile_graph(const Graph& graph, const std::string& name, const std::string& output,
                            const CompileOptions& options);

}  // namespace korch
