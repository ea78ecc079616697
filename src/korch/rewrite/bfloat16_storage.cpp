#include "korch/rewrite/bfloat16_storage.h"

#include <algorithm>

namespace korch {
namespace {

constexpr int64_t kLeastBytes = 64 << 10;  // what is smaller stays in the nearest caches

// Whether a kernel that makes an operand of the node goes on with it as often as not: elementwise nodes of
// one computed operand.
bool continues_its_operand(const Graph& graph, const Node& node) {
  if (info(node.op).category != Category::elementwise && node.op != Op::Reshape) return false;
  return std::count_if(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId input) { return graph.constant(input) == nullptr; }) == 1;
}

bool is_made_by_one_of(const Graph& graph, ValueId value, const std::set<std::string>& names) {
  const auto& producers = graph.value(value).producers;
  return std::any_of(producers.begin(), producers.end(), [&](NodeId producer) {
    const auto& origins = graph.node(producer).origins;
    return std::any_of(origins.begin(), origins.end(),
                       [&](const std::string& origin) { return names.count(origin) != 0; });
  });
}

std::vector<ValueId> storable_values(const Graph& graph, const std::set<std::string>& kept) {
  std::vector<ValueId> values;
  for (NodeId id : graph.topological_order())
    for (ValueId value : graph.node(id).outputs)
      if (may_be_stored_as_bfloat16(graph, value) && !is_made_by_one_of(graph, value, kept) &&
          std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
  return values;
}

}  // namespace

bool may_be_stored_as_bfloat16(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (v.type.dtype != DType::f32 || v.type.bytes() < kLeastBytes || v.producers.empty()) return false;
  if (std::count(graph.outputs().begin(), graph.outputs().end(), value) != 0) return false;
  for (NodeId producer : v.producers) {
    const Node& node = graph.node(producer);
    if (node.op == Op::Constant || node.op == Op::Cast || node.origins.empty()) return false;
  }
  return v.users.size() > 1 || (v.users.size() == 1 && !continues_its_operand(graph, graph.node(v.users[0])));
}

void add_bfloat16_storage(const Graph& base, Rewriter& rewriter, const std::set<std::string>& kept) {
  for (ValueId value : storable_values(base, kept)) {
    if (rewriter.is_constant(value)) continue;
    rewriter.begin(kStorageAsBfloat16, base.value(value).producers[0], false);
    const ValueId stored = rewriter.emit(Op::Cast, CastAttrs{DType::bf16}, {value});
    rewriter.equate(value, rewriter.emit(Op::Cast, CastAttrs{DType::f32}, {stored}));
  }
}

Graph with_bfloat16_storage(const Graph& graph, const std::set<std::string>& kept) {
  Graph result = graph;
  for (ValueId value : storable_values(graph, kept)) {
    const NodeId maker = result.value(value).producers[0];
    const Node node = result.node(maker);
    std::vector<ValueId> outputs = node.outputs;
    const auto place = std::find(outputs.begin(), outputs.end(), value) - outputs.begin();
    outputs[static_cast<size_t>(place)] = kNoId;
    result.kill_node(maker);
    const NodeId exact = result.add_alternative(node.op, node.attrs, node.inputs, outputs, node.origins);
    const ValueId stored = result.add(Op::Cast, CastAttrs{DType::bf16},
                                      {result.node(exact).outputs[static_cast<size_t>(place)]}, node.origins);
    result.add_alternative(Op::Cast, CastAttrs{DType::f32}, {stored}, {value}, node.origins);
  }
  return result;
}

}  // namespace korch
