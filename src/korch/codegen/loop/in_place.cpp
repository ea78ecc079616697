#include "korch/codegen/loop/in_place.h"

namespace korch::loop {

std::vector<std::pair<int, int>> in_place_pairs(const Graph& graph, const Candidate& candidate,
                                                const Program& program) {
  std::vector<std::pair<int, int>> pairs;
  if (program.nests.size() != 1 || program.nests[0].targets.size() != 1) return pairs;
  const NestTarget& target = program.nests[0].targets[0];
  const TensorType& output = graph.value(candidate.outputs[0]).type;
  const std::vector<int> nodes = program.pool->reachable(program.roots(program.nests[0]));
  for (size_t i = 0; i < candidate.inputs.size(); ++i) {
    const TensorType& input = graph.value(candidate.inputs[i]).type;
    bool same = size_bytes(input.dtype) == size_bytes(output.dtype) && input.elements() == output.elements();
    for (int node : nodes) {
      const Expr& e = (*program.pool)[node];
      if (e.kind == ExprKind::load && e.buffer == static_cast<int>(i))
        same = same && e.coords[0] == target.offset;
    }
    if (same) pairs.push_back({static_cast<int>(i), 0});
  }
  return pairs;
}

}  // namespace korch::loop
