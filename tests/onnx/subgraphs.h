// Graphs within graphs: what If, Loop and Scan hold.
#pragma once

#include <string>
#include <vector>

#include "onnx.pb.h"

namespace korch {

inline onnx::proto::GraphProto& body_of(onnx::proto::NodeProto& node, const std::string& name) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::GRAPH);
  return *attribute->mutable_g();
}
inline onnx::proto::NodeProto& add(onnx::proto::GraphProto& graph, const std::string& op_type,
                                   const std::vector<std::string>& inputs, const std::string& output) {
  onnx::proto::NodeProto& node = *graph.add_node();
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}
inline void add_inputs(onnx::proto::GraphProto& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) graph.add_input()->set_name(name);
}
inline void add_outputs(onnx::proto::GraphProto& graph, const std::vector<std::string>& names) {
  for (const std::string& name : names) graph.add_output()->set_name(name);
}

}  // namespace korch
