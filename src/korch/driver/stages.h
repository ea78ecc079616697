// The stages of the pipeline as functions of values, in their order; pipeline.cpp calls each in a line:
//
//   Graph -> import -> Imported -> fission -> Graph of primitives -> alternatives -> Rewritten
//     -> candidates -> Candidates -> columns -> Columns -> solve -> Choice -> plan -> BuiltPlan
//     -> tasks -> Placements -> package (finish.h) -> an executable
//
// A stage reads its arguments. It changes none but a bank, which remembers kernels, and the columns, which
// get costs. What it left out, and why, is in what it returns.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "korch/driver/bfloat16_budget.h"
#include "korch/driver/planning_speeds.h"
#include "korch/driver/stage_deadlines.h"
#include "korch/options/compile_options.h"
#include "korch/package/plan_tasks.h"
#include "korch/rewrite/alternatives.h"
#include "korch/search/plan_builder.h"
#include "korch/search/plan_chooser.h"
#include "korch/structures/structured_candidates.h"

namespace korch {

// What all stages of a compilation share.
struct Setting {
  const CompileOptions& options;
  const Device& device;
  const StageDeadlines& deadlines;
  Database* database = nullptr;  // null: nothing is remembered
  Strikes* strikes = nullptr;    // null: healing is off, and what earlier compilations struck counts no more
  const Bfloat16Choice* bfloat16 = nullptr;  // null: nothing is rounded to it
  WorkClock* clock = nullptr;                // where the seconds go; null: nobody asks
};

struct Imported {
  Graph graph;
  std::string name;  // of the network's file
  std::string hash;  // of the network, its weights included
};

struct Candidates {
  std::vector<Candidate> all;
  CandidateSet greedy_groups;  // greedy's plan, to run against the solver's; empty: do not
  // In `all`: those before are greedy's groups and single primitives.
  size_t first_optional = std::numeric_limits<size_t>::max();
  std::optional<double> execution_states;  // as in PlanReport
  std::map<std::string, int> pruned;       // by rule, those of the stages before too
  std::vector<std::string> limits;         // as in PlanReport
};

Imported imported(Graph graph, const std::string& name);

// The primitives, with alternatives if the strategy chooses among them.
// Whether its products become ones of bytes, for a device that multiplies these.
bool has_products_of_bytes(const Graph& primitives, const Setting& setting);
Rewritten with_alternatives(const Graph& primitives, const Setting& setting);

// `bank`: of kernels of `rewritten.graph`, here and below.
Candidates find_candidates(const Rewritten& rewritten, KernelBank& bank, const Setting& setting);

// Adds candidates that a search over block graphs has kernels for, with what it left out. `book` knows what
// was found before.
// Those that ship, and before them those of the user's file. Throws Error{invalid} with the line of a fault.
structures::StructureBook structures_known(const CompileOptions& options);
void add_structures(const Rewritten& rewritten, const Setting& setting, structures::StructureBook& book,
                    Candidates& candidates);

Columns make_columns(const Rewritten& rewritten, std::vector<Candidate> candidates, size_t first_optional,
                     const Setting& setting);

// Where refused kernels leave no plan, as of greedy's groups, `columns` are made anew: single primitives take
// the place of what was refused.
Choice choose(const Rewritten& rewritten, const Candidates& candidates, KernelBank& bank,
              const Setting& setting, Columns& columns);

struct PlanInputs {
  const Imported& network;
  const Graph& primitives;
  const Rewritten& rewritten;
  const Candidates& candidates;
  const Columns& columns;
  const Choice& choice;
  std::string peaks_are = {};            // as in PlanReport
  std::vector<std::string> doubts = {};  // as in PlanReport
};

// Throws Error where there is no plan.
BuiltPlan make_plan(const PlanInputs& inputs, KernelBank& bank, const Setting& setting);

// Memory, and the plan as a task graph where it has one; the plan gets its schedule.
std::vector<Placement> find_tasks(BuiltPlan& built, const Setting& setting);

}  // namespace korch
