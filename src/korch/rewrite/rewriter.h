// Rewriter: a rewrite rule's view of a Graph and its operations on it. Rules add nodes and declare Values
// equal. An original node is removed only if a dominating rule replaces it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "korch/ir/loops.h"

namespace korch {

// How far a Graph may grow. Each limit that stops something is reported under its name.
struct RewriteLimits {
  int rounds = 8;                                   // sweeps over all nodes
  int max_producers = 6;                            // of one Value
  double max_growth = 2;                            // nodes added per node that was there,
  int free_nodes = 500;                             // or so many, where that is more
  int64_t max_constant_bytes = int64_t{512} << 20;  // of constants that alternatives need
};

class Rewriter {
 public:
  Rewriter(Graph& graph, const RewriteLimits& limits);

  const Graph& graph() const { return graph_; }
  // A copy, since emitting moves the nodes.
  Node node(NodeId id) const { return graph_.node(id); }
  const Shape& shape(ValueId value) const { return graph_.value(value).type.shape; }
  int64_t rank(ValueId value) const { return static_cast<int64_t>(shape(value).size()); }
  int64_t elements(ValueId value) const { return graph_.value(value).type.elements(); }
  bool is_float32(ValueId value) const { return graph_.value(value).type.dtype == DType::f32; }
  // Whether the Value follows from constants alone.
  bool is_constant(ValueId value) const { return constant_[value]; }
  // A producer of the Value with this operator.
  std::optional<Node> producer(ValueId value, Op op) const;
  // Nodes that read the Value, those of constants' subgraphs not among them.
  std::vector<NodeId> users(ValueId value) const;
  // Whether one node reads the Value, once, and it is no graph output.
  bool has_one_reader(ValueId value) const;

  // The Value that this node computes. An equal node is reused, and layout primitives that cancel give a
  // simpler one.
  ValueId emit(Op op, Attrs attrs, std::vector<ValueId> inputs);
  ValueId emit(Op op, std::vector<ValueId> inputs) { return emit(op, NoAttrs{}, std::move(inputs)); }
  ValueId reshape(ValueId x, Shape shape);
  ValueId transpose(ValueId x, std::vector<int64_t> perm);
  // Elements start, start + step, ... along one axis.
  ValueId slice(ValueId x, int64_t axis, int64_t start, int64_t size, int64_t step = 1);
  ValueId concat(std::vector<ValueId> parts, int64_t axis);
  ValueId scalar(double value);  // float32

  // The next emitted nodes do the work of these nodes, besides that of the rule's own: they stem from the
  // same ONNX nodes.
  void covers(const std::vector<Node>& nodes);
  // `other` computes the same as `value`; it becomes an alternative.
  void equate(ValueId value, ValueId other);

  // Begins the application of a rule at a node.
  void begin(const char* rule, NodeId node, bool dominates);
  // The present nodes stay, whatever dominates them.
  void keep_nodes() { first_removable_ = static_cast<NodeId>(graph_.node_count()); }
  // Whether anything was added since the last call.
  bool grew();
  bool has_room();

  const std::map<std::string, int>& applied() const { return applied_; }     // by rule
  const std::map<std::string, int>& limited() const { return limited_; }     // by limit: what it refused
  const std::map<NodeId, std::string>& rule_of() const { return rule_of_; }  // of added nodes

 private:
  void note_node(NodeId id);
  bool is_fresh(ValueId value) const { return value >= first_fresh_value_; }
  std::optional<ValueId> simplified(Op op, const Attrs& attrs, const std::vector<ValueId>& inputs);
  void move_producers(ValueId from, ValueId to);
  bool take_constants(ValueId value);
  // Of the original Values that the Value is computed from; the Value itself may be new.
  int innermost_loop(ValueId value) const;

  Graph& graph_;
  const RewriteLimits limits_;
  const size_t first_fresh_value_;
  const size_t first_fresh_node_;
  std::vector<bool> constant_;  // per Value
  const Loops loops_;           // of what was there
  std::unordered_map<std::string, NodeId> by_key_;
  std::map<std::string, int> applied_, limited_;
  std::map<NodeId, std::string> rule_of_;
  int64_t constant_bytes_ = 0;         // that alternatives need,
  std::unordered_set<ValueId> taken_;  // counted, and what is computed from them
  const char* rule_ = "";
  NodeId matched_ = kNoId;
  bool dominates_ = false;
  NodeId first_removable_ = 0;
  std::vector<std::string> origins_;
  std::string base_name_;
  int simplifying_ = 0;  // depth
  bool grew_ = false;
};

}  // namespace korch
