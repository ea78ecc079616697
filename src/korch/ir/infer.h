// Shape rules, one function per category; infer_types (op.h) dispatches on the table.
#pragma once

#include "korch/ir/op.h"

namespace korch {

struct InferArgs {
  Op op;
  const Attrs& attrs;
  const std::vector<TensorType>& inputs;
  const std::vector<const HostTensor*>& constants;  // one per input, null where unknown

  const Shape& shape(size_t i) const { return inputs[i].shape; }
  int64_t rank(size_t i) const { return static_cast<int64_t>(inputs[i].shape.size()); }
  template <typename T>
  const T& get() const {
    return std::get<T>(attrs);
  }
};

std::vector<TensorType> infer_elementwise(const InferArgs& args);
std::vector<TensorType> infer_reduce(
    const InferArgs& args);  // reduce, window, and composites of the same shape
std::vector<TensorType> infer_linear(const InferArgs& args);
std::vector<TensorType> infer_opaque(const InferArgs& args);
std::vector<TensorType> infer_composite(const InferArgs& args);
Shape einsum_shape(const InferArgs& args);
// Output of a pooling window or of a convolution, per spatial axis.
int64_t window_extent(const InferArgs& args, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                      int64_t before, int64_t after);

// Throws Error{invalid}: "<Operator>(f32[2x3], ...): <what>".
[[noreturn]] void infer_fail(const InferArgs& args, const std::string& what);
void infer_require(const InferArgs& args, bool condition, const char* what);
void require_axis(const InferArgs& args, int64_t axis, int64_t rank);
// Arithmetic on extents and attributes, which may be anything in a text: fails where int64 does not hold the
// result.
int64_t checked_add(const InferArgs& args, int64_t a, int64_t b);
int64_t checked_multiply(const InferArgs& args, int64_t a, int64_t b);
void require_same_dtype(const InferArgs& args);
void require_winograd(const InferArgs& args, const WinogradAttrs& attrs);
// GatherElements and ScatterElements: an index replaces the coordinate on one axis; on the others its own
// coordinate is used, so it must be one of the data's.
void require_element_indices(const InferArgs& args);
// Numpy broadcasting that names the operator.
Shape broadcast_shapes(const InferArgs& args, const Shape& a, const Shape& b);

}  // namespace korch
