// Task graphs with one edge less: who triggers an event does not, and the event does not wait for it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "korch/plan/task_graph.h"

namespace korch::testing {

// An event that a task or another event triggers.
struct Edge {
  bool of_task = false;
  size_t from = 0, place = 0;  // among its triggers
};

inline std::vector<Edge> edges_of(const TaskGraph& graph) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < graph.tasks.size(); ++i)
    for (size_t t = 0; t < graph.tasks[i].triggers.size(); ++t) edges.push_back({true, i, t});
  for (size_t e = 0; e < graph.events.size(); ++e)
    for (size_t t = 0; t < graph.events[e].then.size(); ++t) edges.push_back({false, e, t});
  return edges;
}

inline TaskGraph without(const TaskGraph& graph, const Edge& edge) {
  TaskGraph less = graph;
  std::vector<int>& triggers = edge.of_task ? less.tasks[edge.from].triggers : less.events[edge.from].then;
  --less.events[static_cast<size_t>(triggers[edge.place])].needed;
  triggers.erase(triggers.begin() + static_cast<std::ptrdiff_t>(edge.place));
  return less;
}

}  // namespace korch::testing
