#include <fmt/format.h>

#include "korch/groups/workloads.h"
#include "stages.h"

namespace korch {

std::string terms_text(const Graph& graph, const RunLine&) {
  std::vector<NodeId> nodes;
  for (NodeId id : graph.topological_order())
    if (graph.constant(graph.node(id).outputs[0]) == nullptr) nodes.push_back(id);
  const Result<groups::GroupTerms> group =
      groups::terms_of(graph, make_candidate(graph, nodes, graph.outputs()));
  if (!group) return fmt::format("refused ({}): {}\n", name(group.refusal().reason), group.refusal().detail);
  return groups::print(graph, group.value());
}

std::string workloads_text(const Graph& graph, const RunLine& line) {
  const groups::Workloads found = groups::find_workloads(graph, line.target);
  std::string text;
  for (const groups::Workload& workload : found.groups)
    text +=
        fmt::format("{} -> {}: saves {:.0f} of {:.0f} us\n", operators_text(graph, workload.candidate.nodes),
                    graph.value(workload.candidate.outputs[0]).name, workload.saved_us,
                    workload.saved_us + workload.fused_us);
  text += fmt::format("links {}, sets {}\n", found.links, found.sets);
  for (const auto& [rule, count] : found.dropped) text += fmt::format("dropped {}: {}\n", rule, count);
  for (const auto& [detail, count] : found.refused)
    text += fmt::format("refused: {}, {} times\n", detail, count);
  return text;
}

}  // namespace korch
