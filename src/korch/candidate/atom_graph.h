// The live, non-constant primitives of a Graph as the enumerator sees them: grouped into atoms (one
// primitive, or a chain that is never cut), with their neighbours and reachability.
#pragma once

#include <vector>

#include "korch/candidate/bitset.h"
#include "korch/ir/loops.h"

namespace korch {

using AtomId = int;
using AtomSet =
    std::vector<AtomId>;  // ascending; ids are topological (where alternatives do not close circles)

struct Atom {
  std::vector<NodeId> nodes;      // topological
  std::vector<ValueId> reads;     // non-constant Values from outside the atom, distinct
  std::vector<ValueId> makes;     // of its last node; what the others make stays inside
  std::vector<AtomId> producers;  // of what it reads, ascending
  std::vector<AtomId> consumers;  // of what it makes, ascending
  bool linear = false, opaque = false;
  int loop = -1;         // all of it is within
  bool reduces = false;  // over whole axes or windows
  // Converts back what the Value that it makes was converted to: a set may do so for itself, though that
  // follows from the Value.
  bool restores = false;
  AtomSet operands;  // see AtomGraph: its private operands, where there are two or more; ascending
  std::vector<AtomSet> prologues;  // see AtomGraph: what goes in whole,
  bool needs_prologues = false;    // in every set of several atoms
  Shape domain;                    // of the loop nest: a reduction's input, else the output
};

class AtomGraph {
 public:
  // Memory-bound primitives between which no cut could help become one atom, of up to `longest_chain`:
  //  - an elementwise primitive or reshape whose only non-constant operand has no other use joins its
  //  producer;
  //  - an elementwise or layout primitive that did not, whose result has one use, by an elementwise primitive
  //  over
  //    as many elements, joins that, unless it could be the epilogue of a linear primitive;
  //  - a slice or reshape that did not, and has one consumer, joins that.
  // A transpose stays alone: it may be a mere change of layout, which costs nothing.
  AtomGraph(const Graph& graph, int longest_chain);

  const Graph& graph() const { return graph_; }
  const Loops& loops() const { return loops_; }
  int size() const { return static_cast<int>(atoms_.size()); }
  const Atom& atom(AtomId id) const { return atoms_[id]; }
  const std::vector<AtomId>& readers(ValueId value) const { return readers_[value]; }
  int chained_nodes() const { return chained_nodes_; }  // that joined another's atom
  // Adds to the set the private operands of every member that has some of them inside. A private operand is a
  // producer without other consumers that is elementwise or layout and could not be fused after a linear
  // primitive. Prologues go in whole: of each operand of a primitive that copies its operands the chain of
  // layout primitives; of a linear operation's last part the other two, which are in every set of several
  // atoms.
  void complete_operands(AtomSet& set) const;
  // Users outside the set, or a graph output.
  bool needed_outside(ValueId value, const AtomSet& set) const;
  // Whether a Value of the set that is needed outside may be left to others: all that reads it there are
  // conversions, which only alternatives read; or the set converts it to what can be converted back.
  bool is_dispensable(ValueId value, const AtomSet& set) const;

  // Whether no class has two producers in the set, the set is acyclic, and every input can be derived without
  // the set's results. Without alternatives: whether no path leaves the set and comes back.
  bool is_convex(const AtomSet& set) const;
  // The same, but inputs need only be derivable without `outputs`: enough for a kernel that makes only these
  // available.
  bool is_legal(const AtomSet& set, const std::vector<ValueId>& outputs) const;
  bool has_alternatives() const { return alternatives_; }  // some class has several producers
  // Whether one of the two follows from the other, by some producers.
  bool are_related(AtomId a, AtomId b) const { return ancestors_[a].test(b) || ancestors_[b].test(a); }
  // Atoms on the paths that leave the set and come back.
  AtomSet detour(const AtomSet& set) const;

 private:
  void make_atoms(int longest_chain);
  void link_atoms();
  void find_operands();
  void find_prologues();
  void close_reachability();
  // The node whose atom `node` joins; kNoId when it starts its own.
  NodeId joins_producer(NodeId node) const;
  NodeId joins_consumer(NodeId node) const;
  bool is_memory_bound(NodeId node) const;
  // Marks what could be fused after a linear primitive.
  void mark_epilogues();
  // The only node that reads the Value, where it is made by one node and no graph output; else kNoId.
  NodeId only_reader(ValueId value) const;
  // Whether the node is a Cast of what the Value that it makes was cast to.
  bool restores(NodeId node) const;
  // Whether it is a Cast that only alternatives read.
  bool converts_for_alternatives(AtomId reader) const;
  // Atoms that follow from atoms of `from` and are needed for atoms of `to`, by some producers; ascending.
  AtomSet between(const AtomSet& from, const AtomSet& to) const;
  bool is_derivable(const AtomSet& set, const std::vector<ValueId>& without) const;
  // Whether an input of the set follows from one of `outputs`, by some producers.
  bool reads_what_follows_from(const AtomSet& set, const std::vector<ValueId>& outputs) const;
  bool is_acyclic(const AtomSet& set) const;
  bool repeats_class(const AtomSet& set) const;

  const Graph& graph_;
  const Loops loops_;
  std::vector<NodeId> order_;  // live, non-constant
  std::vector<Atom> atoms_;
  std::vector<AtomId> atom_of_;  // by node; -1: constant or not live
  std::vector<std::vector<AtomId>> readers_;
  std::vector<bool> graph_output_;
  std::vector<bool> epilogue_;                   // per node
  std::vector<Bitset> ancestors_, descendants_;  // through any producer of a class
  bool alternatives_ = false;
  bool is_ordered_ = true;  // every atom's producers come before it
  int chained_nodes_ = 0;
};

}  // namespace korch
