// Plan: the chosen kernels in order, with the tensors they exchange and everything `korch explain` tells.
// Data, not code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/plan/kernel.h"
#include "korch/plan/plan_report.h"
#include "korch/plan/program.h"
#include "korch/tensor/host_tensor.h"
#include "korch/tensor/open_dimension.h"
#include "korch/tensor/product_type.h"
#include "korch/tensor/state.h"

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

// Slices of a phase that a run does not need: those whose value (slice / stride) % count is (e * times +
// plus) / by or more. The extent e of the run is in a tensor of one i64.
struct PlanSliceLimit {
  int phase = 0;
  int tensor = -1;  // into Plan::tensors
  int64_t stride = 1, count = 1, times = 1, plus = 0, by = 1;
};

// A kernel variant of a step (docs/design/variants.md). Its time is predicted by the shares of it that a run
// needs: a ratio of two polynomials, in microseconds.
struct KernelVariant {
  int kernel = -1;                     // into Plan::kernels
  std::vector<int> constants;          // into Plan::tensors
  std::vector<PlanSliceLimit> limits;  // as PlanStep::limits
  std::string implementation;
  std::vector<rt::NeededShare> shares;  // of each of KernelVariants::extents
  std::vector<double> over, under;
  double error = 0;                 // of the ratio: relative, each measurement foretold by the others
  std::vector<double> measured_us;  // at each of KernelVariants::samples
};

// Where the cost of a kernel is from: this machine measured it or computed a bound; it was measured
// elsewhere; it is of a model of the device, or of a model that has learned from measured kernels.
enum class CostFrom { here, carried, model, estimate };

// As people are told: "measured", "bound", "carried", "modelled", "estimated".
const char* cost_word(CostFrom from, bool measured);

// As the runtime compares it.
rt::VariantCost cost_of(const KernelVariant& variant);

// The kernel variants of a step; the first is its own kernel. None: that alone.
struct KernelVariants {
  std::vector<int> extents;                   // into Plan::tensors: one i64 each
  std::vector<std::vector<int64_t>> samples;  // of the extents
  bool trusted = false;  // between the samples; else, and beyond them, runs try the best variants
  std::vector<KernelVariant> list;
};

struct PlanStep {
  int kernel = -1;                              // into Plan::kernels
  std::vector<int> inputs, constants, outputs;  // into Plan::tensors
  std::vector<PlanSliceLimit> limits;           // by phase, of each outer ones first
  KernelVariants variants;
  int other_end = -1;                   // of the loop that this step begins or ends: that step
  std::string label;                    // for people: the primitives, e.g. "Conv+Add+Relu"
  std::vector<std::string> primitives;  // one line each, textual IR
  std::vector<PlanPrimitive> wiring;    // one per primitive
  std::vector<std::string> onnx_nodes;  // origins
  double predicted_us = 0;
  bool measured = false;  // predicted_us was measured, of this kernel alone; otherwise it is a bound
  CostFrom cost_from = CostFrom::here;
  double bound_us = 0;         // the lower bound it had before it was measured
  std::string implementation;  // family, layouts, parameters
  // Of a kernel of a block graph: where that is from and what checked it, in a line; then its text.
  std::string structure;
  // First the cheapest kernels that could stand in its place, then the cheapest others.
  std::vector<RejectedKernel> rejected;
};

struct PlanIo {
  std::string name;
  TensorType type;

  friend bool operator==(const PlanIo&, const PlanIo&) = default;
};

// The primitives that compute all Values which a plan's steps exchange, from the network's inputs, each Value
// by one of its producers (docs/design/inspect.md, "The graph of a plan").
struct PlanGraph {
  std::string text;  // of a Graph (ir/text.h); the Value with id 17 (PlanTensor::value) is named v17
  // Constants by their hashes, if the network does not have them: their elements in `constants`, or a graph
  // each in `folded`, without inputs, whose outputs are named by the hashes. A graph computes constants from
  // the network's, from `constants` and from earlier graphs.
  std::map<std::string, HostTensor> constants;
  std::vector<std::string> folded;
};

using PlanSchedule = rt::Schedule;
inline constexpr PlanSchedule kSchedules[] = {PlanSchedule::barrier, PlanSchedule::dynamic};
const char* name(PlanSchedule schedule);  // "barrier", "dynamic"
bool parse_schedule(const std::string& text, PlanSchedule* schedule);

// The whole network for shapes up to these bounds: steps [first_step, end_step) with tensors [first_tensor,
// end_tensor). A run takes the one with the least predicted time whose bounds suffice.
struct ShapePlan {
  int first_step = 0, end_step = 0, first_tensor = 0, end_tensor = 0;
  double predicted_us = 0;           // at its bounds
  std::vector<int64_t> bounds;       // of each of Plan::dimensions
  std::vector<Shape> output_shapes;  // at these bounds
  std::vector<int64_t> extents;      // of each of Plan::extents: what it is, or -1 where the steps tell
  PlanSchedule schedule = PlanSchedule::barrier;  // unless who runs it asks for another
  std::vector<ScheduleRun> schedules;             // as in PlanReport
  PlanGraph graph;
};

struct Plan {
  std::vector<PlanIo> inputs, outputs;
  // Their extents are one i64 each, which PlanTensor::index counts after the inputs and after the outputs.
  std::vector<OpenDimension> dimensions;
  std::vector<OutputExtent> extents;
  std::vector<StatePair> states;
  std::vector<ShapePlan> shape_plans;  // the first takes all shapes; none: all steps are one
  std::vector<Kernel> kernels;
  std::vector<PlanTensor> tensors;
  std::vector<PlanConstant> constants;
  std::vector<PlanStep> steps;  // in execution order
  int threads = 1;
  bool flushes_subnormals = false;                // results too small for a normal number become 0
  PlanSchedule schedule = PlanSchedule::barrier;  // of a plan without shape plans
  PlanGraph graph;                                // the same
  PlanReport report;
};

// Of a plan without shape plans: all of it, for all shapes.
std::vector<ShapePlan> shape_plans_of(const Plan& plan);
// The largest relative error of an output, where the accuracy that was asked for states one; else 0.
double allowed_output_error(const Plan& plan);
// What its products may multiply, by the accuracy that was asked for.
ProductType products_of(const Plan& plan);
// A shape plan as a plan of its own, with the kernels and constants of all.
Plan plan_of(const Plan& plan, const ShapePlan& shape_plan);

// Calls f with every tensor that the step refers to, and with every kernel, so that callers can renumber
// them.
template <typename Step, typename F>
void visit_tensors(Step& step, const F& f) {
  for (auto* tensors : {&step.inputs, &step.constants, &step.outputs, &step.variants.extents})
    for (auto& tensor : *tensors) f(tensor);
  for (auto& limit : step.limits) f(limit.tensor);
  for (auto& variant : step.variants.list) {
    for (auto& tensor : variant.constants) f(tensor);
    for (auto& limit : variant.limits) f(limit.tensor);
  }
}
template <typename Step, typename F>
void visit_kernels(Step& step, const F& f) {
  f(step.kernel);
  for (auto& variant : step.variants.list) f(variant.kernel);
}

}  // namespace korch
