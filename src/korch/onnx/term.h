// Term: an operand of an import rule's formula. A rule that builds an operator from simpler ones reads like
// its definition: `x * sigmoid(x * alpha)`. Numbers take the type of the other operand; shapes broadcast.
#pragma once

#include <optional>
#include <vector>

#include "korch/onnx/node_import.h"

namespace korch::onnx {

class Term {
 public:
  Term(NodeImport& n, Operand operand) : n_(&n), operand_(std::move(operand)) {}
  // Of that type, and its one element.
  Term(NodeImport& n, DType dtype, double number) : Term(n, n.scalar(dtype, number)) {}

  operator Operand() const { return operand_; }
  NodeImport& node() const { return *n_; }
  const Operand& operand() const { return operand_; }
  const Shape& shape() const { return operand_->shape(); }
  int64_t extent(int64_t axis) const { return shape()[static_cast<size_t>(axis)]; }
  int64_t rank() const { return operand_->rank(); }
  DType dtype() const { return operand_->dtype(); }

 private:
  NodeImport* n_;
  Operand operand_;
};

Term apply(Op op, const std::vector<Term>& operands, Attrs attrs = NoAttrs{});
Term number_like(const Term& like, double number);
Term integer(NodeImport& n, int64_t value);  // i64, rank 0
Term length(const Term& x, int64_t axis);    // its extent, or the number that the type states

Term operator+(const Term& a, const Term& b);
Term operator-(const Term& a, const Term& b);
Term operator*(const Term& a, const Term& b);
Term operator/(const Term& a, const Term& b);
Term operator+(const Term& a, double b);
Term operator-(const Term& a, double b);
Term operator-(double a, const Term& b);
Term operator*(const Term& a, double b);
Term operator/(const Term& a, double b);
Term operator-(const Term& a);
// Conditions: bool tensors.
Term operator<(const Term& a, const Term& b);
Term operator<=(const Term& a, const Term& b);
Term operator==(const Term& a, const Term& b);
Term operator<(const Term& a, double b);
Term operator<=(double a, const Term& b);
Term operator==(const Term& a, double b);
Term operator&&(const Term& a, const Term& b);
Term operator||(const Term& a, const Term& b);
Term operator!(const Term& a);
Term select(const Term& condition, const Term& yes, const Term& no);
Term select(const Term& condition, const Term& yes, double no);
Term select(const Term& condition, double yes, const Term& no);

Term exp(const Term& x);
Term sqrt(const Term& x);
Term tanh(const Term& x);
Term sigmoid(const Term& x);
Term abs(const Term& x);
Term floor(const Term& x);
Term max(const Term& a, const Term& b);
Term min(const Term& a, const Term& b);
Term clamp(const Term& x, double low, double high);  // NaN stays
Term softmax(const Term& x, int64_t axis);

Term cast(const Term& x, DType dtype);
// In the precision in which small floats are computed with: float32 for those, else the type itself.
Term widened(const Term& x);
Term reshape(const Term& x, const Shape& shape);
Term expand(const Term& x, const Shape& shape);
Term transpose(const Term& x, const std::vector<int64_t>& perm);
// `count` elements along the axis, from `start` on.
Term slice(const Term& x, int64_t axis, int64_t start, int64_t count, int64_t step = 1);
Term concat(const std::vector<Term>& parts, int64_t axis);
// Along one axis.
Term pad(const Term& x, int64_t axis, int64_t before, int64_t after, double value);
Term insert_axis(const Term& x, int64_t axis);
Term matmul(const Term& a, const Term& b);
Term reduce(Op op, const Term& x, const std::vector<int64_t>& axes, bool keepdims = true);
Term gather_elements(const Term& data, const Term& indices, int64_t axis);
// 0, 1, 2, ... along one axis of a tensor of this rank, the others having extent 1.
Term positions(NodeImport& n, DType dtype, int64_t count, int64_t axis, int64_t rank);
// As many as the axis `of` of x has, along axis `at` of a tensor of this rank, whose extent is that of x's.
Term positions_along(const Term& x, int64_t of, int64_t at, int64_t rank);
// Repeated to the shape of another tensor, with its extents.
Term expand_like(const Term& x, const Term& like);
// `count` elements of the axis, the last of which is its last.
Term last_of(const Term& x, int64_t axis, int64_t count);
// From the last element of an axis to its first.
Term flipped(const Term& x, int64_t axis);
Term constant(NodeImport& n, DType dtype, const Shape& shape, const std::vector<double>& values);
// Of a tensor whose extents depend on the data (bounded.h): the same as if they were their bounds, and of
// each element whether it lies within them; none: all do.
Term at_bounds(const Term& x);
std::optional<Term> within(const Term& x);

}  // namespace korch::onnx
