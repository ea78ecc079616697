// The interpreter: the slow, plain oracle, also used to fold constants. Covers every operator of the table.
//
// Precision::float64 computes float types in double from the first to the last node (values are stored as
// f64); Precision::native computes in the Graph's own types. Of several producers of a Value the first is
// used.
#pragma once

#include <functional>
#include <vector>

#include "korch/base/stop_check.h"
#include "korch/ir/loops.h"

namespace korch {

enum class Precision { float64, native };

// One node: inputs and outputs in the order of the node. In float64, float tensors are f64.
std::vector<HostTensor> evaluate_node(const Node& node, const std::vector<HostTensor>& inputs,
                                      const std::vector<TensorType>& output_types, Precision precision);
// As above; long operators ask `stop` while they compute, and end with what it throws.
std::vector<HostTensor> evaluate_node(const Node& node, const std::vector<HostTensor>& inputs,
                                      const std::vector<TensorType>& output_types, Precision precision,
                                      StopCheck& stop);

// The nodes that compute the graph's outputs, each Value by its first producer; producers before users.
std::vector<NodeId> needed_nodes(const Graph& graph);

// On these inputs a loop takes more iterations than allowed.
class LoopWithoutEnd : public Error {
 public:
  LoopWithoutEnd(const std::string& node, int64_t steps);
};

// The whole graph. `inputs` in the order of graph.inputs(). Values are freed when dead, except those `keep`
// asks for; `observe`, if set, sees every Value as it is computed. Throws Error{invalid} on inputs of wrong
// type, and on gather indices out of range, naming the node, and LoopWithoutEnd.
struct InterpretOptions {
  Precision precision = Precision::float64;
  std::function<void(ValueId, const HostTensor&)> observe;
  int64_t most_steps = kMostSteps;  // of a loop
  Deadline deadline = {};           // after which BudgetSpent is thrown, within an operator too
};
std::vector<HostTensor> interpret(const Graph& graph, const std::vector<HostTensor>& inputs,
                                  const InterpretOptions& options = {});
// As above, asking this instead of the options' deadline.
std::vector<HostTensor> interpret(const Graph& graph, const std::vector<HostTensor>& inputs,
                                  const InterpretOptions& options, StopCheck& stop);

// The shapes of these outputs of the graph that count: bounded extents as the data have them.
std::vector<Shape> output_shapes(const Graph& graph, const std::vector<HostTensor>& outputs);

// Replaces nodes whose inputs are all constants by constants (native precision), unless the result would be
// larger than `max_growth_bytes` more than what it replaces, or all of them would take too long (work.h).
// Returns the number of folded nodes.
int fold_constants(Graph& graph, int64_t max_growth_bytes);

}  // namespace korch
