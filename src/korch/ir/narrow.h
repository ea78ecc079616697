// Narrow weights: whole numbers of 4 or 8 bits that stand for (number - zero point) * scale, in float32, or
// floats in 16 bits that stand for number * scale. As quantizers of language models write them, a
// column's weights share a scale block by block.
//
//   NarrowMatMul(x f32[..., M, K], numbers i8|u8|f16|bf16 [K, N], scales f32 [blocks, N],
//                zeros of whole numbers, as these [blocks, N])
//
// is MatMul(x, weights) with weights[k, n] = float32((numbers[k, n] - zeros[k / block, n]) * scales[k /
// block, n]); without zero points they are 0. There are ceil(K / block) blocks. Operands after the first are
// constants. Kernels keep the numbers in as few bits as `bits` says (codegen/packing.h) and widen them in
// registers.
#pragma once

#include "korch/ir/graph.h"

namespace korch {

struct InferArgs;

// The shape rule: of the result.
TensorType narrow_product_type(const InferArgs& args);

// The weights [K, N] in the type of the scales, which are float32, or float64 where all is computed in that.
// `inputs`: of the node.
HostTensor widened_weights(const NarrowAttrs& attrs, const std::vector<HostTensor>& inputs);

// The product of the widened weights.
Node as_matmul(const Node& node);

}  // namespace korch
