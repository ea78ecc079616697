#include "korch/ir/append.h"

#include <algorithm>

namespace korch {

std::vector<Appended> appended_inputs(const Graph& graph) {
  std::vector<Appended> found;
  const std::vector<ValueId>&inputs = graph.inputs(), &outputs = graph.outputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<NodeId>& users = graph.value(inputs[i]).users;
    if (users.size() != 1 || std::count(outputs.begin(), outputs.end(), inputs[i]) != 0) continue;
    const Node& node = graph.node(users[0]);
    if (node.dead || node.op != Op::Append || node.inputs[0] != inputs[i] || node.inputs[1] == inputs[i])
      continue;
    const auto output = std::find(outputs.begin(), outputs.end(), node.outputs[0]);
    if (output == outputs.end() || std::count(output, outputs.end(), *output) != 1) continue;
    found.push_back({users[0], static_cast<int>(i), static_cast<int>(output - outputs.begin())});
  }
  return found;
}

}  // namespace korch
