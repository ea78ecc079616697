// The rules, one function each, by family; rules.cpp declares them. Every function looks at one node.
#pragma once

#include "korch/rewrite/rewriter.h"

namespace korch::rules {

// linear.cpp: matmul and convolution with other linear primitives
void convolution_over_concat(Rewriter& r, NodeId id);
void channel_map_before_upsampling(Rewriter& r, NodeId id);
void pointwise_convolution_as_matmul(Rewriter& r, NodeId id);
void compose_constant_matmuls(Rewriter& r, NodeId id);
void concat_of_slices_before_linear(Rewriter& r, NodeId id);
// linear_merge.cpp
void merge_linear(Rewriter& r, NodeId id);
void slice_before_linear(Rewriter& r, NodeId id);
// scaling.cpp: factors
void factor_into_constant(Rewriter& r, NodeId id);
void factor_after_matmul(Rewriter& r, NodeId id);
// constant_vectors.cpp
void vector_before_linear(Rewriter& r, NodeId id);
void factors_after_linear(Rewriter& r, NodeId id);
void constants_together(Rewriter& r, NodeId id);
// layout.cpp
void layouts_cancel(Rewriter& r, NodeId id);
void function_before_repetition(Rewriter& r, NodeId id);
// normalization.cpp
void squares_in_one_pass(Rewriter& r, NodeId id);
void sum_as_matmul(Rewriter& r, NodeId id);
// activation.cpp
void tanh_of_softplus(Rewriter& r, NodeId id);
// window.cpp
void window_of_window(Rewriter& r, NodeId id);
void separable_window(Rewriter& r, NodeId id);
// convolution.cpp
void depthwise_as_window(Rewriter& r, NodeId id);
void winograd(Rewriter& r, NodeId id);
void strassen(Rewriter& r, NodeId id);
void phases_into_strided_convolution(Rewriter& r, NodeId id);
void transposed_convolution_as_convolution(Rewriter& r, NodeId id);
// im2col.cpp
void convolution_as_matmul(Rewriter& r, NodeId id);
// convolution_pieces.cpp
void large_kernel_as_small_ones(Rewriter& r, NodeId id);
void strided_convolution_by_phases(Rewriter& r, NodeId id);
// bytes.cpp: quantized numbers
void whole_numbers_as_bytes(Rewriter& r, NodeId id);
void product_of_bytes(Rewriter& r, NodeId id);
// narrow.cpp
void narrow_weights_as_floats(Rewriter& r, NodeId id);
// upsampling.cpp
void upsampling_into_convolution(Rewriter& r, NodeId id);

}  // namespace korch::rules
