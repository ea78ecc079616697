#include "korch/candidate/execution_states.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "korch/candidate/atom_graph.h"

namespace korch {
namespace {

// The atoms, each after all that it follows from and as late as that allows: what others wait for stays
// little.
std::vector<AtomId> order_by_demand(const AtomGraph& atoms) {
  std::vector<AtomId> order, stack;
  std::vector<bool> is_open(atoms.size(), false), is_done(atoms.size(), false);
  for (AtomId last = atoms.size() - 1; last >= 0; --last) {
    if (atoms.atom(last).consumers.empty()) stack.push_back(last);
  }
  while (!stack.empty()) {
    const AtomId atom = stack.back();
    if (is_open[atom]) {
      stack.pop_back();
      if (!is_done[atom]) order.push_back(atom);
      is_done[atom] = true;
      continue;
    }
    is_open[atom] = true;
    for (AtomId producer : atoms.atom(atom).producers)
      if (!is_open[producer]) stack.push_back(producer);
  }
  return order;
}

// Goes over the atoms once. A frontier says which of the atoms passed that others still wait for are in the
// state; all states that agree in it are counted together.
class StateCount {
 public:
  explicit StateCount(const AtomGraph& atoms) : atoms_(atoms), waiting_(atoms.size()) {
    for (AtomId a = 0; a < atoms.size(); ++a) waiting_[a] = static_cast<int>(atoms.atom(a).consumers.size());
  }

  std::optional<double> run(size_t max_frontiers) {
    for (AtomId atom : order_by_demand(atoms_)) {
      pass(atom);
      if (counts_.size() > max_frontiers) return std::nullopt;
    }
    double sum = 0;
    for (const auto& [frontier, count] : counts_) sum += count;
    if (!std::isfinite(sum)) return std::nullopt;
    return sum;
  }

 private:
  void pass(AtomId atom) {
    const std::vector<AtomId>& producers = atoms_.atom(atom).producers;
    for (AtomId producer : producers) --waiting_[producer];
    std::vector<size_t> needed, kept;  // places in the frontier
    std::vector<AtomId> frontier;
    for (size_t i = 0; i < frontier_.size(); ++i) {
      if (std::binary_search(producers.begin(), producers.end(), frontier_[i])) needed.push_back(i);
      if (waiting_[frontier_[i]] == 0) continue;
      kept.push_back(i);
      frontier.push_back(frontier_[i]);
    }
    if (waiting_[atom] > 0) frontier.push_back(atom);
    std::unordered_map<std::string, double> counts;
    for (const auto& [before, count] : counts_) {
      std::string after;
      for (size_t i : kept) after += before[i];
      const bool may_join =
          std::all_of(needed.begin(), needed.end(), [&](size_t i) { return before[i] == '1'; });
      if (waiting_[atom] == 0) {
        counts[after] += may_join ? 2 * count : count;
        continue;
      }
      counts[after + '0'] += count;
      if (may_join) counts[after + '1'] += count;
    }
    frontier_ = std::move(frontier);
    counts_ = std::move(counts);
  }

  const AtomGraph& atoms_;
  std::vector<int> waiting_;  // consumers that were not passed
  std::vector<AtomId> frontier_;
  std::unordered_map<std::string, double> counts_ = {{"", 1}};
};

}  // namespace

std::optional<double> count_execution_states(const Graph& graph, size_t max_frontiers) {
  const AtomGraph atoms(graph, 1);
  return StateCount(atoms).run(max_frontiers);
}

}  // namespace korch
