// The chosen columns, in an order that can run, as a Plan with its constants packed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/plan/plan.h"
#include "korch/profile/kernel_bank.h"
#include "korch/search/columns.h"
#include "korch/search/slice_limits.h"

namespace korch {

// A step whose outputs a run may need in part.
struct OpenStep {
  int column = -1;
  std::vector<LimitedOutput> outputs;
};

struct BuiltPlan {
  Plan plan;
  std::vector<std::string> objects;         // one per plan.kernels
  std::vector<Spec> specs;                  // of each of plan.kernels
  std::vector<int> step_columns;            // of each of plan.steps; none where there are loops
  std::vector<std::string> constant_bytes;  // one per plan.constants
  std::map<int, OpenStep> open_steps;       // by the step
  std::map<ValueId, int> extents;           // into plan.tensors: where each extent that counts is
};

// The limits of a kernel of these outputs, as far as the plan has their extents.
std::vector<PlanSliceLimit> plan_limits(const tile::TileGraph& tiles,
                                        const std::vector<LimitedOutput>& outputs, const BuiltPlan& built);
// The constant's place among the plan's tensors in this packing; adds it where there is none.
int packed_constant(const Graph& graph, ValueId value, const Packing& packing, BuiltPlan& built);
// Of each of the plan's tensors, the step that makes it first: -1 of inputs.
std::vector<int> made_by(const Plan& plan);

// The request by which the bank knows a kernel or reorder column.
KernelRequest kernel_request(const Graph& graph, const Columns& columns, int column);

// Every kernel of `chosen` is in the bank. The report has the figures of the plan itself; the caller fills in
// the others.
BuiltPlan build_plan(const Graph& graph, const Columns& columns, const std::vector<int>& chosen,
                     KernelBank& bank, const Device& target, Accuracy accuracy);

// Adds the accesses of each kernel's slices (Kernel::accesses) if it has a tile graph: for a plan that is to
// be run by tasks.
void add_accesses(BuiltPlan& built);

}  // namespace korch
