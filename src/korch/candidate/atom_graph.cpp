#include "korch/candidate/atom_graph.h"

#include <algorithm>

namespace korch {
namespace {

void add_sorted(std::vector<AtomId>& ids, AtomId id) {
  const auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (place == ids.end() || *place != id) ids.insert(place, id);
}

std::vector<bool> live_nodes(const Graph& graph) {
  std::vector<bool> live(graph.node_count(), false);
  std::vector<ValueId> stack = graph.outputs();
  while (!stack.empty()) {
    const ValueId value = stack.back();
    stack.pop_back();
    for (NodeId producer : graph.value(value).producers) {
      if (live[producer]) continue;
      live[producer] = true;
      const auto& inputs = graph.node(producer).inputs;
      stack.insert(stack.end(), inputs.begin(), inputs.end());
    }
  }
  return live;
}

}  // namespace

AtomGraph::AtomGraph(const Graph& graph, bool chains)
    : graph_(graph),
      atom_of_(graph.node_count(), -1),
      readers_(graph.value_count()),
      graph_output_(graph.value_count(), false) {
  for (ValueId output : graph.outputs()) graph_output_[output] = true;
  const std::vector<bool> live = live_nodes(graph);
  for (NodeId id : graph.topological_order()) {
    if (live[id] && info(graph.node(id).op).category != Category::constant) order_.push_back(id);
  }
  make_atoms(chains);
  link_atoms();
  close_reachability();
}

bool AtomGraph::joins_producer(NodeId node, AtomId* producer) const {
  const Node& n = graph_.node(node);
  if (info(n.op).category != Category::elementwise && n.op != Op::Reshape) return false;
  ValueId operand = kNoId;
  for (ValueId input : n.inputs) {
    if (graph_.constant(input) != nullptr || input == operand) continue;
    if (operand != kNoId) return false;
    operand = input;
  }
  if (operand == kNoId || graph_output_[operand]) return false;
  const Value& value = graph_.value(operand);
  if (value.users.size() != 1 || value.producers.size() != 1) return false;
  // Where it has alternatives itself, each of them may be wanted without the operand's producer.
  if (graph_.value(n.outputs[0]).producers.size() != 1) return false;
  *producer = atom_of_[value.producers[0]];
  return *producer >= 0 && !atoms_[*producer].linear && !atoms_[*producer].opaque;
}

void AtomGraph::make_atoms(bool chains) {
  for (NodeId id : order_) {
    const Node& node = graph_.node(id);
    for (ValueId output : node.outputs)
      alternatives_ = alternatives_ || graph_.value(output).producers.size() > 1;
    AtomId producer = -1;
    if (chains && joins_producer(id, &producer)) {
      atom_of_[id] = producer;
      atoms_[producer].nodes.push_back(id);
      atoms_[producer].makes = node.outputs;
      ++chained_nodes_;
      continue;
    }
    atom_of_[id] = size();
    const Category category = info(node.op).category;
    Atom atom;
    atom.nodes = {id};
    atom.makes = node.outputs;
    atom.linear = category == Category::linear;
    atom.opaque = category == Category::opaque;
    atom.reduces = category == Category::reduce;
    atom.domain = graph_.value(atom.reduces ? node.inputs[0] : node.outputs[0]).type.shape;
    atoms_.push_back(std::move(atom));
  }
}

void AtomGraph::link_atoms() {
  for (AtomId id = 0; id < size(); ++id) {
    Atom& atom = atoms_[id];
    for (NodeId node : atom.nodes) {
      for (ValueId input : graph_.node(node).inputs) {
        if (graph_.constant(input) != nullptr) continue;
        const auto& producers = graph_.value(input).producers;
        const bool inside = std::any_of(producers.begin(), producers.end(),
                                        [&](NodeId producer) { return atom_of_[producer] == id; });
        if (inside && atom.nodes.size() > 1 && node != atom.nodes[0]) continue;
        if (std::find(atom.reads.begin(), atom.reads.end(), input) == atom.reads.end())
          atom.reads.push_back(input);
        add_sorted(readers_[input], id);
        for (NodeId producer : producers) {
          if (atom_of_[producer] < 0) continue;
          add_sorted(atom.producers, atom_of_[producer]);
          add_sorted(atoms_[atom_of_[producer]].consumers, id);
        }
      }
    }
  }
}

void AtomGraph::close_reachability() {
  ancestors_.assign(atoms_.size(), Bitset(atoms_.size()));
  descendants_ = ancestors_;
  // One sweep each suffices without circles; alternatives may need more.
  for (bool changed = true; changed;) {
    changed = false;
    for (AtomId id = 0; id < size(); ++id) {
      for (AtomId producer : atoms_[id].producers) {
        if (!ancestors_[id].test(producer)) changed = true;
        ancestors_[id].set(producer);
        changed = ancestors_[id].unite(ancestors_[producer]) || changed;
      }
    }
    for (AtomId id = size() - 1; id >= 0; --id) {
      for (AtomId consumer : atoms_[id].consumers) {
        if (!descendants_[id].test(consumer)) changed = true;
        descendants_[id].set(consumer);
        changed = descendants_[id].unite(descendants_[consumer]) || changed;
      }
    }
    if (!alternatives_) break;
  }
}

bool AtomGraph::needed_outside(ValueId value, const AtomSet& set) const {
  if (graph_output_[value]) return true;
  const auto& readers = readers_[value];
  return std::any_of(readers.begin(), readers.end(),
                     [&](AtomId reader) { return !std::binary_search(set.begin(), set.end(), reader); });
}

bool AtomGraph::is_convex(const AtomSet& set) const {
  Bitset inside(atoms_.size()), above(atoms_.size()), below(atoms_.size());
  for (AtomId id : set) {
    inside.set(id);
    above.unite(ancestors_[id]);
    below.unite(descendants_[id]);
  }
  const bool path_returns = Bitset::meet(above, above, below, below, inside);
  if (!alternatives_) return !path_returns;
  return !repeats_class(set) && is_acyclic(set) && (!path_returns || is_derivable(set));
}

bool AtomGraph::repeats_class(const AtomSet& set) const {
  std::vector<ValueId> made;
  for (AtomId id : set) made.insert(made.end(), atoms_[id].makes.begin(), atoms_[id].makes.end());
  std::sort(made.begin(), made.end());
  return std::adjacent_find(made.begin(), made.end()) != made.end();
}

bool AtomGraph::is_acyclic(const AtomSet& set) const {
  // Repeatedly drops atoms that read nothing made by those that remain.
  AtomSet rest = set;
  for (bool dropped = true; dropped && !rest.empty();) {
    const auto stays = [&](AtomId id) {
      for (ValueId read : atoms_[id].reads) {
        for (AtomId other : rest) {
          const auto& makes = atoms_[other].makes;
          if (std::find(makes.begin(), makes.end(), read) != makes.end()) return true;
        }
      }
      return false;
    };
    AtomSet next;
    std::copy_if(rest.begin(), rest.end(), std::back_inserter(next), stays);
    dropped = next.size() < rest.size();
    rest = std::move(next);
  }
  return rest.empty();
}

bool AtomGraph::is_derivable(const AtomSet& set) const {
  std::vector<bool> banned(graph_.value_count(), false), derived(graph_.value_count(), false);
  for (AtomId id : set) {
    for (ValueId value : atoms_[id].makes) banned[value] = true;
  }
  std::vector<size_t> waiting(atoms_.size());
  std::vector<AtomId> ready;
  for (AtomId id = 0; id < size(); ++id) {
    waiting[id] = 0;
    for (ValueId read : atoms_[id].reads) waiting[id] += graph_.is_input(read) ? 0 : 1;
    if (waiting[id] == 0) ready.push_back(id);
  }
  while (!ready.empty()) {
    const AtomId id = ready.back();
    ready.pop_back();
    for (ValueId value : atoms_[id].makes) {
      if (banned[value] || derived[value]) continue;
      derived[value] = true;
      for (AtomId reader : readers_[value]) {
        if (--waiting[reader] == 0) ready.push_back(reader);
      }
    }
  }
  for (AtomId id : set) {
    for (ValueId read : atoms_[id].reads) {
      if (!banned[read] && !graph_.is_input(read) && !derived[read]) return false;
    }
  }
  return true;
}

}  // namespace korch
