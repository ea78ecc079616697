#include "korch/rewrite/bfloat16_products.h"

#include <algorithm>

namespace korch {
namespace {

constexpr int64_t kLeastTerms = 16;  // fewer are faster in float32, since operands are rounded first

bool stems_from_one_of(const Node& node, const std::set<std::string>& names) {
  return std::any_of(node.origins.begin(), node.origins.end(),
                     [&](const std::string& origin) { return names.count(origin) != 0; });
}

Attrs with_wide_result(Attrs attrs) {
  if (auto* matmul = std::get_if<MatMulAttrs>(&attrs)) matmul->wide_result = true;
  if (auto* conv = std::get_if<ConvAttrs>(&attrs)) conv->wide_result = true;
  return attrs;
}

}  // namespace

bool may_be_of_bfloat16(const Graph& graph, const Node& node) {
  if ((node.op != Op::MatMul && node.op != Op::Conv) || node.dead || node.inputs.size() != 2 ||
      node.origins.empty())
    return false;
  for (ValueId input : node.inputs)
    if (graph.value(input).type.dtype != DType::f32) return false;
  const Shape& weights = graph.value(node.inputs[1]).type.shape;
  if (node.op == Op::Conv)
    return graph.constant(node.inputs[1]) != nullptr && (weights.size() == 3 || weights.size() == 4) &&
           weights[1] >= kLeastTerms;
  const auto& attrs = std::get<MatMulAttrs>(node.attrs);
  return weights[weights.size() - (attrs.transpose_b ? 1 : 2)] >= kLeastTerms;
}

void add_bfloat16_products(Graph& graph, Rewriter& rewriter, const std::set<std::string>& kept) {
  std::vector<NodeId> products;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (may_be_of_bfloat16(graph, node) && !stems_from_one_of(node, kept) &&
        !rewriter.is_constant(node.outputs[0]))
      products.push_back(id);
  }
  for (NodeId id : products) {
    const Node node = graph.node(id);
    rewriter.begin(kProductOfBfloat16, id, false);
    std::vector<ValueId> operands;
    for (ValueId input : node.inputs)
      operands.push_back(rewriter.emit(Op::Cast, CastAttrs{DType::bf16}, {input}));
    rewriter.equate(node.outputs[0],
                    rewriter.emit(node.op, with_wide_result(node.attrs), std::move(operands)));
  }
}

Graph with_bfloat16_products(const Graph& graph, const std::set<std::string>& kept) {
  Graph result = graph;
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (!may_be_of_bfloat16(graph, node) || stems_from_one_of(node, kept)) continue;
    std::vector<ValueId> operands;
    for (ValueId input : node.inputs)
      operands.push_back(result.add(Op::Cast, CastAttrs{DType::bf16}, {input}, node.origins));
    result.kill_node(id);
    result.add_alternative(node.op, with_wide_result(node.attrs), std::move(operands), node.outputs,
                           node.origins);
  }
  return result;
}

}  // namespace korch
