// Which inputs of a network take what its outputs gave in the run before (tensor/state.h).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "korch/ir/graph.h"
#include "korch/onnx/import.h"
#include "onnx.pb.h"

namespace korch::onnx {

using NamePairs = std::vector<std::pair<std::string, std::string>>;  // of an input and an output

// Inputs to which rows may be appended in place: those that are wanted as states or, if states are to be
// found, all; but not those that several nodes read, or one that makes no output of the graph.
std::set<std::string> growing_inputs(const proto::GraphProto& graph, const StateOptions& options);

// First and last states of LSTM, GRU and RNN that are an input and an output of the graph.
NamePairs recurrent_states(const proto::GraphProto& graph);

// The states of an imported graph: those that are wanted and, if they are to be found, others. Error{usage}
// where a pair cannot be a state.
std::vector<StatePair> find_states(const Graph& graph, const StateOptions& options,
                                   const NamePairs& recurrent);

}  // namespace korch::onnx
