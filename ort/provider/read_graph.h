// A graph of ONNX Runtime as a Network.
#pragma once

#include <vector>

#include "api.h"
#include "network.h"

namespace korch::ort {

struct ReadGraph {
  Network network;                    // its constants' bytes live as long as the graph
  std::vector<const OrtNode*> nodes;  // as the network numbers them
};

ReadGraph read_graph(const Api& api, const OrtGraph* graph);

// "" where the operator leaves it out.
std::vector<std::string> input_names(const Api& api, const OrtNode* node);
std::vector<std::string> output_names(const Api& api, const OrtNode* node);

}  // namespace korch::ort
