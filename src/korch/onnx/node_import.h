// NodeImport: one ONNX node as an import rule sees it: typed attributes with defaults, inputs, and emission.
//
// Every error that a rule throws gains the node's name and operator in import.cpp. A rule must ask for every
// attribute and input it knows; one that nobody asked for is an error, since ignoring it could change the
// result.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "korch/onnx/graph_builder.h"
#include "korch/onnx/tensor_data.h"
#include "onnx.pb.h"

namespace korch::onnx {

// Strides, dilations, window extents and the like: far above any use, and products with extents stay inside
// int64.
constexpr int64_t kMaxStep = int64_t{1} << 20;
constexpr int64_t kMaxOffset = int64_t{1} << 40;  // pads and extents

// The operand that a subgraph gets for a value of an outer graph. Asked in the same order each time.
using Captured = std::function<Operand(const Operand&)>;

// Imports a subgraph of a node with these inputs, and again at each call; returns its outputs. It may read
// operands of the graph around it, or what `captured` (may be null) makes of them. `step` tells one call from
// another in the names of its nodes. If `refusal` is given and something in the subgraph is unsupported,
// `refusal` names it, and there are no outputs.
using ImportBody = std::function<std::vector<Operand>(const proto::GraphProto& body,
                                                      std::vector<Operand> inputs, const std::string& step,
                                                      std::string* refusal, const Captured& captured)>;

// An extent that a node asks for: a constant, or a Value that depends on the data with a bound.
struct Extent {
  int64_t bound = 0;
  Operand counted;
};

class NodeImport {
 public:
  // `inputs` has one operand per input of the node, null where it is left out.
  NodeImport(const proto::NodeProto& node, std::string origin, int64_t opset, std::vector<Operand> inputs,
             std::vector<bool> used_outputs, GraphBuilder& builder, ExternalData& external,
             ImportBody import_body);

  const std::string& op_type() const { return node_.op_type(); }
  int64_t opset() const { return opset_; }
  const std::string& origin() const { return origin_; }  // its name, also in a subgraph
  uint64_t seed() const { return builder_.seed(); }      // of random numbers

  // Inputs. `input` throws Error{invalid} where there is none.
  size_t input_count() const { return inputs_.size(); }
  bool has_input(size_t i) const {
    asked_inputs_.insert(i);
    return i < inputs_.size() && inputs_[i] != nullptr;
  }
  const Operand& input(size_t i) const;                        // a tensor
  const Operand& any_input(size_t i) const;                    // or a sequence
  const std::vector<Operand>& sequence_input(size_t i) const;  // the tensors of a sequence
  std::vector<Operand> all_inputs() const;
  // What to do where the numbers of an input have no bound.
  std::string bound_advice(size_t i) const;
  // Inputs that parameterize the operator must be constants: Error{unsupported} otherwise, naming `what` they
  // are.
  const HostTensor& constant_input(size_t i, const char* what) const;
  std::vector<int64_t> ints_input(size_t i, const char* what) const;  // rank 0 or 1
  int64_t int_input(size_t i, const char* what) const;                // exactly one element
  double scalar_input(size_t i, const char* what) const;              // likewise
  // Of rank 0 or 1: integers, each constant or from the data (bounded.h).
  std::vector<Operand> elements_input(size_t i, const char* what) const;
  // Likewise, those from the data at least 0 and bounded.
  std::vector<Extent> extents_input(size_t i, const char* what) const;
  size_t output_count() const { return used_outputs_.size(); }
  bool output_used(size_t i) const { return i < used_outputs_.size() && used_outputs_[i]; }

  // Attributes; of a wrong type: Error{invalid}.
  bool has(const char* name) const;
  int64_t int_attr(const char* name, int64_t fallback);
  int64_t int_attr(const char* name);                      // required
  bool flag(const char* name, bool fallback);              // 0 or 1
  double float_attr(const char* name, double fallback);    // no NaN
  double element_attr(const char* name, double fallback);  // a tensor's element, which may be NaN
  std::string string_attr(const char* name, const std::string& fallback);
  // One of these words, the first where the attribute is not there.
  std::string word_attr(const char* name, const std::vector<std::string>& words);
  std::vector<int64_t> ints_attr(const char* name, std::vector<int64_t> fallback);
  std::vector<double> floats_attr(const char* name);
  std::vector<std::string> strings_attr(const char* name, std::vector<std::string> fallback);
  HostTensor tensor_attr(const char* name);
  const proto::GraphProto& graph_attr(const char* name);
  std::vector<Operand> import_body(const proto::GraphProto& body, std::vector<Operand> inputs,
                                   const std::string& step, std::string* refusal = nullptr,
                                   const Captured& captured = nullptr) {
    return import_body_(body, std::move(inputs), step, refusal, captured);
  }
  DType dtype_attr(const char* name, DType fallback);
  void ignore(const char* name) { (void)find(name); }  // without influence on inference
  void ignore_input(size_t i) { asked_inputs_.insert(i); }
  // What another operator's rule makes of these inputs with this node's attributes, as of an opset of its
  // domain.
  Results by(Results (*rule)(NodeImport&), int64_t opset, std::vector<Operand> inputs);
  // Error{invalid} unless every attribute stands once and it and every input was asked for.
  void require_all_read() const;

  // An axis in [-rank, rank) to [0, rank).
  int64_t axis(int64_t value, int64_t rank) const;
  std::vector<int64_t> axes(const std::vector<int64_t>& values, int64_t rank) const;  // ascending, each once
  // Error{invalid} unless the operand, which is `what`, has this shape.
  void require_shape(const Operand& operand, const char* what, const Shape& shape) const;
  // Error{unsupported} where the extent of an axis is a range or depends on the data. `what` is the axis.
  void require_known(const Operand& operand, int64_t axis, const char* what) const;
  void require_known(const Operand& operand, const char* what) const;  // of all axes
  // The least that an extent can be.
  int64_t least(const Operand& operand, int64_t axis);
  // Error{invalid} unless every value is in [low, high].
  const std::vector<int64_t>& bounded(const char* what, const std::vector<int64_t>& values, int64_t low,
                                      int64_t high) const;

  // Emission; folds where all inputs are constant.
  Operand emit(Op op, Attrs attrs, const std::vector<Operand>& inputs);
  Operand emit(Op op, const std::vector<Operand>& inputs) { return emit(op, NoAttrs{}, inputs); }
  std::vector<Operand> emit_all(Op op, Attrs attrs, const std::vector<Operand>& inputs);
  Operand constant(HostTensor value) { return builder_.constant(std::move(value), {origin_}); }
  Operand known_by(const TensorType& type, std::function<HostTensor()> make) {
    return builder_.known_by(type, std::move(make), {origin_});
  }
  // The interval of an element (ranges.h), and the difference of two if it is known.
  Operand whole(const Operand& a, const Operand& b) { return builder_.whole(a, b); }
  Range range(const Operand& operand, int64_t index = 0) { return builder_.range(operand, index); }
  std::optional<int64_t> difference(const Operand& a, const Operand& b) {
    return builder_.difference(a, 0, b, 0);
  }
  std::optional<int64_t> growth(const Operand& extent, const Operand& than) {
    return builder_.growth(extent, than);
  }
  GraphBuilder& builder() { return builder_; }
  int64_t new_loop() { return builder_.new_loop(); }
  double emitted_work() const { return builder_.emitted_work(); }
  Operand positions(DType dtype, int64_t count, int64_t axis, int64_t rank) {
    return builder_.positions(dtype, count, axis, rank, origin_);
  }
  Operand scalar(DType dtype, double value);
  Operand integer(int64_t value);                        // i64, rank 0
  Operand length(const Operand& operand, int64_t axis);  // its extent, or the number that the type states
  Operand ints(const std::vector<int64_t>& values);      // i64, rank 1
  Operand reshape(const Operand& operand, const Shape& shape);  // the operand itself when nothing changes
  Operand cast(const Operand& operand, DType dtype);            // likewise
  // The same tensor with these extents, per axis null or one.
  Operand bounded(const Operand& operand, std::vector<Operand> extents);

  int64_t max_constant_bytes() const { return builder_.max_growth_bytes(); }
  void require_moderate(const TensorType& type) const { builder_.require_moderate(type); }
  [[noreturn]] void invalid(const std::string& message) const;
  [[noreturn]] void unsupported(const std::string& message) const;

 private:
  const proto::AttributeProto* find(const char* name);
  const proto::AttributeProto* find(const char* name, proto::AttributeProto::Type type);

  const proto::NodeProto& node_;
  const std::string origin_;
  const int64_t opset_;
  const std::vector<Operand> inputs_;
  const std::vector<bool> used_outputs_;
  GraphBuilder& builder_;
  ExternalData& external_;
  const ImportBody import_body_;
  std::set<std::string> read_;
  mutable std::set<size_t> asked_inputs_;
};

}  // namespace korch::onnx
