// The two changes that a simplification makes to a Graph. Origins of removed nodes go to the nodes that stay.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

std::vector<std::string> merged_origins(std::vector<std::string> first,
                                        const std::vector<std::string>& second);

// The node's output is another Value: users read `value` instead, the node dies.
void replace_by_value(Graph& graph, NodeId node, ValueId value);

// The node's output is computed by another node; `also` are origins it inherits besides those of the old
// node.
void replace_by_node(Graph& graph, NodeId node, Op op, Attrs attrs, std::vector<ValueId> inputs,
                     const std::vector<std::string>& also = {});

// The live producer of a Value when it is one node of this operator, else null; valid until the Graph
// changes.
const Node* producer_of(const Graph& graph, ValueId value, Op op);

}  // namespace korch
