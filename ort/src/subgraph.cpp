#include "subgraph.h"

#include <algorithm>
#include <set>

#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::ort {
namespace {

constexpr size_t kMostInlineBytes = 1 << 10;

void set_entry(proto::TensorProto& tensor, const char* key, const std::string& value) {
  auto* entry = tensor.add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

void add_constants(const Network& network, const std::set<std::string>& names, Subgraph& result) {
  uint64_t offset = 0;
  for (const std::string& name : names) {
    const Constant& constant = network.constants.at(name);
    proto::TensorProto& tensor = *result.model.mutable_graph()->add_initializer() = constant.header;
    tensor.set_name(name);
    if (constant.bytes.size() <= kMostInlineBytes) {
      tensor.set_raw_data(constant.bytes.data(), constant.bytes.size());
      continue;
    }
    tensor.set_data_location(proto::TensorProto::EXTERNAL);
    set_entry(tensor, "location", kWeightsFile);
    set_entry(tensor, "offset", std::to_string(offset));
    set_entry(tensor, "length", std::to_string(constant.bytes.size()));
    offset += constant.bytes.size();
    result.weights.push_back(constant.bytes);
  }
}

void declare(const Network& network, const std::string& name, proto::ValueInfoProto& info) {
  info.set_name(name);
  *info.mutable_type() = network.types.at(name);
}

}  // namespace

Subgraph subgraph_of(const Network& network, const std::vector<int>& nodes) {
  std::set<std::string> made, read, read_elsewhere(network.outputs.begin(), network.outputs.end());
  std::vector<const proto::NodeProto*> members;
  std::vector<bool> inside(network.nodes.size());
  for (int node : nodes) {
    inside[node] = true;
    members.push_back(&network.nodes[node]);
    for (const std::string& name : network.nodes[node].output()) made.insert(name);
    for (const std::string& name : network.nodes[node].input()) read.insert(name);
  }
  for (size_t i = 0; i < network.nodes.size(); ++i)
    if (!inside[i]) read_elsewhere.insert(network.nodes[i].input().begin(), network.nodes[i].input().end());

  Subgraph result;
  std::set<std::string> constants;
  for (const std::string& name : read) {
    if (name.empty() || made.contains(name)) continue;
    if (network.constants.contains(name))
      constants.insert(name);
    else
      result.inputs.push_back(name);
  }
  for (const std::string& name : made)
    if (!name.empty() && read_elsewhere.contains(name)) result.outputs.push_back(name);

  constexpr int kIrVersion = 8;
  result.model.set_ir_version(kIrVersion);
  result.model.add_opset_import()->set_version(std::min(network.opset, onnx::kLatestOpset));
  proto::GraphProto& graph = *result.model.mutable_graph();
  // By what they make, which is unique: a node's name need not be.
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
    return std::lexicographical_compare(a->output().begin(), a->output().end(), b->output().begin(),
                                        b->output().end());
  });
  for (const proto::NodeProto* node : members) *graph.add_node() = *node;
  if (std::any_of(members.begin(), members.end(),
                  [](const auto* node) { return node->domain() == onnx::kRuntimeDomain; })) {
    result.model.add_opset_import()->set_domain(onnx::kRuntimeDomain);
    result.model.mutable_opset_import(1)->set_version(1);
  }
  for (const std::string& name : result.inputs) declare(network, name, *graph.add_input());
  for (const std::string& name : result.outputs) declare(network, name, *graph.add_output());
  add_constants(network, constants, result);
  return result;
}

Hash Subgraph::content() const {
  std::string text = hash_text(onnx::serialize(model)).hex();
  for (const std::string_view bytes : weights) text += hash_bytes(bytes.data(), bytes.size()).hex();
  return hash_text(text);
}

}  // namespace korch::ort
