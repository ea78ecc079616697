// The primitive graph that a plan carries (PlanGraph): written when the plan is made, read when its kernels
// are judged. Constants stand in it by their hashes; their data are in the network.
#pragma once

#include <map>

#include "korch/ir/graph.h"
#include "korch/plan/plan.h"
#include "korch/rewrite/alternatives.h"

namespace korch {

// Of a plan without shape plans for `rewritten.graph`, which was made of `primitive`.
PlanGraph plan_graph(const Graph& primitive, const Rewritten& rewritten, const Plan& plan);

struct PlanPrimitives {
  Graph graph;                     // its outputs are what steps read and write, in the steps' order
  std::map<int64_t, ValueId> ids;  // PlanTensor::value -> the Value in `graph`
};

// Reads it. `imported`: the network that the plan was made for. Throws Error{invalid} if the network lacks a
// constant, or the text is none of plan_graph.
PlanPrimitives read_plan_graph(const PlanGraph& written, const Graph& imported);

}  // namespace korch
