// GraphBuilder: emits operators into a Graph and folds those whose inputs are all constant on the way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::onnx {

// What a node reads or makes: a constant that is not in the Graph yet, or a Value of the Graph. A constant
// enters the Graph when the first node that cannot be folded reads it, so folded chains leave nothing behind.
struct OperandState {
  TensorType type;
  std::optional<HostTensor> constant;
  ValueId id = kNoId;
  std::string name;
  std::vector<std::string> origins;

  const Shape& shape() const { return type.shape; }
  DType dtype() const { return type.dtype; }
  int64_t rank() const { return static_cast<int64_t>(type.shape.size()); }
};
using Operand = std::shared_ptr<OperandState>;

// Folding shape arithmetic must not inflate a model: more than this is not added by constants that the file
// does not hold.
constexpr int64_t kMaxGrowthBytes = 256 << 20;

class GraphBuilder {
 public:
  Operand input(TensorType type, const std::string& name);
  Operand constant(HostTensor value, std::vector<std::string> origins = {});
  // The outputs of one operator; constants when all inputs are and the result is not much larger than they
  // are. Throws Error{invalid} from the shape rules, Error{resource} when a result exceeds the machine's
  // memory.
  std::vector<Operand> emit(Op op, Attrs attrs, const std::vector<Operand>& inputs,
                            const std::string& origin);
  // The Value of an operand; puts a constant into the Graph.
  ValueId value(const Operand& operand);
  // Names an operand and its Value after an ONNX value; the first name stays.
  void name(const Operand& operand, const std::string& name);
  Graph& graph() { return graph_; }

 private:
  bool may_grow(const std::vector<TensorType>& results, const std::vector<Operand>& inputs);

  Graph graph_;
  int64_t growth_bytes_ = 0;  // what folding has added so far
};

}  // namespace korch::onnx
