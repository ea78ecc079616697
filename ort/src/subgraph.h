// Subgraph: nodes of a Network as a model of their own, and the key under which its executable is kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/base/hash.h"
#include "network.h"

namespace korch::ort {

// The same nodes give the same Subgraph, in whatever order ONNX Runtime lists them. Inputs, outputs and
// initializers are sorted by name. Larger constants are not in the model: it refers to them as external data
// in a file kWeightsFile beside it, which `weights` make one after the other.
struct Subgraph {
  proto::ModelProto model;
  std::vector<std::string_view> weights;  // ONNX Runtime's memory
  std::vector<std::string> inputs, outputs;
  Hash content() const;  // of the model and its weights
};

inline constexpr const char* kWeightsFile = "weights";

// `nodes` as find_support gives them. Outputs are what other nodes or the graph's outputs read of them.
Subgraph subgraph_of(const Network& network, const std::vector<int>& nodes);

}  // namespace korch::ort
