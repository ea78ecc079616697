// The options of a compilation, as values. option_table.h lists those that users set, by names and texts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/plan/program.h"
#include "korch/tensor/product_type.h"
#include "korch/tensor/shape.h"

namespace korch {

// The arithmetic that a plan may use: see docs/design/rewrite.md. tf32, f16, bf16: as standard, and on a GPU
// products of float32 multiply numbers of these types. relaxed: as standard, and on a CPU products may
// multiply, and results be stored, rounded to bfloat16, as far as CompileOptions::output_error allows.
enum class Accuracy { strict, standard, tf32, f16, bf16, relaxed };
const char* name(Accuracy accuracy);
// What products of float32 may multiply.
ProductType products_of(Accuracy accuracy);

// What is measured. none: nothing; costs are estimates, on a GPU of a model of the device. plan:
// what the plan takes, found by estimates. prove: all that can matter, until the plan is proven to be the
// best one by these costs.
enum class Measure { none, plan, prove };
const char* name(Measure measure);

// How a plan is chosen. greedy, unfused: restricted sets of candidates (search/strategy.h). random: any plan
// of all that `optimal` chooses from (search/random_plan.h), to debug and to test with; never measured.
enum class Strategy { optimal, greedy, unfused, random };
const char* name(Strategy strategy);

// Stands for the cost of a kernel that is not measured: see search/learned_bounds.h.
enum class Bounds { analytic, learned };
const char* name(Bounds bounds);

// Which kernel variants a step may have beside its own kernel: none; those that give the same bits; also
// those that add up in another order, so that results depend on the choice, within rounding.
enum class WhichVariants { none, exact, reassociating };

struct VariantOptions {
  WhichVariants which = WhichVariants::exact;
  // By the names of dimensions: the least extents for which this plan is taken; else the dimensions' own.
  std::map<std::string, int64_t> least;
  Deadline deadline = {};  // after which steps keep their own kernels alone
  double most_s = 60;      // of one plan's steps, where there is no deadline or a later one
  // Relative increases of regret that are accepted: for fewer variants; for variants with constants packed as
  // the step's own; for the step's own kernel alone.
  double of_fewer = 0.01, of_same_packing = 0.05, of_own = 0.02;
};

struct CompileOptions {
  std::string target = "native";
  std::string device;                                       // file of the one to plan for; empty: `target`
  int threads = 0;                                          // 0: all cores this process may use
  std::map<std::string, Shape> shapes, least_shapes;        // --shape NAME=... (onnx/import.h)
  std::map<std::string, int64_t> value_bounds;              // --bound NAME=N, likewise
  std::vector<std::pair<std::string, std::string>> states;  // --state INPUT=OUTPUT (onnx/import.h)
  bool find_states = true;                                  // not --state none
  // Runs that matter, where shapes are open: "seq=1,past=300" each; a file of such lines
  // (driver/likely_runs.h).
  std::vector<std::string> at;
  std::string runs;
  uint64_t seed = 0;  // of the model's random numbers (onnx/import.h)
  Accuracy accuracy = Accuracy::standard;
  double output_error = 0;  // of Accuracy::relaxed: the largest error of an output (inspect/output_error.h)
  Strategy strategy = Strategy::optimal;
  uint64_t random_seed = 0;         // of Strategy::random
  Bounds bounds = Bounds::learned;  // for Measure::prove
  bool exhaustive = false;          // measure every column
  bool alternatives = true;  // other ways to compute a Value, for the strategy `optimal` (rewrite/rule.h)
  std::vector<std::string> rules;  // only these; empty: all that the accuracy policy allows
  Measure measure = Measure::plan;
  std::string cost_model = "shipped";  // which makes estimates (profile/cost_model.h)
  int audit = 0;                       // kernels measured to judge it, for Measure::plan
  bool other_schedules = true;         // of the plan's kernels are measured too (search/other_schedules.h)
  bool structures = true;              // searched for (structures/structured_candidates.h)
  std::string block_graphs;            // a file of others (block/known_groups.h); empty: none
  bool verify = true;                  // run the executable against the interpreter before it is kept
  bool heal = true;  // plan again without kernels that prove wrong; false: they are an error (driver/heal.h)
  bool emulation = false;                // of a GPU: PackageInput::emulation
  VariantOptions variants;               // of steps of open shapes; the deadline is that of the budget
  std::optional<rt::Schedule> schedule;  // of plans that have tasks; none: the fastest by a run of each
  std::string database_path;             // empty: no database
  std::string dump_dir;                  // empty: no dumps
  std::string save_inputs;               // folder for inputs to run it with (saved_inputs.h); empty: none
  std::vector<std::string> fleet;        // "slurm:N", or commands that start workers (fleet/commands.h)
  std::string fleet_hosts;               // of these commands, joined by commas
  std::string fleet_dir;                 // shared with workers; empty: beside the output, if there is a fleet
  int fleet_tolerance = 5;               // per cent by which a worker may differ from this machine
  int sampled_kernels = 0;   // so many of the network's are measured, and no plan is made (cost_sample.h)
  uint64_t sample_seed = 0;  // of the choice of these
  std::string stop_after;    // one of kLastStages; empty: the executable is written
  double budget_s = 0;       // 0: no limit
  std::function<void(const std::string& stage, int64_t done, int64_t total)> progress;
};

// Stages after which a compilation can end, in order.
inline const std::vector<std::string> kLastStages = {"import",     "fission", "alternatives",
                                                     "candidates", "columns", "plan"};

}  // namespace korch
