// What a candidate with one linear primitive asks for, in the words of the kernel families: the primitive's
// extents, where its operands come from, and how the candidate's outputs follow from its result.
#pragma once

#include <optional>
#include <vector>

#include "korch/base/result.h"
#include "korch/candidate/candidate.h"
#include "korch/device/device.h"

namespace korch::linear {

// Convolution over two spatial axes; one spatial axis is height 1.
struct ConvShape {
  int64_t images = 1, in_channels = 1, in_height = 1, in_width = 1;
  int64_t out_channels = 1, out_height = 1, out_width = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t group = 1;
  bool padded() const { return pad_top > 0 || pad_left > 0 || pad_bottom > 0 || pad_right > 0; }
  bool pointwise() const { return kernel_h == 1 && kernel_w == 1 && !padded(); }
};

struct MatMulShape {
  std::vector<int64_t> batch;  // broadcast extents of the batch axes
  int64_t batches = 1, m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
};

// Second operands that are narrow (ir/narrow.h), as kernels hold them.
struct NarrowWeights {
  ValueId scales = kNoId, zeros = kNoId;
  int64_t block = 1;  // no more than there are terms
  int64_t bits =
      8;  // of a number; 4 where blocks are whole steps of tile::kNibbles terms, or there is one block
};

struct LinearWorkload {
  const Graph* graph = nullptr;
  const Candidate* candidate = nullptr;
  NodeId node = kNoId;        // the linear primitive; of Winograd's three the last
  ValueId value = kNoId;      // its result
  ValueId data = kNoId;       // first operand
  ValueId weight = kNoId;     // second operand
  int64_t winograd_tile = 0;  // of a WinogradInput, -Product and -Output, whose convolution is `conv`; or 0
  NodeId window = kNoId;      // the depthwise window in the prologue, where there is one
  bool data_fused = false;    // computed by a prologue inside the candidate
  bool weight_fused = false;
  bool weight_constant = false;
  std::optional<ConvShape> conv;  // Conv of one or two spatial axes
  std::optional<MatMulShape> matmul;
  std::optional<NarrowWeights> narrow;  // of a matmul
  double flops = 0;                     // of the linear primitive, directly computed, padding included
  double inner_flops = 0;               // without the products with padding
};

// What the families of this folder hold around a linear primitive (LinearContext). They refuse more, each
// what only it does not do.
bool may_follow(const Graph& graph, const Node& node, int64_t elements);
bool may_precede(const Node& node);
// More of them, per operand, would be computed again too often.
constexpr int kMostBefore = 4;

// Refuses candidates that are not one linear primitive, or Winograd's three, with a prologue of operands and
// an epilogue in which every output follows from the result element by element (elementwise primitives,
// Transpose, Reshape).
Result<LinearWorkload> analyze(const Graph& graph, const Candidate& candidate);

// Distinct bytes of inputs, constants and outputs: no kernel touches fewer. Inputs of which a Slice, a Gather
// or a stride beyond the kernel may skip parts do not count.
double touched_bytes(const Graph& graph, const Candidate& candidate);
const TensorType& type_of(const LinearWorkload& workload, ValueId value);
// Of the linear primitive's result, and of all that a kernel keeps of it on the way.
DType element_type(const LinearWorkload& workload);
int64_t bytes_of(const LinearWorkload& workload, int64_t elements);
bool is_float32(const LinearWorkload& workload);
// Of the first operand; the second has the same, or is i8 beside u8.
DType operand_type(const LinearWorkload& workload);
int64_t operand_bytes(const LinearWorkload& workload, int64_t elements);
// Of the second operand, without scales and zero points.
int64_t weight_bytes(const LinearWorkload& workload, int64_t elements);
bool multiplies_pairs_of_bfloat16(const LinearWorkload& workload);
bool multiplies_bytes(const LinearWorkload& workload);  // with sums in int32
// Products of int16 and of bfloat16 go two by two and those of bytes four by four, with sums in int32; others
// alone.
int64_t terms_together(const LinearWorkload& workload);
// Operands and result are of types that register tiles multiply and hold; of bytes on a target with an
// instruction for that.
bool has_register_tiles(const LinearWorkload& workload, const Device& target);

}  // namespace korch::linear
