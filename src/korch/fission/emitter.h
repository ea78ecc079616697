// Emitter: adds the primitives that one operator becomes to the Graph under construction. It knows the
// origins of the operator, spells the common primitives in one word each, and refuses what no rule covers.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

class Emitter {
 public:
  // `source` is the operator being replaced, it must outlive the Emitter; `base_name` names what is emitted:
  // "y.1", "y.2".
  Emitter(Graph& graph, const Node& source, std::string base_name)
      : graph_(graph), source_(source), base_name_(std::move(base_name)) {}

  TensorType type(ValueId value) const { return graph_.value(value).type; }
  Shape shape(ValueId value) const { return graph_.value(value).type.shape; }
  DType dtype(ValueId value) const { return graph_.value(value).type.dtype; }
  int64_t rank(ValueId value) const { return static_cast<int64_t>(graph_.value(value).type.shape.size()); }
  // The constant tensor a Value is, or null; valid until the next emission.
  const HostTensor* constant_of(ValueId value) const { return graph_.constant(value); }

  ValueId emit(Op op, Attrs attrs, std::vector<ValueId> inputs);
  ValueId emit(Op op, std::vector<ValueId> inputs) { return emit(op, NoAttrs{}, std::move(inputs)); }

  ValueId add(ValueId a, ValueId b) { return emit(Op::Add, {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return emit(Op::Sub, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return emit(Op::Mul, {a, b}); }
  ValueId div(ValueId a, ValueId b) { return emit(Op::Div, {a, b}); }
  ValueId square(ValueId x) { return emit(Op::Mul, {x, x}); }

  ValueId constant(HostTensor value);
  // A constant of x's dtype: a scalar, or `values` under `shape`.
  ValueId scalar_like(ValueId x, double value);
  ValueId constant_like(ValueId x, Shape shape, const std::vector<double>& values);
  ValueId int_constant(Shape shape, const std::vector<int64_t>& values);

  // x * factor and x + term; nothing is emitted for the neutral element.
  ValueId scaled(ValueId x, double factor);
  ValueId shifted(ValueId x, double term);
  // x / count: a product where the reciprocal is exact, so that float32 rounds once either way.
  ValueId divided_by_count(ValueId x, int64_t count);

  ValueId reduce(Op op, ValueId x, std::vector<int64_t> axes, bool keepdims = true);
  // Mean over axes, extents kept as 1.
  ValueId mean(ValueId x, const std::vector<int64_t>& axes);
  ValueId reshape(ValueId x, Shape shape);
  ValueId transpose(ValueId x, std::vector<int64_t> perm);
  ValueId expand(ValueId x, Shape shape);
  // A vector of extents [C] (or [1]) reshaped to broadcast along `axis` of a tensor of rank `rank`: [C, 1,
  // ...].
  ValueId along_axis(ValueId vector, int64_t axis, int64_t rank);

  // Throws Error{unsupported} naming the operator, its node, its input shapes and `what`.
  [[noreturn]] void refuse(const std::string& what, const std::vector<ValueId>& inputs) const;

 private:
  std::string next_name() { return base_name_ + "." + std::to_string(++emitted_); }

  Graph& graph_;
  const Node& source_;
  std::string base_name_;
  int emitted_ = 0;
};

// Number of elements of `shape` along `axes`.
int64_t extent_along(const Shape& shape, const std::vector<int64_t>& axes);
// begin, begin + 1, ..., end - 1.
std::vector<int64_t> axis_range(int64_t begin, int64_t end);

}  // namespace korch
