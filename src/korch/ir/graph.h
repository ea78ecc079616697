// Graph: nodes over Values. A Value is a class of equal tensors: it may have several producers
// (alternatives), all computing the same; after import and fission each has one. Ids are identity and stay
// valid until `compact`; names are for printing only. A Value without producers is a graph input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/ir/op.h"
#include "korch/tensor/open_dimension.h"
#include "korch/tensor/state.h"

namespace korch {

using NodeId = uint32_t;
using ValueId = uint32_t;
constexpr uint32_t kNoId = UINT32_MAX;

struct Value {
  TensorType type;
  std::string name;
  std::vector<NodeId> producers;
  std::vector<NodeId> users;  // each once, ascending
};

struct Node {
  Op op = Op::Constant;
  Attrs attrs;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<std::string> origins;  // names of the ONNX nodes this stems from
  bool dead = false;
};

class Graph {
 public:
  ValueId add_input(TensorType type, std::string name);
  // Infers the output types and adds a node with fresh output Values (names get a suffix when empty).
  NodeId add_node(Op op, Attrs attrs, std::vector<ValueId> inputs, std::vector<std::string> origins = {},
                  std::string name = {});
  // As add_node for single-output operators; returns the output Value.
  ValueId add(Op op, Attrs attrs, std::vector<ValueId> inputs, std::vector<std::string> origins = {},
              std::string name = {});
  // Adds another producer of existing Values (same types); an output kNoId becomes a fresh Value.
  NodeId add_alternative(Op op, Attrs attrs, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                         std::vector<std::string> origins = {});
  ValueId add_constant(HostTensor value, std::string name = {}, std::vector<std::string> origins = {});
  // The last outputs are `extents`, each one i64. An extent n says that elements below index n on its axis
  // count; the others are computed too and do not count.
  void set_outputs(std::vector<ValueId> outputs, std::vector<std::string> names,
                   std::vector<OutputExtent> extents = {});
  // Their extents are the last inputs, one i64 each.
  void set_open_dimensions(std::vector<OpenDimension> dimensions) {
    open_dimensions_ = std::move(dimensions);
  }
  void set_states(std::vector<StatePair> states) { states_ = std::move(states); }
  void set_input_order(std::vector<ValueId> inputs);  // the same ones
  void kill_node(NodeId id);                          // outputs keep their Value without this producer
  void replace_uses(ValueId from, ValueId to);        // in nodes and graph outputs
  void remove_dead_nodes();                           // that reach no graph output

  std::vector<bool> nodes_that_reach_outputs() const;  // by NodeId

  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  const std::vector<OutputExtent>& extents() const { return extents_; }
  const std::vector<OpenDimension>& open_dimensions() const { return open_dimensions_; }
  ValueId extent_input(size_t dimension) const {  // of an open one
    return inputs_[inputs_.size() - open_dimensions_.size() + dimension];
  }
  const std::vector<StatePair>& states() const { return states_; }
  size_t node_count() const { return nodes_.size(); }  // dead ones included
  size_t value_count() const { return values_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  Node& mutable_node(NodeId id) { return nodes_[id]; }
  void rename(ValueId id, std::string name) { values_[id].name = std::move(name); }
  // Its users must be of that type too; what it holds is not touched.
  void retype(ValueId id, DType dtype) { values_[id].type.dtype = dtype; }

  bool is_input(ValueId id) const { return values_[id].producers.empty(); }
  // The constant tensor a Value is, or null.
  const HostTensor* constant(ValueId id) const;
  // Live nodes, producers before users; deterministic. Where alternatives close a circle (a from b, b from a,
  // both also from elsewhere) a node follows at least one producer of each input. Throws Error{invalid} on a
  // cycle that nothing enters, naming its nodes.
  std::vector<NodeId> topological_order() const;
  size_t live_node_count() const;
  // A copy without dead nodes and unused Values; ids are renumbered in topological order.
  Graph compact() const;

 private:
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_names_;
  std::vector<OutputExtent> extents_;
  std::vector<OpenDimension> open_dimensions_;
  std::vector<StatePair> states_;
};

std::vector<TensorType> input_types(const Graph& graph, const Node& node);

// Invariants: ids in range, types as inferred, arities, legality of categories in this form, acyclicity.
// Throws Error{internal} printing the offending node.
enum class GraphForm { imported, primitive };
void verify(const Graph& graph, GraphForm form);

}  // namespace korch
