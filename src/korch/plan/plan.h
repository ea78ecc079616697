// Plan: the chosen kernels in order, with the tensors they exchange and everything `korch explain` tells.
// Data, not code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/plan/kernel.h"
#include "korch/target/target.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

enum class TensorRole { intermediate, input, output, constant };

// A Value materialized in a layout, or a constant packed for a kernel.
struct PlanTensor {
  std::string name;    // of the Value, for printing
  int64_t value = -1;  // ValueId in the primitive graph
  TensorType type;
  Layout layout;
  int64_t size_bytes = 0;  // physical
  TensorRole role = TensorRole::intermediate;
  int index = -1;     // graph input or output number; for constants: into Plan::constants
  int alias_of = -1;  // same bytes as this earlier tensor, starting at alias_offset_bytes
  int64_t alias_offset_bytes = 0;
};

struct PlanConstant {
  int source = -1;  // identity of the Value in the primitive graph
  Packing packing;
  Hash content;  // of the packed bytes
  int64_t size_bytes = 0;
};

// How a primitive of a step hangs together with others, and its part of the step's work.
struct PlanPrimitive {
  std::vector<int64_t> inputs, outputs;  // ValueIds in the primitive graph, as in PlanTensor::value
  std::vector<int> origins;              // into PlanStep::onnx_nodes
  double work = 0;                       // elements that evaluating it by its definition reads
};

// Another kernel for a step's outputs.
struct RejectedKernel {
  std::string what;          // primitives and implementation
  double cost_us = 0;        // measured, or a bound: then `what` says so
  bool same_inputs = false;  // it needs nothing that the step does not read: it could stand in its place
};

struct PlanStep {
  int kernel = -1;                              // into Plan::kernels
  std::vector<int> inputs, constants, outputs;  // into Plan::tensors
  std::string label;                            // for people: the primitives, e.g. "Conv+Add+Relu"
  std::vector<std::string> primitives;          // one line each, textual IR
  std::vector<PlanPrimitive> wiring;            // one per primitive; empty in older executables
  std::vector<std::string> onnx_nodes;          // origins
  double predicted_us = 0;
  bool measured = false;       // predicted_us was measured, of this kernel alone; otherwise it is a bound
  double bound_us = 0;         // the lower bound it had before it was measured
  std::string implementation;  // family, layouts, parameters
  // The cheapest that could stand in its place, then the cheapest others.
  std::vector<RejectedKernel> rejected;
};

// A plan that was run whole before one was kept.
struct WholeRun {
  std::string plan;  // "solver's", "greedy", "unchanged network's" or "solver's next"
  double predicted_us = 0;
  double measured_us = 0;  // the solver's: lowest median; others: by the ratio to the plan they met
};

// A kernel that proved wrong, so that no plan takes it.
struct StruckKernel {
  std::string key;     // Kernel::key, in hexadecimal
  std::string kernel;  // primitives and implementation
  std::string reason;
};

struct PlanReport {
  std::string model, strategy, accuracy, solver_status, target;
  std::string network;  // hash of the imported network, weights included; empty in older executables
  double objective_us = 0, bound_us = 0, gap = 0;
  int primitives = 0, candidates = 0, columns = 0, solves = 0, cuts = 0;
  std::optional<double> execution_states;  // of the primitives without alternatives; none: too many to count
  int kernels = 0, measured = 0;  // different ones among the columns, and how many of them were measured
  double solver_s = 0;       // in all solves, without measuring; a replayed plan has that of its first time
  int bound_violations = 0;  // measurements below their bound: each voids the certificate
  bool certified = false;    // all chosen measured, bounds valid, solver proved optimality
  std::string bounds;  // "analytic", or "learned": then the certificate rests on what was seen of each kind
  int learned_violations = 0;      // kernels measured below what was learned of their kind until then
  std::vector<std::string> rules;  // rewrite rules that were tried; empty: no alternatives
  std::map<std::string, int> alternatives;       // primitives added, by the rewrite rule that added them
  std::map<std::string, int> alternatives_used;  // those of them that the plan computes
  int64_t alternative_constant_bytes = 0;        // constants that only alternatives need, while compiling
  std::map<std::string, int> pruned;    // structural pruning, by rule; limits of alternatives that bit
  std::vector<std::string> limits;      // what else was not done, and why: one sentence each
  std::map<std::string, int> refused;   // by RefusalReason
  std::vector<StruckKernel> struck;     // that the program could not take, by key
  std::vector<std::string> recomputed;  // Values computed by more than one step
  std::vector<WholeRun> whole_runs;     // against each other; the first was kept. Empty: no contest
  double measured_us = 0;               // the whole plan, run
  Peaks peaks;                          // of the machine that compiled; zeros in older executables
};

// Which plan was kept. Objective, bound, gap and certificate are of the solver's.
inline std::string kept_plan(const PlanReport& report) {
  return report.whole_runs.empty() ? "solver's" : report.whole_runs[0].plan;
}
inline double predicted_us(const PlanReport& report) {
  return report.whole_runs.empty() ? report.objective_us : report.whole_runs[0].predicted_us;
}

struct PlanIo {
  std::string name;
  TensorType type;

  friend bool operator==(const PlanIo&, const PlanIo&) = default;
};

struct Plan {
  std::vector<PlanIo> inputs, outputs;
  std::vector<Kernel> kernels;
  std::vector<PlanTensor> tensors;
  std::vector<PlanConstant> constants;
  std::vector<PlanStep> steps;  // in execution order
  int threads = 1;
  bool flushes_subnormals = false;  // results too small for a normal number become 0
  PlanReport report;
};

}  // namespace korch
