#include "korch/candidate/atom_graph.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

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

AtomGraph::AtomGraph(const Graph& graph, int longest_chain)
    : graph_(graph),
      loops_(graph),
      atom_of_(graph.node_count(), -1),
      readers_(graph.value_count()),
      graph_output_(graph.value_count(), false),
      epilogue_(graph.node_count(), false) {
  for (ValueId output : graph.outputs()) graph_output_[output] = true;
  const std::vector<bool> live = live_nodes(graph);
  for (NodeId id : graph.topological_order()) {
    if (live[id] && info(graph.node(id).op).category != Category::constant) order_.push_back(id);
  }
  mark_epilogues();
  make_atoms(longest_chain);
  link_atoms();
  find_operands();
  find_prologues();
  close_reachability();
}

bool AtomGraph::is_memory_bound(NodeId node) const {
  const Category category = info(graph_.node(node).op).category;
  return category != Category::linear && category != Category::opaque && category != Category::constant;
}

NodeId AtomGraph::only_reader(ValueId value) const {
  const Value& v = graph_.value(value);
  return !graph_output_[value] && v.users.size() == 1 && v.producers.size() == 1 ? v.users[0] : kNoId;
}

NodeId AtomGraph::joins_producer(NodeId node) const {
  const Node& n = graph_.node(node);
  if (info(n.op).category != Category::elementwise && n.op != Op::Reshape) return kNoId;
  ValueId operand = kNoId;
  for (ValueId input : n.inputs) {
    if (graph_.constant(input) != nullptr || input == operand) continue;
    if (operand != kNoId) return kNoId;
    operand = input;
  }
  if (operand == kNoId || only_reader(operand) == kNoId) return kNoId;
  // Where the result has other producers, each of them may be wanted without the operand's producer.
  if (graph_.value(n.outputs[0]).producers.size() != 1) return kNoId;
  const NodeId producer = graph_.value(operand).producers[0];
  // A reshape would keep a linear primitive's epilogue from layouts that the reshaped Value does not have.
  if (n.op == Op::Reshape && epilogue_[producer]) return kNoId;
  return is_memory_bound(producer) && graph_.node(producer).op != Op::Transpose ? producer : kNoId;
}

void AtomGraph::mark_epilogues() {
  const auto elements = [&](NodeId node) {
    return graph_.value(graph_.node(node).outputs[0]).type.elements();
  };
  for (NodeId id : order_) {
    const Node& node = graph_.node(id);
    const bool follows =
        info(node.op).category == Category::elementwise || node.op == Op::Transpose || node.op == Op::Reshape;
    for (ValueId input : node.inputs) {
      for (NodeId producer : graph_.value(input).producers) {
        const bool from = epilogue_[producer] || info(graph_.node(producer).op).category == Category::linear;
        if (follows && from && elements(producer) == elements(id)) epilogue_[id] = true;
      }
    }
  }
}

NodeId AtomGraph::joins_consumer(NodeId node) const {
  const Node& n = graph_.node(node);
  const Category category = info(n.op).category;
  if (category != Category::elementwise && category != Category::layout) return kNoId;
  if (n.op == Op::Transpose) return kNoId;
  const NodeId reader = only_reader(n.outputs[0]);
  if (reader == kNoId || !is_memory_bound(reader)) return kNoId;
  for (ValueId output : graph_.node(reader).outputs) {
    if (graph_.value(output).producers.size() != 1) return kNoId;
  }
  if (n.op == Op::Slice || n.op == Op::Reshape) return reader;
  const bool amplified = graph_.value(n.outputs[0]).type.elements() !=
                         graph_.value(graph_.node(reader).outputs[0]).type.elements();
  return info(graph_.node(reader).op).category == Category::elementwise && !amplified && !epilogue_[node]
             ? reader
             : kNoId;
}

void AtomGraph::make_atoms(int longest_chain) {
  std::vector<NodeId> leader(graph_.node_count());
  std::vector<int> size_of(graph_.node_count(), 1);  // of each leader
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](NodeId id) {
    while (leader[id] != id) id = leader[id] = leader[leader[id]];
    return id;
  };
  // The head of what joins is always the only reader of the rest, so that no atom waits for itself.
  std::map<NodeId, std::vector<NodeId>> groups;
  for (NodeId id : order_) {
    for (ValueId output : graph_.node(id).outputs)
      alternatives_ = alternatives_ || graph_.value(output).producers.size() > 1;
    if (longest_chain == 1) continue;
    const NodeId producer = joins_producer(id);
    const NodeId other = producer != kNoId ? producer : joins_consumer(id);
    if (other == kNoId || find(id) == find(other) || loops_.of_node(id) != loops_.of_node(other)) continue;
    const NodeId from = find(id), to = find(other);
    if (size_of[from] + size_of[to] > longest_chain) continue;
    leader[from] = to;
    size_of[to] += size_of[from];
    ++chained_nodes_;
  }
  for (NodeId id : order_) groups[find(id)].push_back(id);
  for (NodeId id : order_) {
    const std::vector<NodeId>& nodes = groups[find(id)];
    if (nodes.back() != id) continue;  // an atom stands where its last primitive stands
    const Node& last = graph_.node(id);
    Atom atom;
    atom.nodes = nodes;
    atom.loop = loops_.of_node(id);
    atom.makes = last.outputs;
    atom.domain = graph_.value(last.outputs[0]).type.shape;
    for (NodeId node : nodes) {
      atom_of_[node] = size();
      const Category category = info(graph_.node(node).op).category;
      atom.linear = atom.linear || category == Category::linear;
      atom.opaque = atom.opaque || category == Category::opaque;
      atom.reduces = atom.reduces || category == Category::reduce || category == Category::window;
      atom.restores = atom.restores || restores(node);
      if (category != Category::reduce) continue;
      atom.domain = graph_.value(graph_.node(node).inputs[0]).type.shape;
    }
    atoms_.push_back(std::move(atom));
  }
}

void AtomGraph::link_atoms() {
  for (AtomId id = 0; id < size(); ++id) {
    Atom& atom = atoms_[id];
    for (NodeId node : atom.nodes) {
      for (ValueId input : graph_.node(node).inputs) {
        const auto& producers = graph_.value(input).producers;
        if (graph_.constant(input) != nullptr) continue;
        if (producers.size() == 1 && producers[0] != node && atom_of_[producers[0]] == id) continue;
        if (std::find(atom.reads.begin(), atom.reads.end(), input) == atom.reads.end())
          atom.reads.push_back(input);
        add_sorted(readers_[input], id);
        for (NodeId producer : producers) {
          if (atom_of_[producer] < 0) continue;
          is_ordered_ = is_ordered_ && atom_of_[producer] < id;
          add_sorted(atom.producers, atom_of_[producer]);
          add_sorted(atoms_[atom_of_[producer]].consumers, id);
        }
      }
    }
  }
}

void AtomGraph::find_operands() {
  for (AtomId id = 0; id < size(); ++id) {
    Atom& atom = atoms_[id];
    if (atom.linear || atom.opaque) continue;
    for (AtomId producer : atom.producers) {
      const Atom& p = atoms_[producer];
      const bool is_private = p.makes.size() == 1 && only_reader(p.makes[0]) != kNoId;
      if (!is_private || p.linear || p.opaque || p.reduces) continue;
      const bool epilogue =
          std::any_of(p.nodes.begin(), p.nodes.end(), [&](NodeId node) { return epilogue_[node]; });
      if (!epilogue) atom.operands.push_back(producer);
    }
    if (atom.operands.size() < 2) atom.operands.clear();
  }
}

void AtomGraph::find_prologues() {
  const auto maker = [&](ValueId value) {
    const auto& producers = graph_.value(value).producers;
    return producers.size() == 1 ? atom_of_[producers[0]] : -1;
  };
  for (Atom& atom : atoms_) {
    const Fusing& fusing = info(graph_.node(atom.nodes[0]).op).fusing;
    if (fusing.part == LinearPart::result) {
      const AtomId product = atom.reads.empty() ? -1 : maker(atom.reads[0]);
      const AtomId data = product < 0 || atoms_[product].reads.empty() ? -1 : maker(atoms_[product].reads[0]);
      if (data < 0) continue;
      atom.prologues.push_back({std::min(data, product), std::max(data, product)});
      atom.needs_prologues = true;
    }
  }
}

void AtomGraph::complete_operands(AtomSet& set) const {
  AtomSet missing;
  do {
    missing.clear();
    for (AtomId id : set) {
      const AtomSet& operands = atoms_[id].operands;
      for (const AtomSet& prologue : atoms_[id].prologues) {
        const bool begun = (atoms_[id].needs_prologues && set.size() > 1) ||
                           std::any_of(prologue.begin(), prologue.end(), [&](AtomId link) {
                             return std::binary_search(set.begin(), set.end(), link);
                           });
        if (begun)
          std::set_difference(prologue.begin(), prologue.end(), set.begin(), set.end(),
                              std::back_inserter(missing));
      }
      AtomSet absent;
      std::set_difference(operands.begin(), operands.end(), set.begin(), set.end(),
                          std::back_inserter(absent));
      if (absent.size() < operands.size()) missing.insert(missing.end(), absent.begin(), absent.end());
    }
    set.insert(set.end(), missing.begin(), missing.end());
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  } while (!missing.empty());
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
  const auto& readers = readers_[value];
  if (graph_output_[value] || readers.size() > set.size()) return true;
  return std::any_of(readers.begin(), readers.end(),
                     [&](AtomId reader) { return !std::binary_search(set.begin(), set.end(), reader); });
}

bool AtomGraph::is_dispensable(ValueId value, const AtomSet& set) const {
  if (!alternatives_ || graph_output_[value]) return false;
  const auto& readers = readers_[value];
  bool converts = true;
  for (AtomId reader : readers) {
    const bool inside = std::binary_search(set.begin(), set.end(), reader);
    const Node& node = graph_.node(atoms_[reader].nodes.back());
    const auto& users = graph_.value(node.outputs[0]).users;
    if (inside && node.op == Op::Cast &&
        std::any_of(users.begin(), users.end(), [&](NodeId user) { return restores(user); }))
      return true;
    converts = converts && (inside || converts_for_alternatives(reader));
  }
  return converts;
}

bool AtomGraph::restores(NodeId node) const {
  const Node& cast = graph_.node(node);
  if (cast.op != Op::Cast) return false;
  const auto& producers = graph_.value(cast.inputs[0]).producers;
  return std::any_of(producers.begin(), producers.end(), [&](NodeId producer) {
    const Node& other = graph_.node(producer);
    return other.op == Op::Cast && other.inputs[0] == cast.outputs[0];
  });
}

bool AtomGraph::converts_for_alternatives(AtomId reader) const {
  const Node& node = graph_.node(atoms_[reader].nodes.back());
  if (node.op != Op::Cast || atoms_[reader].nodes.size() > 1 || graph_output_[node.outputs[0]]) return false;
  const std::vector<NodeId>& users = graph_.value(node.outputs[0]).users;
  return std::all_of(users.begin(), users.end(), [&](NodeId user) {
    const std::vector<ValueId>& outputs = graph_.node(user).outputs;
    return std::all_of(outputs.begin(), outputs.end(),
                       [&](ValueId output) { return graph_.value(output).producers.size() > 1; });
  });
}

bool AtomGraph::is_convex(const AtomSet& set) const {
  const bool path_returns = !detour(set).empty();
  if (!alternatives_) return !path_returns;
  std::vector<ValueId> made;
  for (AtomId id : set)
    if (!atoms_[id].restores) made.insert(made.end(), atoms_[id].makes.begin(), atoms_[id].makes.end());
  return !repeats_class(set) && is_acyclic(set) && (!path_returns || is_derivable(set, made));
}

bool AtomGraph::is_legal(const AtomSet& set, const std::vector<ValueId>& outputs) const {
  if (alternatives_ && (repeats_class(set) || !is_acyclic(set))) return false;
  if (!reads_what_follows_from(set, outputs)) return true;
  return alternatives_ && is_derivable(set, outputs);
}

bool AtomGraph::reads_what_follows_from(const AtomSet& set, const std::vector<ValueId>& outputs) const {
  for (AtomId maker : set) {
    const auto& makes = atoms_[maker].makes;
    if (std::find_first_of(makes.begin(), makes.end(), outputs.begin(), outputs.end()) == makes.end())
      continue;
    for (AtomId id : set) {
      for (AtomId producer : atoms_[id].producers) {
        const bool inside = std::binary_search(set.begin(), set.end(), producer);
        if (!inside && descendants_[maker].test(producer)) return true;
      }
    }
  }
  return false;
}

AtomSet AtomGraph::detour(const AtomSet& set) const {
  AtomSet result = between(set, set);
  std::erase_if(result, [&](AtomId id) { return std::binary_search(set.begin(), set.end(), id); });
  return result;
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

AtomSet AtomGraph::between(const AtomSet& from, const AtomSet& to) const {
  AtomSet result;
  // In an ordered graph nothing before the first or after the last stands on such a path.
  const size_t first = is_ordered_ ? Bitset::word_of(from.front()) : 0,
               last = Bitset::word_of(is_ordered_ ? to.back() : size() - 1);
  for (size_t w = first; w <= last; ++w) {
    uint64_t above = 0, below = 0;
    for (AtomId id : from) below |= descendants_[id].word(w);
    if (below == 0) continue;
    for (AtomId id : to) above |= ancestors_[id].word(w);
    for (uint64_t rest = above & below; rest != 0; rest &= rest - 1)
      result.push_back(static_cast<AtomId>(w * 64) + std::countr_zero(rest));
  }
  return result;
}

bool AtomGraph::is_derivable(const AtomSet& set, const std::vector<ValueId>& without) const {
  // What follows from none of the Values is derivable, as everything is; the rest is derived, as far as the
  // set may need it.
  AtomSet makers;
  for (ValueId value : without)
    for (NodeId producer : graph_.value(value).producers)
      if (atom_of_[producer] >= 0) add_sorted(makers, atom_of_[producer]);
  const AtomSet region = between(makers, set);
  std::unordered_set<ValueId> derived;
  const auto is_there = [&](ValueId value) {
    if (graph_.is_input(value) || derived.count(value) != 0) return true;
    if (std::find(without.begin(), without.end(), value) != without.end()) return false;
    const auto& producers = graph_.value(value).producers;
    return std::any_of(producers.begin(), producers.end(), [&](NodeId producer) {
      const AtomId maker = atom_of_[producer];
      return maker >= 0 && !std::binary_search(region.begin(), region.end(), maker);
    });
  };
  std::unordered_map<ValueId, std::vector<size_t>>
      waiting;  // of a Value that is not there: places in the region
  std::vector<int> missing(region.size(), 0);
  std::vector<size_t> ready;
  for (size_t i = 0; i < region.size(); ++i) {
    for (ValueId read : atoms_[region[i]].reads) {
      if (is_there(read)) continue;
      waiting[read].push_back(i);
      ++missing[i];
    }
    if (missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const size_t at = ready.back();
    ready.pop_back();
    for (ValueId value : atoms_[region[at]].makes) {
      if (is_there(value) || std::find(without.begin(), without.end(), value) != without.end()) continue;
      derived.insert(value);
      for (size_t reader : waiting[value])
        if (--missing[reader] == 0) ready.push_back(reader);
    }
  }
  std::unordered_set<ValueId> made;
  for (AtomId id : set) made.insert(atoms_[id].makes.begin(), atoms_[id].makes.end());
  return std::all_of(set.begin(), set.end(), [&](AtomId id) {
    const auto& reads = atoms_[id].reads;
    return std::all_of(reads.begin(), reads.end(),
                       [&](ValueId read) { return made.count(read) != 0 || is_there(read); });
  });
}

}  // namespace korch
