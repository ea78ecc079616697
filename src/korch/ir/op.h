// The operator table: name, category, arity, attribute struct, shape rule and scalar semantics of every
// operator and primitive. It is the only list of operators; predicates read it.
//
// `composite` operators exist between import and fission; all others are primitives.
// The importer already turns operators whose parameters are static (Squeeze, Flatten, Split, Shape, Constant,
// Identity, Dropout ...) into Reshape, Slice, Constant or nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "korch/ir/scalar.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

enum class Category { constant, elementwise, reduce, window, layout, linear, opaque, composite };

// Attribute structs; axes are normalized to [0, rank) at construction.
struct NoAttrs {
  bool operator==(const NoAttrs&) const = default;
};
struct ConstantAttrs {
  HostTensor value;
  bool operator==(const ConstantAttrs&) const;
};  // by content
struct ScalarAttrs {
  double alpha = 0, beta = 0;
  bool operator==(const ScalarAttrs&) const = default;
};
struct CastAttrs {
  DType to = DType::f32;
  bool saturate = true;  // to f8: else what is too large becomes infinite or NaN
  bool operator==(const CastAttrs&) const = default;
};
struct ReduceAttrs {
  std::vector<int64_t> axes;
  bool keepdims = true;
  bool operator==(const ReduceAttrs&) const = default;
};
struct ArgReduceAttrs {
  int64_t axis = 0;
  bool keepdims = true;
  bool select_last = false;
  bool operator==(const ArgReduceAttrs&) const = default;
};
struct ScanAttrs {
  int64_t axis = 0;
  bool exclusive = false, reverse = false;
  bool operator==(const ScanAttrs&) const = default;
};
struct AxisAttrs {
  int64_t axis = 0;
  bool operator==(const AxisAttrs&) const = default;
};
struct PermAttrs {
  std::vector<int64_t> perm;
  bool operator==(const PermAttrs&) const = default;
};  // output axis i is input axis perm[i]
struct ShapeAttrs {
  Shape shape;
  bool operator==(const ShapeAttrs&) const = default;
};  // the full output shape
struct SliceAttrs {
  std::vector<int64_t> starts, sizes, steps;
  bool operator==(const SliceAttrs&) const = default;
};  // one per axis; steps may be negative
enum class PadMode { constant, reflect, edge };
constexpr const char* kPadModes[] = {"constant", "reflect", "edge"};
struct PadAttrs {
  std::vector<int64_t> before, after;
  PadMode mode = PadMode::constant;
  double value = 0;
  bool operator==(const PadAttrs&) const = default;
};  // >= 0, one per axis
// wide_result: of operands of bf16 alone; products and sums are float32, and so is the result.
struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false, wide_result = false;
  bool operator==(const MatMulAttrs&) const = default;
};
// Of a product with narrow weights (ir/narrow.h).
struct NarrowAttrs {
  int64_t block = 1;  // of so many terms a column's weights share a scale
  int64_t bits = 8;   // 4, 8 or 16, which hold every weight
  bool operator==(const NarrowAttrs&) const = default;
};
// Spatial vectors have one entry per spatial axis. Conv: x[N,C,...] w[M,C/group,k...] (bias is a separate Add
// after fission). ConvTranspose: w[C,M/group,k...]. wide_result: of Conv, as of MatMul.
struct ConvAttrs {
  std::vector<int64_t> strides, dilations, pads_before, pads_after, output_padding;
  int64_t group = 1;
  bool wide_result = false;
  bool operator==(const ConvAttrs&) const = default;
};
struct PoolAttrs {
  std::vector<int64_t> kernel, strides, dilations, pads_before, pads_after;
  bool count_include_pad = false;
  bool operator==(const PoolAttrs&) const = default;
};
// Composite-only attributes.
struct NormAttrs {
  int64_t axis = -1;
  double epsilon = 1e-5;
  int64_t groups = 1;
  bool operator==(const NormAttrs&) const = default;
};
struct GemmAttrs {
  double alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  bool operator==(const GemmAttrs&) const = default;
};
struct EinsumAttrs {
  std::string equation;
  bool operator==(const EinsumAttrs&) const = default;
};
struct LrnAttrs {
  double alpha = 1e-4, beta = 0.75, bias = 1;
  int64_t size = 1;
  bool operator==(const LrnAttrs&) const = default;
};
struct ResizeAttrs {
  Shape sizes;                 // full output shape
  std::vector<double> scales;  // as given or implied, one per axis
  std::string mode = "nearest", coordinate_mode = "half_pixel", nearest_mode = "round_prefer_floor";
  double cubic_coeff_a = -0.75;
  bool exclude_outside = false;
  double extrapolation_value = 0;
  bool operator==(const ResizeAttrs&) const = default;
};
struct TopKAttrs {
  int64_t axis = -1, k = 1;
  bool largest = true, sorted = true;
  bool operator==(const TopKAttrs&) const = default;
};
struct SuppressionAttrs {
  int64_t k = 1;         // at most, of each class
  double threshold = 0;  // boxes overlap when their intersection over their union is larger
  bool operator==(const SuppressionAttrs&) const = default;
};
struct OneHotAttrs {
  int64_t axis = -1, depth = 1;
  bool operator==(const OneHotAttrs&) const = default;
};

// A convolution of stride 1 by Winograd's F(tile x tile, taps x taps), or by Strassen's algorithm
// (ir/winograd.h).
struct WinogradAttrs {
  int64_t tile = 2, taps = 3;  // per axis: outputs of one tile, and weights
  std::vector<int64_t> pads_before = {0, 0}, pads_after = {0, 0};  // WinogradInput's, of two axes
  Shape shape;                                                     // WinogradOutput's result
  bool operator==(const WinogradAttrs&) const = default;
};

// One direction of a recurrent layer as ONNX defines it, its data multiplied by the input weights beforehand
// (ir/recurrence.h).
struct RecurrenceAttrs {
  std::string cell = "lstm";               // or "gru", "rnn"
  std::string activations;                 // elementwise operators, "Sigmoid Tanh Tanh": f, g, h
  std::vector<double> alphas, betas;       // of each
  bool reverse = false;                    // from the last step to the first
  double clip = 0;                         // of what the activations read; 0: none
  bool input_forget = false;               // lstm: the forget gate is 1 - the input gate
  bool linear_before_reset = false;        // gru: the reset gate scales the product, not its operand
  bool peepholes = false, masked = false;  // which optional operands there are
  bool operator==(const RecurrenceAttrs&) const = default;
};

// The two ends of a loop (ir/loops.h).
struct LoopAttrs {
  int64_t number = 0;   // tells the loops of a graph apart
  int64_t carried = 0;  // tensors that a step makes for the next one
  bool operator==(const LoopAttrs&) const = default;
};

// Rows of a tensor behind the first ones of another (ir/append.h).
struct AppendAttrs {
  int64_t axis = 0;
  int64_t capacity = 1;  // the result's extent there
  bool operator==(const AppendAttrs&) const = default;
};

using Attrs =
    std::variant<NoAttrs, ConstantAttrs, ScalarAttrs, CastAttrs, ReduceAttrs, ArgReduceAttrs, ScanAttrs,
                 AxisAttrs, PermAttrs, ShapeAttrs, SliceAttrs, PadAttrs, MatMulAttrs, NarrowAttrs, ConvAttrs,
                 PoolAttrs, NormAttrs, GemmAttrs, EinsumAttrs, LrnAttrs, ResizeAttrs, TopKAttrs, OneHotAttrs,
                 SuppressionAttrs, WinogradAttrs, RecurrenceAttrs, LoopAttrs, AppendAttrs>;

// A linear operation may be three primitives: the data transformed, the product of that with the weights, and
// the result transformed back out of the products.
enum class LinearPart { whole, data, product, result };

// What the category does not tell of how a kernel computes a primitive together with others.
struct Fusing {
  // Other than `whole`: a kernel computes one part alone, or all three of an operation tile by tile, where
  // what is between them never leaves its scratch.
  LinearPart part = LinearPart::whole;
  // A window of one channel, with weights: each result reads its operand once per tap, and is cheap enough to
  // be computed where a linear primitive reads it. Alone it is a convolution, which has kernels of its own.
  bool weighs_window = false;
};

// clang-format off: it would fill lines with rows.
// X(name, category, min inputs, max inputs (-1: any number), outputs (-1: as the inputs say), attribute
// struct,
//   fields of Fusing)
#define KORCH_OPS(X)                                                                                      \
  X(Constant, constant, 0, 0, 1, ConstantAttrs)                                                           \
  /* elementwise, one operand */                                                                          \
  X(Neg, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Abs, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Exp, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Log, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Sqrt, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Reciprocal, elementwise, 1, 1, 1, NoAttrs)                                                            \
  X(Tanh, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Sigmoid, elementwise, 1, 1, 1, NoAttrs)                                                               \
  X(Erf, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Relu, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Softplus, elementwise, 1, 1, 1, NoAttrs)                                                              \
  X(Softsign, elementwise, 1, 1, 1, NoAttrs)                                                              \
  X(TanhSoftplus, elementwise, 1, 1, 1, NoAttrs)                                                          \
  X(Sin, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Cos, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Tan, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(Asin, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Acos, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Atan, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Sinh, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Cosh, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Asinh, elementwise, 1, 1, 1, NoAttrs)                                                                 \
  X(Acosh, elementwise, 1, 1, 1, NoAttrs)                                                                 \
  X(Atanh, elementwise, 1, 1, 1, NoAttrs)                                                                 \
  X(Floor, elementwise, 1, 1, 1, NoAttrs)                                                                 \
  X(Ceil, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Round, elementwise, 1, 1, 1, NoAttrs)                                                                 \
  X(Sign, elementwise, 1, 1, 1, NoAttrs)                                                                  \
  X(Not, elementwise, 1, 1, 1, NoAttrs)                                                                   \
  X(IsNaN, elementwise, 1, 1, 1, NoAttrs)                                                                 \
  X(IsInf, elementwise, 1, 1, 1, ScalarAttrs) /* alpha: detect negative, beta: detect positive */         \
  X(LeakyRelu, elementwise, 1, 1, 1, ScalarAttrs)                                                         \
  X(Elu, elementwise, 1, 1, 1, ScalarAttrs)                                                               \
  X(Celu, elementwise, 1, 1, 1, ScalarAttrs)                                                              \
  X(Selu, elementwise, 1, 1, 1, ScalarAttrs)                                                              \
  X(HardSigmoid, elementwise, 1, 1, 1, ScalarAttrs)                                                       \
  X(HardSwish, elementwise, 1, 1, 1, NoAttrs)                                                             \
  X(ThresholdedRelu, elementwise, 1, 1, 1, ScalarAttrs)                                                   \
  X(Shrink, elementwise, 1, 1, 1, ScalarAttrs)                                                            \
  X(Cast, elementwise, 1, 1, 1, CastAttrs)                                                                \
  /* elementwise, two operands, numpy broadcasting */                                                     \
  X(Add, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Sub, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Mul, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Div, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Pow, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Mod, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Fmod, elementwise, 2, 2, 1, NoAttrs)                                                                  \
  X(Max, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Min, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(PRelu, elementwise, 2, 2, 1, NoAttrs)                                                                 \
  X(And, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Or, elementwise, 2, 2, 1, NoAttrs)                                                                    \
  X(Xor, elementwise, 2, 2, 1, NoAttrs)                                                                   \
  X(Equal, elementwise, 2, 2, 1, NoAttrs)                                                                 \
  X(Less, elementwise, 2, 2, 1, NoAttrs)                                                                  \
  X(LessOrEqual, elementwise, 2, 2, 1, NoAttrs)                                                           \
  X(Greater, elementwise, 2, 2, 1, NoAttrs)                                                               \
  X(GreaterOrEqual, elementwise, 2, 2, 1, NoAttrs)                                                        \
  X(Where, elementwise, 3, 3, 1, NoAttrs)                                                                 \
  /* reduce */                                                                                            \
  X(ReduceSum, reduce, 1, 1, 1, ReduceAttrs)                                                              \
  X(ReduceMax, reduce, 1, 1, 1, ReduceAttrs)                                                              \
  X(ReduceMin, reduce, 1, 1, 1, ReduceAttrs)                                                              \
  X(ReduceProd, reduce, 1, 1, 1, ReduceAttrs)                                                             \
  X(ArgMax, reduce, 1, 1, 1, ArgReduceAttrs)                                                              \
  X(ArgMin, reduce, 1, 1, 1, ArgReduceAttrs)                                                              \
  /* window reduce over the spatial axes of [N,C,...]; padding contributes nothing */                     \
  X(WindowSum, window, 1, 1, 1, PoolAttrs)                                                                \
  X(WindowMax, window, 1, 1, 1, PoolAttrs)                                                                \
  X(WindowDot, window, 2, 2, 1, PoolAttrs, .weighs_window = true) /* x, w[k...,C]: over each channel */   \
  /* ir/winograd.h: x[N,C,H,W] to [elements, tiles, C], and [elements, tiles, M] to [N,M,H,W] */          \
  X(WinogradInput, window, 1, 1, 1, WinogradAttrs, .part = LinearPart::data)                              \
  X(WinogradOutput, window, 1, 1, 1, WinogradAttrs, .part = LinearPart::result)                           \
  /* layout */                                                                                            \
  X(Transpose, layout, 1, 1, 1, PermAttrs)                                                                \
  X(Reshape, layout, 1, 1, 1, ShapeAttrs)                                                                 \
  X(Slice, layout, 1, 1, 1, SliceAttrs)                                                                   \
  X(Pad, layout, 1, 1, 1, PadAttrs)                                                                       \
  X(Concat, layout, 1, -1, 1, AxisAttrs)                                                                  \
  X(Expand, layout, 1, 1, 1, ShapeAttrs)                                                                  \
  X(Gather, layout, 2, 2, 1, AxisAttrs)         /* data, indices; negative indices count from the end */  \
  X(GatherElements, layout, 2, 2, 1, AxisAttrs) /* likewise, an index for each element */                 \
  /* linear */                                                                                            \
  X(MatMul, linear, 2, 2, 1, MatMulAttrs) /* rank >= 2 after import; batch axes broadcast */              \
  /* ir/narrow.h: x, whole numbers [K,N], scales [blocks,N] (, zero points [blocks,N]) */                 \
  X(NarrowMatMul, linear, 3, 4, 1, NarrowAttrs)                                                           \
  X(Conv, linear, 2, 3, 1, ConvAttrs) /* x, w (, bias before fission) */                                  \
  /* [elements, tiles, C], w[M,C,k,k] */                                                                  \
  X(WinogradProduct, linear, 2, 2, 1, WinogradAttrs, .part = LinearPart::product)                         \
  X(ConvTranspose, linear, 2, 3, 1, ConvAttrs)                                                            \
  /* opaque */                                                                                            \
  X(CumSum, opaque, 1, 1, 1, ScanAttrs)                                                                   \
  X(TopK, opaque, 1, 1, 2, TopKAttrs)                                                                     \
  X(GatherND, opaque, 2, 2, 1, AxisAttrs) /* axis: batch dims */                                          \
  X(ScatterElements, opaque, 3, 3, 1, AxisAttrs)                                                          \
  X(ScatterND, opaque, 3, 3, 1, NoAttrs)                                                                  \
  X(MaxPoolIndices, opaque, 1, 1, 1, PoolAttrs) /* the second output of MaxPool */                        \
  /* boxes[N,B,4] as least and greatest coordinates, scores[N,C,B] to indices[N,C,k]: of the boxes     */ \
  /* that overlap the best, next best, ... stay; none is taken with the score -inf or NaN; -1: no more */ \
  X(NonMaxSuppression, opaque, 2, 2, 1, SuppressionAttrs)                                                 \
  X(Recurrence, opaque, 3, 6, 2, RecurrenceAttrs) /* ir/recurrence.h */                                   \
  X(LoopBegin, opaque, 2, -1, -1, LoopAttrs)      /* ir/loops.h */                                        \
  X(LoopEnd, opaque, 3, -1, -1, LoopAttrs)                                                                \
  X(Append, opaque, 5, 5, 1, AppendAttrs) /* ir/append.h */                                               \
  /* composite */                                                                                         \
  X(Softmax, composite, 1, 1, 1, AxisAttrs)                                                               \
  X(LogSoftmax, composite, 1, 1, 1, AxisAttrs)                                                            \
  X(Hardmax, composite, 1, 1, 1, AxisAttrs)                                                               \
  X(LayerNormalization, composite, 2, 3, 1, NormAttrs)                                                    \
  X(InstanceNormalization, composite, 3, 3, 1, NormAttrs)                                                 \
  X(GroupNormalization, composite, 3, 3, 1, NormAttrs)                                                    \
  X(BatchNormalization, composite, 5, 5, 1, NormAttrs) /* x, scale, bias, mean, variance */               \
  X(MeanVarianceNormalization, composite, 1, 1, 1, ReduceAttrs)                                           \
  X(LpNormalization, composite, 1, 1, 1, NormAttrs) /* groups: p */                                       \
  X(LRN, composite, 1, 1, 1, LrnAttrs)                                                                    \
  X(Gemm, composite, 2, 3, 1, GemmAttrs)                                                                  \
  X(Einsum, composite, 1, -1, 1, EinsumAttrs)                                                             \
  X(AveragePool, composite, 1, 1, 1, PoolAttrs)                                                           \
  X(ReduceMean, composite, 1, 1, 1, ReduceAttrs)                                                          \
  X(ReduceL1, composite, 1, 1, 1, ReduceAttrs)                                                            \
  X(ReduceL2, composite, 1, 1, 1, ReduceAttrs)                                                            \
  X(ReduceLogSum, composite, 1, 1, 1, ReduceAttrs)                                                        \
  X(ReduceLogSumExp, composite, 1, 1, 1, ReduceAttrs)                                                     \
  X(ReduceSumSquare, composite, 1, 1, 1, ReduceAttrs)                                                     \
  X(Sum, composite, 1, -1, 1, NoAttrs)                                                                    \
  X(Mean, composite, 1, -1, 1, NoAttrs)                                                                   \
  X(VariadicMax, composite, 1, -1, 1, NoAttrs)                                                            \
  X(VariadicMin, composite, 1, -1, 1, NoAttrs)                                                            \
  X(Gelu, composite, 1, 1, 1, NoAttrs)                                                                    \
  X(Mish, composite, 1, 1, 1, NoAttrs)                                                                    \
  X(Tile, composite, 1, 1, 1, ShapeAttrs)        /* repeats */                                            \
  X(DepthToSpace, composite, 1, 1, 1, AxisAttrs) /* axis: block size */                                   \
  X(DepthToSpaceCRD, composite, 1, 1, 1, AxisAttrs)                                                       \
  X(SpaceToDepth, composite, 1, 1, 1, AxisAttrs)                                                          \
  X(Resize, composite, 1, 1, 1, ResizeAttrs)                                                              \
  X(OneHot, composite, 2, 2, 1, OneHotAttrs) /* indices, values[2] */                                     \
  X(Trilu, composite, 1, 1, 1, ScanAttrs)    /* axis: k; reverse: upper */
// clang-format on

enum class Op : uint16_t {
#define X(name, ...) name,
  KORCH_OPS(X)
#undef X
};

struct OpInfo {
  Op op;
  const char* name;
  Category category;
  int min_inputs, max_inputs, outputs;
  size_t attrs_index;  // of the attribute struct in Attrs
  Fusing fusing;
};

const OpInfo& info(Op op);
const char* name(Op op);
std::optional<Op> parse_op(std::string_view name);
bool is_primitive(Op op);
int output_count(Op op, const Attrs& attrs, size_t inputs);
inline bool is_loop_end(Op op) {
  return op == Op::LoopBegin || op == Op::LoopEnd;
}  // one of the two ends

// The meaning of an elementwise primitive, per element.
const ScalarExpr& scalar_semantics(Op op);

// The shape rule: output types from input types. `constants[i]` is input i's value where it is known, else
// null. Throws Error{invalid} naming the operator and the shapes; the caller adds the node's name.
std::vector<TensorType> infer_types(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs,
                                    const std::vector<const HostTensor*>& constants = {});

}  // namespace korch
