// What the interpreter's sources share: one evaluator per operator, all of the same form.
//
// An evaluator may compute in a wider type than the declared one (see `widened`); `evaluate_node` rounds its
// results once to the declared types. Shapes and attributes are trusted: the shape rules have checked them.
// What depends on data (indices, divisors) is checked here: Error{invalid} without the node's name, which the
// caller adds.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "korch/base/stop_check.h"
#include "korch/ir/graph.h"

namespace korch {

struct Evaluation {
  const Node& node;
  const std::vector<HostTensor>& inputs;
  const std::vector<TensorType>& types;  // of the outputs, as they are to be stored
  StopCheck& stop;                       // to be told of every few elements

  template <typename T>
  const T& attrs() const {
    return std::get<T>(node.attrs);
  }
  const Shape& output_shape() const { return types[0].shape; }
  // Products of float32 tensors in the model's own precision sum in float32, as engines do.
  bool sums_in_float32() const { return types[0].dtype == DType::f32; }
};

using Evaluator = std::vector<HostTensor> (*)(const Evaluation&);
Evaluator evaluator(Op op);  // the table: evaluators.cpp

// Arithmetic other than elementwise is done in f64 for floats (whatever the precision: more accurate than the
// declared type, and rounded once; products of matrices excepted, see sums_in_float32), in u64 for u64, and
// in i64 for all other types, whose results wrap when narrowed.
DType wide_type(DType type);
HostTensor widened(const HostTensor& tensor);

// f(W{}) with W how a wide type is stored.
template <typename F>
decltype(auto) with_wide_type(DType wide, F&& f) {
  if (wide == DType::f64) return f(double{});
  if (wide == DType::u64) return f(uint64_t{});
  return f(int64_t{});
}

// A fresh f64 tensor.
HostTensor doubles(const Shape& shape);
// Numpy-broadcasts `tensor` to `shape`.
HostTensor broadcast_to(const HostTensor& tensor, const Shape& shape, StopCheck& stop);
// Evaluates the scalar semantics of an elementwise operator, with broadcasting.
HostTensor evaluate_scalar(Op op, const ScalarAttrs& scalars, const std::vector<HostTensor>& inputs,
                           const TensorType& type, StopCheck& stop);
// The same in float64, block by block in the order of the elements: `take` gets the first one's number, how
// many there are, and their values, which are gone afterwards.
void evaluate_scalar_in_blocks(Op op, const ScalarAttrs& scalars, const std::vector<HostTensor>& inputs,
                               const Shape& shape, StopCheck& stop,
                               const std::function<void(int64_t, int64_t, const double*)>& take);

using Results = std::vector<HostTensor>;
Results evaluate_constant(const Evaluation&);
Results evaluate_elementwise(const Evaluation&);
// evaluate_reduce.cpp
Results evaluate_reduce_sum(const Evaluation&);
Results evaluate_reduce_max(const Evaluation&);
Results evaluate_reduce_min(const Evaluation&);
Results evaluate_reduce_prod(const Evaluation&);
Results evaluate_arg_max(const Evaluation&);
Results evaluate_arg_min(const Evaluation&);
Results evaluate_cum_sum(const Evaluation&);
// evaluate_reduce_composite.cpp
Results evaluate_reduce_mean(const Evaluation&);
Results evaluate_reduce_l1(const Evaluation&);
Results evaluate_reduce_l2(const Evaluation&);
Results evaluate_reduce_log_sum(const Evaluation&);
Results evaluate_reduce_log_sum_exp(const Evaluation&);
Results evaluate_reduce_sum_square(const Evaluation&);
Results evaluate_mean_variance_normalization(const Evaluation&);
// evaluate_window.cpp
Results evaluate_window_sum(const Evaluation&);
Results evaluate_window_dot(const Evaluation&);
Results evaluate_window_max(const Evaluation&);
Results evaluate_average_pool(const Evaluation&);
Results evaluate_max_pool_indices(const Evaluation&);
// evaluate_layout.cpp
Results evaluate_layout(const Evaluation&);  // what moves elements, by its index map
Results evaluate_reshape(const Evaluation&);
Results evaluate_concat(const Evaluation&);
Results evaluate_trilu(const Evaluation&);
// evaluate_indexed.cpp
Results evaluate_gather(const Evaluation&);
Results evaluate_gather_elements(const Evaluation&);
Results evaluate_gather_nd(const Evaluation&);
Results evaluate_scatter_elements(const Evaluation&);
Results evaluate_scatter_nd(const Evaluation&);
Results evaluate_append(const Evaluation&);
Results evaluate_top_k(const Evaluation&);
Results evaluate_non_max_suppression(const Evaluation&);
Results evaluate_one_hot(const Evaluation&);
// evaluate_recurrence.cpp
Results evaluate_recurrence(const Evaluation&);
// evaluate_loop.cpp
Results evaluate_loop_begin(const Evaluation&);
Results evaluate_loop_end(const Evaluation&);
// evaluate_matmul.cpp
Results evaluate_matmul(const Evaluation&);
Results evaluate_narrow_matmul(const Evaluation&);
Results evaluate_gemm(const Evaluation&);
// evaluate_winograd.cpp
Results evaluate_winograd_input(const Evaluation&);
Results evaluate_winograd_product(const Evaluation&);
Results evaluate_winograd_output(const Evaluation&);
// evaluate_einsum.cpp
Results evaluate_einsum(const Evaluation&);
// evaluate_conv.cpp
Results evaluate_conv(const Evaluation&);
Results evaluate_conv_transpose(const Evaluation&);
// evaluate_normalize.cpp
Results evaluate_layer_normalization(const Evaluation&);
Results evaluate_instance_normalization(const Evaluation&);
Results evaluate_group_normalization(const Evaluation&);
Results evaluate_batch_normalization(const Evaluation&);
Results evaluate_lp_normalization(const Evaluation&);
Results evaluate_lrn(const Evaluation&);
// evaluate_softmax.cpp
Results evaluate_softmax(const Evaluation&);
Results evaluate_log_softmax(const Evaluation&);
Results evaluate_hardmax(const Evaluation&);
// evaluate_variadic.cpp
Results evaluate_sum(const Evaluation&);
Results evaluate_mean(const Evaluation&);
Results evaluate_variadic_max(const Evaluation&);
Results evaluate_variadic_min(const Evaluation&);
Results evaluate_gelu(const Evaluation&);
Results evaluate_mish(const Evaluation&);
// evaluate_resize.cpp
Results evaluate_resize(const Evaluation&);

}  // namespace korch
