#include "korch/codegen/loop/related_output.h"

#include <map>

#include "korch/codegen/loop/index_map.h"

namespace korch::tile {

std::optional<std::vector<Index>> follow(const Graph& graph, const Candidate& candidate, ValueId from,
                                         const std::vector<Index>& coords, ValueId to) {
  std::map<ValueId, std::vector<Index>> known = {{from, coords}};
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    const ValueId output = node.outputs[0];
    const bool elementwise = info(node.op).category == Category::elementwise;
    if (known.count(output) != 0 || (!elementwise && node.op != Op::Transpose && node.op != Op::Reshape))
      continue;
    const Shape& shape = graph.value(output).type.shape;
    for (ValueId input : node.inputs) {
      const Shape& in = graph.value(input).type.shape;
      const auto at = known.find(input);
      if (at == known.end() || (elementwise && in != shape)) continue;
      std::vector<Index> place = at->second;
      if (node.op == Op::Reshape) place = unflatten(flatten(at->second, in), shape);
      if (node.op == Op::Transpose) {
        const auto& perm = std::get<PermAttrs>(node.attrs).perm;
        for (size_t axis = 0; axis < perm.size(); ++axis) place[axis] = at->second[perm[axis]];
      }
      known.emplace(output, std::move(place));
      break;
    }
  }
  const auto found = known.find(to);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace korch::tile
