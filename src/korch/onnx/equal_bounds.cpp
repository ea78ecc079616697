#include "korch/onnx/equal_bounds.h"

#include <algorithm>
#include <utility>

#include "korch/onnx/bounds_emitter.h"

namespace korch::onnx {
namespace {

class EqualBounds : BoundsEmitter {
 public:
  using BoundsEmitter::BoundsEmitter;

  std::vector<Operand> run() {
    operands_ = inputs_;
    if (op_ == Op::Concat) {
      for (int64_t axis = 0; axis < x()->rank(); ++axis)
        if (axis != attrs<AxisAttrs>().axis) of_all(axis);
    } else if (op_ == Op::MatMul) {
      const auto& product = attrs<MatMulAttrs>();
      matrices(product.transpose_a, product.transpose_b);
    } else if (op_ == Op::Gemm) {
      const auto& product = attrs<GemmAttrs>();
      matrices(product.transpose_a, product.transpose_b);
    }
    return operands_;
  }

 private:
  void of_all(int64_t axis) {
    std::vector<std::pair<size_t, int64_t>> places;
    for (size_t i = 0; i < operands_.size(); ++i)
      if (axis < operands_[i]->rank()) places.emplace_back(i, axis);
    meet(places);
  }

  void matrices(bool transpose_a, bool transpose_b) {
    const int64_t a = x()->rank(), b = inputs_[1]->rank();
    if (std::min(a, b) < 2) return;
    meet({{0, a - (transpose_a ? 2 : 1)}, {1, b - (transpose_b ? 1 : 2)}});
    for (int64_t i = 3; i <= std::min(a, b); ++i)  // a batch of 1 is repeated
      if (x()->shape()[a - i] != 1 && inputs_[1]->shape()[b - i] != 1) meet({{0, a - i}, {1, b - i}});
  }

  void meet(const std::vector<std::pair<size_t, int64_t>>& places) {
    int64_t least_bound = INT64_MAX;
    for (const auto& [operand, axis] : places)
      least_bound = std::min(least_bound, operands_[operand]->shape()[static_cast<size_t>(axis)]);
    for (const auto& [operand, axis] : places) {
      Operand& x = operands_[operand];
      if (extent_of(x, axis) != nullptr && x->shape()[static_cast<size_t>(axis)] > least_bound)
        x = cut(x, axis, least_bound);
    }
  }

  std::vector<Operand> operands_;
};

}  // namespace

std::vector<Operand> with_equal_bounds(GraphBuilder& builder, Op op, const Attrs& attrs,
                                       const std::vector<Operand>& inputs, const std::string& origin) {
  return EqualBounds(builder, op, attrs, inputs, origin).run();
}

}  // namespace korch::onnx
