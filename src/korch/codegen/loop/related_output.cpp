#include "korch/codegen/loop/related_output.h"

#include "korch/codegen/loop/index_map.h"

namespace korch::loop {

std::optional<std::vector<Index>> follow(const Graph& graph, const Composer& composer, ValueId from,
                                         const std::vector<Index>& coords, ValueId to) {
  if (from == to) return coords;
  const Node* node = composer.producer(to);
  if (node == nullptr) return std::nullopt;
  const bool elementwise = info(node->op).category == Category::elementwise;
  if (!elementwise && node->op != Op::Transpose && node->op != Op::Reshape) return std::nullopt;
  const Shape& shape = graph.value(to).type.shape;
  for (ValueId input : node->inputs) {
    const Shape& in = graph.value(input).type.shape;
    if (elementwise && in != shape) continue;
    const std::optional<std::vector<Index>> at = follow(graph, composer, from, coords, input);
    if (!at || elementwise) {
      if (at) return at;
      continue;
    }
    if (node->op == Op::Reshape) return unflatten(flatten(*at, in), shape);
    const auto& perm = std::get<PermAttrs>(node->attrs).perm;
    std::vector<Index> result(perm.size());
    for (size_t axis = 0; axis < perm.size(); ++axis) result[axis] = (*at)[perm[axis]];
    return result;
  }
  return std::nullopt;
}

}  // namespace korch::loop
