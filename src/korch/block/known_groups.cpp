#include "korch/block/known_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace korch::block {
namespace {

// The graph without grid and loops that computes the terms, one step for each.
BlockGraph plain_graph(const Terms& terms) {
  BlockGraph graph;
  graph.axes = terms.axes;
  for (Axis& axis : graph.axes) axis.extent = 0;
  graph.leaves = terms.leaves;
  for (size_t i = 0; i < terms.leaves.size(); ++i) graph.leaf_names.push_back(fmt::format("x{}", i));
  for (const Term& term : terms.terms) {
    Step step;
    switch (term.kind) {
      case TermKind::leaf:
        step.kind = Step::Kind::leaf;
        step.leaf = term.leaf;
        break;
      case TermKind::number:
        step.kind = Step::Kind::number;
        step.number = term.number;
        break;
      case TermKind::call:
        step.kind = Step::Kind::call;
        step.op = term.op;
        step.scalars = term.scalars;
        break;
      case TermKind::fold:
        step.kind = Step::Kind::fold;
        step.combine = term.combine;
        step.over = term.over;
        break;
      case TermKind::window:
        step.kind = Step::Kind::window;
        step.window = term.window;
        break;
    }
    step.args = term.args;
    complete(graph, step);
    graph.steps.push_back(std::move(step));
  }
  graph.results = terms.results;
  return graph;
}

}  // namespace

std::string print(const KnownGroup& known) {
  constexpr std::string_view kHead = "block";
  std::string text = "group" + print(plain_graph(known.group)).substr(kHead.size());
  for (BlockGraph graph : known.structures) {
    for (Axis& axis : graph.axes) axis.extent = 0;
    text += print(graph);
  }
  return text;
}

}  // namespace korch::block
