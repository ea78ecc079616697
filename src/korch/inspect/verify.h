// Executable against interpreter: random inputs, the network in float64 as the reference.
#pragma once

#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/inspect/bisect.h"
#include "korch/inspect/tolerance.h"
#include "korch/ir/graph.h"

namespace korch {

struct VerifyOptions {
  int samples = 3;
  uint64_t seed = 1;
  Deadline deadline = {};  // after which BudgetSpent or Undecided is thrown, or a bisection ends
  double run_s = 0;  // what a run is predicted to take: nothing can stop one, so none begins with less left
  ImportWithin import_within = {};  // for bisection of an executable that has several plans
};

struct OutputError {
  std::string output;
  Deviation deviation;
  double relative = 0;  // inspect/output_error.h
};

struct VerifyResult {
  bool passed = true;
  std::vector<OutputError> outputs;  // the worst of the samples, one per output
  Bisection bisection;               // when not passed
  double allowed_error = 0;          // of `relative`, where the executable was made for one; else 0
  std::string special_not_fed;       // why no NaN, infinities, subnormal numbers were; empty: they were
};

// How floats are distributed: normal(0, 1), or uniform in [0, 1) as pictures are.
enum class FloatInputs { normal, unit };

// Random inputs for a graph: floats, bools, integers within the range the graph implies (input_ranges.h).
// Then the extents of open dimensions: within their bounds, or (one of three seeds, 1 among them) the
// largest. Throws BudgetSpent after the deadline.
std::vector<HostTensor> random_inputs(const Graph& graph, uint64_t seed,
                                      FloatInputs floats = FloatInputs::normal,
                                      const Deadline& deadline = {});

// Fails if an output exceeds the tolerance of all runs, or a kernel is wrong. Throws BudgetSpent when the
// deadline comes before, and Undecided if something looks wrong by then.
VerifyResult compare_executable(const Graph& imported, const std::string& executable,
                                const VerifyOptions& options);

// One line per output: its error and its tolerance.
std::string describe(const std::vector<OutputError>& outputs);
// For a result that failed: the same, and the first wrong kernel.
std::string failure_text(const VerifyResult& result);

}  // namespace korch
