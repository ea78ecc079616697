#include "korch/block/prove.h"

#include <algorithm>
#include <map>

namespace korch::block {
namespace {

int copy_once(const Terms& from, int term, Terms& to, std::map<int, int>& copies) {
  const auto known = copies.find(term);
  if (known != copies.end()) return known->second;
  Term copy = from.terms[term];
  for (int& arg : copy.args) arg = copy_once(from, arg, to, copies);
  return copies[term] = to.add(std::move(copy));
}

}  // namespace

int copy_term(const Terms& from, int term, Terms& to) {
  std::map<int, int> copies;
  return copy_once(from, term, to, copies);
}

Proof prove(const Terms& terms, const std::vector<std::pair<int, int>>& pairs,
            const SaturationLimits& limits) {
  EGraph graph(terms.axes, terms.leaves);
  std::vector<int> wanted;
  for (const auto& [a, b] : pairs) wanted.insert(wanted.end(), {a, b});
  const std::vector<ClassId> classes = graph.add(terms, wanted);
  Proof proof;
  proof.saturation = saturate(graph, limits);
  proof.proven = !graph.contradiction() && std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    return graph.same(classes[pair.first], classes[pair.second]);
  });
  return proof;
}

Proof prove(const Terms& group, const BlockGraph& graph, const SaturationLimits& limits) {
  if (graph.leaves != group.leaves || graph.axes != group.axes ||
      graph.results.size() != group.results.size())
    return {};
  Meaning meaning = meaning_of(graph);
  std::vector<std::pair<int, int>> pairs;
  for (size_t i = 0; i < group.results.size(); ++i)
    pairs.push_back({meaning.terms.results[i], copy_term(group, group.results[i], meaning.terms)});
  const Proof of_results = prove(meaning.terms, pairs, limits);
  if (!of_results.proven || meaning.equations.empty()) return of_results;
  // Of the first blocks as of all: what a sum over the whole axis is by its extent counts for nothing.
  for (int loop : graph.loops) meaning.of_accumulators.axes[loop].extent = 0;
  return prove(meaning.of_accumulators, meaning.equations, limits);
}

}  // namespace korch::block
