// What rewrite rules make of a graph.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/text.h"
#include "korch/rewrite/alternatives.h"

namespace korch {

// The graph with one producer for a Value that has several.
inline Graph with_producer(const Graph& graph, ValueId value, NodeId producer) {
  Graph chosen = graph;
  for (NodeId other : graph.value(value).producers)
    if (other != producer) chosen.kill_node(other);
  chosen.remove_dead_nodes();
  return chosen;
}

// What a rule makes of a graph, one graph per alternative.
inline std::vector<Graph> variants(const Graph& graph, const std::vector<RewriteRule>& rules,
                                   const std::string& rule) {
  const Rewritten rewritten =
      add_alternatives(graph, {.only = {rule}, .bytes = true, .floats = true, .fold = false}, rules);
  std::vector<Graph> result;
  if (print(rewritten.base) != print(graph)) result.push_back(rewritten.base);
  for (ValueId value = 0; value < rewritten.graph.value_count(); ++value) {
    const std::vector<NodeId>& producers = rewritten.graph.value(value).producers;
    for (size_t i = 1; i < producers.size(); ++i)
      result.push_back(with_producer(rewritten.graph, value, producers[i]));
  }
  return result;
}

}  // namespace korch
