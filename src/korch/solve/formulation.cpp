#include "korch/solve/formulation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "korch/solve/components.h"
#include "korch/solve/landmarks.h"
#include "korch/solve/separate.h"

namespace korch {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kNeverForget = -1;

Formulation::Formulation(const Network& network) : network_(network) {
  const int arcs = static_cast<int>(network.arcs.size());
  int variables = arcs;
  for (int a = 0; a < arcs; ++a) {
    const std::vector<int>& outputs = network.arcs[a].outputs;
    z_.emplace_back();
    for (size_t i = 0; i < outputs.size(); ++i) z_[a].push_back(outputs.size() == 1 ? a : variables++);
  }
  y_ = variables;
  variables += network.node_count;
  mip_.cost.assign(variables, 0);
  mip_.lower.assign(variables, 0);
  mip_.upper.assign(variables, 1);
  mip_.integer.assign(variables, false);
  std::fill_n(mip_.integer.begin(), arcs, true);
  for (const int node : network.required) mip_.lower[y_ + node] = 1;
  add_makers();
  add_reads();
  add_covers();
  find_reorder_rows();
}

int Formulation::first_maker(int arc, int node) const {
  const std::vector<int>& outputs = network_.arcs[arc].outputs;
  return z_[arc][std::lower_bound(outputs.begin(), outputs.end(), node) - outputs.begin()];
}

// y(n) = sum over makers of z(a,n), and z(a,n) <= x(a).
void Formulation::add_makers() {
  for (int node = 0; node < network_.node_count; ++node) {
    Terms terms = {{y_ + node, -1.0}};
    for (const int arc : network_.makers[node]) {
      const int z = first_maker(arc, node);
      terms.push_back({z, 1.0});
      if (z != arc) mip_.rows.add(-kInfinity, 0, {{z, 1.0}, {arc, -1.0}});
    }
    mip_.rows.add(0, 0, terms);
  }
}

// A node has one first maker, which reads its inputs: per node o and input t, sum of z(a,o) over makers that
// read t <= y(t).
void Formulation::add_reads() {
  std::map<int, Terms> by_input;
  for (int node = 0; node < network_.node_count; ++node) {
    by_input.clear();
    for (const int arc : network_.makers[node])
      for (const int input : network_.arcs[arc].inputs)
        by_input[input].push_back({first_maker(arc, node), 1.0});
    for (auto& [input, terms] : by_input) {
      terms.push_back({y_ + input, -1.0});
      mip_.rows.add(-kInfinity, 0, terms);
    }
  }
}

void Formulation::add_covers() {
  const std::vector<MandatoryClass> mandatory = mandatory_classes(network_);
  for (const MandatoryClass& c : mandatory) {
    Terms terms;
    for (const int arc : c.first_covers) terms.push_back({arc, 1.0});
    mip_.rows.add(1, kInfinity, terms);
  }
  for (const MandatoryPair& pair : mandatory_pairs(network_, mandatory)) {
    Terms terms;
    for (const int arc : pair.covers) terms.push_back({arc, 1.0});
    mip_.rows.add(1, kInfinity, terms);
  }
}

void Formulation::find_reorder_rows() {
  std::vector<std::vector<int>> edges(network_.node_count);
  for (const Arc& arc : network_.arcs)
    if (is_reorder(arc)) edges[arc.inputs[0]].push_back(arc.outputs[0]);
  const std::vector<int> component = strong_components(edges);
  std::map<int, std::vector<int>> members;
  for (int node = 0; node < network_.node_count; ++node) members[component[node]].push_back(node);
  for (size_t a = 0; a < network_.arcs.size(); ++a) {
    const Arc& arc = network_.arcs[a];
    if (!is_reorder(arc) || component[arc.inputs[0]] != component[arc.outputs[0]]) continue;
    const std::vector<int>& layouts = members[component[arc.inputs[0]]];
    const std::vector<bool> inside = marked(layouts);
    // z, not x: only who makes something first must have its inputs.
    std::map<int, int> variable_of;
    for (const int node : layouts)
      for (const int maker : network_.makers[node])
        if (!reads(maker, inside)) variable_of.emplace(maker, first_maker(maker, node));
    Terms terms = {{static_cast<int>(a), -1.0}};
    for (const auto& [maker, variable] : variable_of) terms.push_back({variable, 1.0});
    reorder_rows_.add(0, kInfinity, terms);
  }
}

bool Formulation::reads(int arc, const std::vector<bool>& inside) const {
  const std::vector<int>& inputs = network_.arcs[arc].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](int input) { return inside[input]; });
}

std::vector<bool> Formulation::marked(const std::vector<int>& nodes) const {
  std::vector<bool> inside(network_.node_count);
  for (const int node : nodes) inside[node] = true;
  return inside;
}

// Per maker of `nodes` that reads none of them, a variable that is 1 when it is the first to make one of
// them. It is then the first maker of all that it makes of them, so any z will do: the one with the least
// value says most.
Formulation::Terms Formulation::entering(const std::vector<int>& nodes,
                                         std::span<const double> values) const {
  const std::vector<bool> inside = marked(nodes);
  std::map<int, int> variable_of;
  for (const int node : nodes)
    for (const int arc : network_.makers[node]) {
      if (reads(arc, inside)) continue;
      const int z = first_maker(arc, node);
      const auto [known, is_new] = variable_of.try_emplace(arc, z);
      if (!is_new && values[z] < values[known->second]) known->second = z;
    }
  Terms terms;
  for (const auto& [arc, variable] : variable_of) terms.push_back({variable, 1.0});
  return terms;
}

void Formulation::set_costs(std::span<const double> cost_us) {
  for (size_t a = 0; a < cost_us.size(); ++a) {
    const bool possible = std::isfinite(cost_us[a]);
    mip_.cost[a] = possible ? cost_us[a] : 0;
    mip_.upper[a] = possible ? 1 : 0;
  }
}

std::vector<double> Formulation::point(const std::vector<int>& order) const {
  std::vector<double> values(mip_.variable_count(), 0);
  for (const int arc : order) {
    values[arc] = 1;
    for (const int node : network_.arcs[arc].outputs) {
      if (values[y_ + node] == 1) continue;
      values[y_ + node] = 1;
      values[first_maker(arc, node)] = 1;
    }
  }
  return values;
}

std::vector<int> Formulation::chosen(std::span<const double> values) const {
  std::vector<int> arcs;
  for (size_t a = 0; a < network_.arcs.size(); ++a)
    if (values[a] > 0.5) arcs.push_back(static_cast<int>(a));
  return arcs;
}

// Flows to the required nodes go around what is split between makers where a path beside it is whole, so that
// nodes with several makers are targets too: a few at a time, in turn, since every row makes the relaxation
// slower.
std::vector<int> Formulation::entry_targets(std::span<const double> values, std::span<const double> made) {
  constexpr int kSplitTargets = 24;
  constexpr double kMostlyMade = 0.5, kSplit = 1e-3;
  std::vector<int> targets = network_.required;
  for (int seen = 0, found = 0; seen < network_.node_count && found < kSplitTargets; ++seen) {
    const int node = next_target_ = (next_target_ + 1) % network_.node_count;
    double most = 0;
    for (const int arc : network_.makers[node]) most = std::max(most, values[first_maker(arc, node)]);
    if (made[node] <= kMostlyMade || most >= made[node] - kSplit) continue;
    targets.push_back(node);
    ++found;
  }
  return targets;
}

Rows Formulation::cut_entries(std::span<const double> values, bool split) {
  std::vector<std::vector<double>> first_maker(z_.size());
  for (size_t a = 0; a < z_.size(); ++a)
    for (const int z : z_[a]) first_maker[a].push_back(values[z]);
  const std::span<const double> made = values.subspan(y_, network_.node_count);
  const std::vector<int> targets = split ? entry_targets(values, made) : network_.required;
  std::vector<EntrySet> sets = violated_entries(network_, first_maker, made, targets, TieRule::first);
  if (sets.empty()) sets = violated_entries(network_, first_maker, made, targets, TieRule::last);
  Rows rows;
  for (const EntrySet& set : sets) {
    Terms terms = entering(set.inside, values);
    terms.push_back({y_ + set.target, -1.0});
    rows.add(0, kInfinity, terms);
  }
  idle_.resize(mip_.rows.count(), kNeverForget);
  mip_.rows.append(rows);
  idle_.resize(mip_.rows.count(), 0);
  return rows;
}

std::vector<bool> Formulation::forget_entries(std::span<const double> values) {
  constexpr int kPatience = 3;
  constexpr double kSlack =
      1e-6;  // the solver's feasibility tolerance: rows below it may be part of its basis
  idle_.resize(mip_.rows.count(), kNeverForget);
  std::vector<bool> forgotten(mip_.rows.count());
  std::vector<int> kept;
  for (int row = 0; row < mip_.rows.count(); ++row) {
    if (idle_[row] != kNeverForget) {
      idle_[row] = mip_.rows.activity(row, values) > mip_.rows.lower[row] + kSlack ? idle_[row] + 1 : 0;
      forgotten[row] = idle_[row] >= kPatience;
    }
    if (!forgotten[row]) kept.push_back(idle_[row]);
  }
  mip_.rows.erase(forgotten);
  idle_ = std::move(kept);
  return forgotten;
}

// Stuck arcs wait for nodes that only stuck arcs make; in that graph, a component that waits for nobody else
// waits for itself. Let W be the missing nodes that its arcs read: some maker of W must run before any reader
// of W, so it reads none.
Rows Formulation::cut_cycles(const ArcOrder& stuck) {
  std::map<int, std::vector<int>> stuck_makers;
  for (size_t s = 0; s < stuck.stuck.size(); ++s)
    for (const int node : network_.arcs[stuck.stuck[s]].outputs)
      if (!stuck.made[node]) stuck_makers[node].push_back(static_cast<int>(s));
  std::vector<std::vector<int>> waits(stuck.stuck.size());
  for (size_t s = 0; s < stuck.stuck.size(); ++s)
    for (const int node : network_.arcs[stuck.stuck[s]].inputs)
      if (!stuck.made[node])
        waits[s].insert(waits[s].end(), stuck_makers[node].begin(), stuck_makers[node].end());
  const std::vector<int> component = strong_components(waits);
  std::map<int, std::vector<int>> members;
  std::set<int> waiting;
  for (size_t s = 0; s < waits.size(); ++s) {
    members[component[s]].push_back(stuck.stuck[s]);
    for (const int other : waits[s])
      if (component[other] != component[s]) waiting.insert(component[s]);
  }
  Rows rows;
  for (const auto& [number, arcs] : members)
    if (waiting.count(number) == 0) cut_component(arcs, stuck.made, rows);
  mip_.rows.append(rows);
  return rows;
}

void Formulation::cut_component(const std::vector<int>& arcs, const std::vector<bool>& made,
                                Rows& rows) const {
  std::set<int> missing;
  for (const int arc : arcs)
    for (const int node : network_.arcs[arc].inputs)
      if (!made[node]) missing.insert(node);
  const std::vector<int> nodes(missing.begin(), missing.end());
  const std::vector<bool> inside = marked(nodes);
  Terms entry;
  std::set<int> entering_arcs;
  for (const int node : nodes)
    for (const int arc : network_.makers[node])
      if (!reads(arc, inside) && entering_arcs.insert(arc).second) entry.push_back({arc, -1.0});
  std::set<int> outputs;
  for (const int arc : arcs) {
    outputs.insert(network_.arcs[arc].outputs.begin(), network_.arcs[arc].outputs.end());
    // The rows below bind z alone, which may be split between arcs; this one binds x.
    Terms terms = entry;
    terms.push_back({arc, 1.0});
    rows.add(-kInfinity, 0, terms);
  }
  for (const int node : outputs) {
    Terms terms = entry;
    for (const int arc : network_.makers[node])
      if (reads(arc, inside)) terms.push_back({first_maker(arc, node), 1.0});
    rows.add(-kInfinity, 0, terms);
  }
}

}  // namespace korch
