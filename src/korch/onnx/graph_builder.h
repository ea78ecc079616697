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
  std::optional<std::vector<std::shared_ptr<OperandState>>> sequence;  // no tensor then

  const Shape& shape() const { return type.shape; }
  DType dtype() const { return type.dtype; }
  int64_t rank() const { return static_cast<int64_t>(type.shape.size()); }
};
using Operand = std::shared_ptr<OperandState>;

class GraphBuilder {
 public:
  // Folding must not inflate a model, nor take long: no more than this is added by constants that the file
  // does not hold, and read to compute them (interp/work.h).
  GraphBuilder(int64_t max_growth_bytes, double max_work)
      : max_growth_bytes_(max_growth_bytes), max_work_(max_work) {}
  int64_t max_growth_bytes() const { return max_growth_bytes_; }
  Operand input(TensorType type, const std::string& name);
  Operand constant(HostTensor value, std::vector<std::string> origins = {});
  // The outputs of one operator; constants when all inputs are, the result is not much larger than they are
  // and folding does not take long. Throws Error{invalid} from the shape rules, Error{resource} when a result
  // exceeds the machine's memory.
  std::vector<Operand> emit(Op op, Attrs attrs, const std::vector<Operand>& inputs,
                            const std::string& origin);
  // The Value of an operand; puts a constant into the Graph.
  ValueId value(const Operand& operand);
  // Names an operand and its Value after an ONNX value; the first name stays.
  void name(const Operand& operand, const std::string& name);
  Graph& graph() { return graph_; }

 private:
  bool may_work(double work);
  bool may_grow(const std::vector<TensorType>& results, const std::vector<Operand>& inputs);

  const int64_t max_growth_bytes_;
  const double max_work_;
  Graph graph_;
  int64_t growth_bytes_ = 0;  // what folding has added so far
  double work_ = 0;           // elements it has read (interp/work.h)
};

}  // namespace korch::onnx
