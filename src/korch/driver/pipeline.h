// The pipeline: ONNX file -> executable. Reads like the paper's figure, one line per stage.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "korch/codegen/implementation.h"
#include "korch/ir/graph.h"
#include "korch/plan/plan.h"
#include "korch/search/launch_variants.h"
#include "korch/search/plan_chooser.h"
#include "korch/search/strategy.h"

namespace korch {

struct CompileOptions {
  std::string target = "native";
  int threads = 0;                                    // 0: all cores this process may use
  std::map<std::string, Shape> shapes, least_shapes;  // --shape NAME=... (onnx/import.h)
  uint64_t seed = 0;                                  // of the model's random numbers (onnx/import.h)
  Accuracy accuracy = Accuracy::standard;
  Strategy strategy = Strategy::optimal;
  uint64_t random_seed = 0;  // of Strategy::random
  Bounds bounds = Bounds::learned;
  bool exhaustive = false;   // measure every column
  bool alternatives = true;  // other ways to compute a Value, for the strategy `optimal` (rewrite/rule.h)
  std::vector<std::string> rules;  // only these; empty: all that the accuracy policy allows
  bool measure = true;             // false: plan on lower bounds alone
  bool self_contained = false;     // generated kernels only
  bool verify = true;              // run the executable against the interpreter before it is kept
  bool heal = true;      // plan again without kernels that prove wrong; false: they are an error (heal.h)
  LaunchOptions launch;  // of steps of open shapes; the deadline is that of the budget
  std::optional<PlanSchedule> schedule;  // of plans that have tasks; none: the fastest by a run of each
  std::string database_path;             // empty: no database
  std::string dump_dir;                  // empty: no dumps
  std::string save_inputs;               // folder for inputs to run it with (saved_inputs.h); empty: none
  std::string stop_after;                // one of stages_to_stop_after(); empty: the executable is written
  double budget_s = 0;                   // 0: no limit
  std::function<void(const std::string& stage, int64_t done, int64_t total)> progress;
};

struct CompileResult {
  Plan plan;                       // without steps when stopped early
  int compiled = 0, measured = 0;  // kernels, not counting what the database held
  std::map<std::string, double> stage_seconds;
  std::vector<std::string> warnings;  // of the database and of healing; the compilation went on
};

// Stages after which a compilation can end, in order.
std::vector<std::string> stages_to_stop_after();

// Throws Error. Writes `output` only when everything succeeded.
CompileResult compile_model(const std::string& model, const std::string& output,
                            const CompileOptions& options);

// The same behind the import: `graph` is what the importer makes, `name` what the report calls it.
CompileResult compile_graph(const Graph& graph, const std::string& name, const std::string& output,
                            const CompileOptions& options);

}  // namespace korch
