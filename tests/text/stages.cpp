#include "stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>

#include "korch/candidate/candidate.h"
#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

std::string parse(Graph graph) {
  verify(graph, Stage::imported);
  return print(graph);
}

std::string fold(Graph graph) {
  fold_constants(graph, INT64_MAX);
  graph.remove_dead_nodes();
  return print(graph.compact());
}

std::string fissioned(Graph graph) {
  const Graph result = fission(graph);
  verify(result, Stage::primitive);
  return print(result);
}

std::string names(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> result;
  for (ValueId id : values) result.push_back(graph.value(id).name);
  return fmt::format("{}", fmt::join(result, " "));
}

// One line per candidate: its nodes by the Values they make, then its outputs.
std::string candidates(Graph graph) {
  const Enumeration enumeration = enumerate_candidates(graph);
  std::string text;
  for (const Candidate& candidate : enumeration.candidates) {
    std::vector<ValueId> made;
    for (NodeId node : candidate.nodes) made.push_back(graph.node(node).outputs[0]);
    text += fmt::format("{{{}}} -> {}\n", names(graph, made), names(graph, candidate.outputs));
  }
  for (const auto& [rule, count] : enumeration.pruned) text += fmt::format("pruned {}: {}\n", rule, count);
  return text;
}

}  // namespace

std::string run_stage(const std::string& stage, const std::string& input) {
  static const std::map<std::string, std::string (*)(Graph)> stages = {
      {"parse", parse}, {"fold", fold}, {"fission", fissioned}, {"candidates", candidates}};
  const auto found = stages.find(stage);
  if (found == stages.end()) throw Error(ErrorKind::usage, "unknown stage '" + stage + "'");
  return found->second(parse_graph(input));
}

}  // namespace korch
