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
      known.emplace(output, elementwise ? at->second : result_coords(graph, node, at->second));
      break;
    }
  }
  const auto found = known.find(to);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace korch::tile
