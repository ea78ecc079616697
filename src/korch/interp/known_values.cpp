#include "korch/interp/known_values.h"

#include <algorithm>
#include <vector>

#include "korch/base/error.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/refusal.h"

namespace korch {
namespace {

constexpr int64_t kMostKnownElements = 64;  // of a tensor that an extent is made of

}  // namespace

KnownValues::KnownValues(const Graph& graph, const std::map<ValueId, int64_t>& numbers) : graph_(graph) {
  for (const auto& [value, number] : numbers)
    known_.emplace(value, HostTensor::of<int64_t>(DType::i64, {}, {number}));
}

std::optional<int64_t> KnownValues::number(ValueId value) {
  const HostTensor* found = tensor(value);
  return found == nullptr ? std::nullopt : std::optional(element_as_int(*found, 0));
}

const HostTensor* KnownValues::tensor(ValueId value) {
  if (const auto known = known_.find(value); known != known_.end()) return &known->second;
  const std::vector<NodeId>& producers = graph_.value(value).producers;
  if (producers.empty()) return nullptr;
  const Node& node = graph_.node(producers[0]);
  std::vector<TensorType> types;
  for (const ValueId output : node.outputs) {
    types.push_back(graph_.value(output).type);
    if (types.back().elements() > kMostKnownElements) return nullptr;
  }
  std::vector<HostTensor> inputs;
  for (const ValueId input : node.inputs) {
    const HostTensor* operand = tensor(input);
    if (operand == nullptr) return nullptr;
    inputs.push_back(*operand);
  }
  std::vector<HostTensor> results = evaluate_node(node, inputs, types, Precision::native);
  for (size_t i = 0; i < results.size(); ++i) known_.emplace(node.outputs[i], std::move(results[i]));
  return &known_.at(value);
}

bool KnownValues::are_refused() {
  for (NodeId id = 0; id < graph_.node_count(); ++id) {
    const Node& node = graph_.node(id);
    if (std::none_of(node.origins.begin(), node.origins.end(),
                     [](const std::string& origin) { return origin.starts_with(kRefusal); }))
      continue;
    try {
      tensor(node.outputs[0]);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid) throw;
      return true;
    }
  }
  return false;
}

}  // namespace korch
