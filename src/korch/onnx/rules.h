// Import rules: how an ONNX operator becomes operators of our table. One table per operator family.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "korch/onnx/node_import.h"
#include "korch/onnx/term.h"

namespace korch::onnx {

// Of ONNX's own operators: the newest whose changes the rules know. Models of a newer one are read as of this
// one.
constexpr int64_t kLatestOpset = 28;

// Returns the outputs of the node; it may return fewer than the node names when the others are unused.
using Rule = Results (*)(NodeImport&);

// An operator, by its history in its domain's opsets. bench/onnx_operators.py compares with ONNX's.
struct RuleRow {
  const char* op_type;
  Rule rule;
  int64_t since = 1;    // the opset that brought it, or the first that we read
  int64_t version = 1;  // its last change, which the rule knows
  int64_t until = std::numeric_limits<int64_t>::max();  // the last opset that has it
};

std::vector<RuleRow> elementwise_rules();
std::vector<RuleRow> shape_rules();      // constants, and what depends on shapes alone
std::vector<RuleRow> selection_rules();  // whose results' extents depend on the data
std::vector<RuleRow> layout_rules();
std::vector<RuleRow> slice_rules();
std::vector<RuleRow> pad_rules();
std::vector<RuleRow> indexing_rules();  // gather, top-k
std::vector<RuleRow> scatter_rules();
std::vector<RuleRow> reduction_rules();
std::vector<RuleRow> linear_rules();  // matmul, gemm, convolutions
std::vector<RuleRow> pooling_rules();
std::vector<RuleRow> normalization_rules();
std::vector<RuleRow> resize_rules();
std::vector<RuleRow> sequence_rules();
std::vector<RuleRow> attention_rules();  // and what else decoders are made of
std::vector<RuleRow> recurrent_rules();  // LSTM, GRU, RNN
std::vector<RuleRow> loss_rules();
std::vector<RuleRow> signal_rules();  // windows, spectra
std::vector<RuleRow> random_rules();
std::vector<RuleRow> sampling_rules();  // images where coordinates say
std::vector<RuleRow> bit_rules();
std::vector<RuleRow> feature_rules();  // of what is counted
std::vector<RuleRow> control_rules();  // If, Loop
std::vector<RuleRow> scan_rules();
std::vector<RuleRow> quantized_rules();  // and products of integers
// Of kRuntimeDomain.
std::vector<RuleRow> runtime_rules();
std::vector<RuleRow> runtime_fused_rules();  // one operator that stands for several
std::vector<RuleRow> runtime_attention_rules();
std::vector<RuleRow> runtime_quantized_rules();
std::vector<RuleRow> runtime_quantized_layer_rules();
std::vector<RuleRow> runtime_moe_rules();  // mixtures of experts
// Of kLearnerDomain.
std::vector<RuleRow> learner_rules();
std::vector<RuleRow> more_learner_rules();  // that predict, or encode numbers
std::vector<RuleRow> tree_rules();
std::vector<RuleRow> support_vector_rules();

constexpr const char* kRuntimeDomain = "com.microsoft";  // of ONNX Runtime
constexpr const char* kLearnerDomain = "ai.onnx.ml";     // ONNX's, of classical learners
// All that have rules, ONNX's own first.
constexpr std::array<const char*, 3> kDomains = {"ai.onnx", kRuntimeDomain, kLearnerDomain};

// The tables of a domain ("" or "ai.onnx": ONNX's own); none for one that korch does not know.
std::vector<std::vector<RuleRow>> rule_tables(const std::string& domain);
// The rule for an operator of a domain, or null when korch does not know it.
const RuleRow* find_rule(const std::string& domain, const std::string& op_type);

// What several families share.

class Term;

// The windows of a convolution or pooling along its spatial axes, with auto_pad resolved.
struct Windows {
  std::vector<int64_t> strides, dilations, pads_before, pads_after;
  // Per spatial axis, where pads depend on an extent (auto_pad): null, or how many in front, and how many on
  // both sides, at most `most_pads`. The pads above are 0 then: with_open_pads.
  Results open_before = {}, open_pads = {};
  std::vector<int64_t> most_pads = {};

  bool are_open() const;
};
// Reads strides, dilations, pads and auto_pad. `kernel` holds the window's extents.
Windows read_windows(NodeImport& n, const Operand& x, const Shape& kernel);
// The data with pads of this value where those depend on an extent.
Operand with_open_pads(NodeImport& n, const Operand& x, const Windows& windows, double value);
// All of an axis's padding lies behind it, and as many elements as `before` says come to the front: `length`
// elements are there then.
Operand moved_in_front(NodeImport& n, const Operand& padded, int64_t axis, const Operand& before,
                       const Term& length);
std::vector<int64_t> spatial_axes(const Operand& x);  // 2, 3, ... rank - 1
// As MatMul and Conv do, the latter by the node's attributes.
Operand matrix_product(NodeImport& n, Operand a, Operand b);
Operand convolution(NodeImport& n, std::vector<Operand> operands);
Operand sliced(NodeImport& n, const Operand& x, const SliceAttrs& slice);  // x itself when nothing is cut
// Along an axis whose extent is open, or between positions that a run tells (i64 of rank 0).
Operand between(NodeImport& n, const Operand& x, int64_t axis, const Operand& start, const Operand& end);
// One after the other along an axis.
std::vector<Operand> parts(NodeImport& n, const Operand& x, int64_t axis, const std::vector<int64_t>& sizes);
// In [0, 1), float32, by the node's seed or name.
Operand uniform_numbers(NodeImport& n, const Shape& shape);
// Of quantized numbers, by the inputs that hold them, their scales and zero points: the floats that they
// stand for, the numbers (of the type of `like` without a zero point) that stand for floats, and a product as
// floats.
Term quantized_input(NodeImport& n, size_t numbers, size_t scale, size_t zero_point);
Operand quantized_result(NodeImport& n, const Term& x, size_t scale, size_t zero_point, const Operand& like);
struct QuantizedSide {
  size_t numbers, scale, zero_point;
};
Term quantized_product(NodeImport& n, const QuantizedSide& left, const QuantizedSide& right);
// ONNX Runtime's attention of projected [batch, positions, width]: masks of its kinds, `past` and `present`
// of keys and values in one tensor.
struct ProjectedInputs {
  Term q, k, v;
  size_t mask, past, bias;  // inputs
};
Results attention_of_runtime(NodeImport& n, const ProjectedInputs& inputs);
// Where a sum of tables' rows is normalized: of words, positions and segments.
struct EmbeddingTables {
  std::optional<Term> words, positions, segments, scale, shift;
};
Results embed_layer_normalization(NodeImport& n, const EmbeddingTables& tables, size_t mask,
                                  size_t position_ids);
Term root_mean_square(const Term& x, const std::vector<int64_t>& axes, double epsilon);
// x Phi(x), and by tanh.
Operand gelu_by_erf(NodeImport& n, const Operand& x);
Operand gelu_by_tanh(NodeImport& n, const Operand& x);
// Of square matrices [..., n, n] in float64, n at least 1.
constexpr int64_t kMaxInverted = 16;
Term inverted(const Term& x);
// Float types only: x ^ exponent.
Operand power(NodeImport& n, const Operand& x, double exponent);

}  // namespace korch::onnx
