// Inputs of networks with open dimensions (ir/graph.h): the interpreter takes tensors at their bounds and the
// extents behind them, an executable tensors of these extents.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

// What an executable is given, of what the interpreter is.
std::vector<HostTensor> dense_inputs(const Graph& graph, const std::vector<HostTensor>& inputs);

// With these extents, by the dimensions' names.
std::vector<HostTensor> with_extents(const Graph& graph, std::vector<HostTensor> inputs,
                                     const std::map<std::string, int64_t>& extents);

}  // namespace korch
