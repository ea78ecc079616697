// Plan: the chosen kernels in order, with the tensors they exchange and everything `korch explain` tells.
// Data, not code.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/plan/kernel.h"
#include "korch/plan/plan_report.h"
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
  int other_end = -1;                           // of the loop that this step begins or ends: that step
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

struct PlanIo {
  std::string name;
  TensorType type;

  friend bool operator==(const PlanIo&, const PlanIo&) = default;
};

// The extent of an output's axis as the data have it: what PlanTensor::index counts after the outputs, one
// i64.
struct PlanExtent {
  int output = 0, axis = 0;

  friend bool operator==(const PlanExtent&, const PlanExtent&) = default;
};

// Who runs what, and when (docs/design/tasks.md): phase after phase; tasks as they become ready, on any
// worker; tasks assigned to workers.
enum class PlanSchedule { barrier, dynamic, assigned };
inline constexpr PlanSchedule kSchedules[] = {PlanSchedule::barrier, PlanSchedule::dynamic,
                                              PlanSchedule::assigned};
const char* name(PlanSchedule schedule);  // "barrier", "dynamic", "static"
bool parse_schedule(const std::string& text, PlanSchedule* schedule);

struct Plan {
  std::vector<PlanIo> inputs, outputs;
  std::vector<PlanExtent> extents;
  std::vector<Kernel> kernels;
  std::vector<PlanTensor> tensors;
  std::vector<PlanConstant> constants;
  std::vector<PlanStep> steps;  // in execution order
  int threads = 1;
  bool flushes_subnormals = false;                // results too small for a normal number become 0
  PlanSchedule schedule = PlanSchedule::barrier;  // unless who runs it asks for another
  PlanReport report;
};

}  // namespace korch
