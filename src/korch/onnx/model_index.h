// ModelIndex: the nodes of a model's graph in an order in which they can be imported.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx.pb.h"

namespace korch::onnx {

struct ModelIndex {
  std::vector<std::string> labels;            // per node: its name, or "<operator>_<index>"
  std::vector<int> order;                     // live nodes, producers first
  std::unordered_map<std::string, int> uses;  // of a value by live nodes and graph outputs
};

// The values that a node reads: its inputs, and values of outer graphs that its subgraphs read.
std::vector<std::string> reads(const proto::NodeProto& node);
// Values that a graph reads and does not have, each once.
std::set<std::string> captures(const proto::GraphProto& graph);

// Throws Error{invalid} on a value that is made twice, that nobody makes, and on cycles. `sources` are the
// names of initializers and graph inputs. Live nodes are those that a graph output depends on.
ModelIndex index_model(const proto::GraphProto& graph, const std::vector<std::string>& sources);

// Of ONNX's own operators.
bool is_onnx_domain(const std::string& domain);
// 'Conv', with the domain where it is not ONNX's, fit for a message.
std::string operator_name(const proto::NodeProto& node);
// 'node "Conv_0" (Conv)'.
std::string describe(const proto::NodeProto& node, const std::string& label);

}  // namespace korch::onnx
