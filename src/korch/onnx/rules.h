// Import rules: how an ONNX operator becomes operators of our table. One table per operator family.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/onnx/node_import.h"

namespace korch::onnx {

constexpr int64_t kLatestOpset = 22;  // whose changes the rules know

// Returns the outputs of the node; it may return fewer than the node names when the others are unused.
using Rule = std::vector<Operand> (*)(NodeImport&);

struct RuleRow {
  const char* op_type;
  Rule rule;
  int64_t since = 1, until = kLatestOpset;  // the opsets that have the operator
};

const std::vector<RuleRow>& elementwise_rules();
const std::vector<RuleRow>& shape_rules();  // constants, and what depends on shapes alone
const std::vector<RuleRow>& layout_rules();
const std::vector<RuleRow>& indexing_rules();  // gather, scatter, top-k
const std::vector<RuleRow>& reduction_rules();
const std::vector<RuleRow>& linear_rules();  // matmul, gemm, convolutions
const std::vector<RuleRow>& pooling_rules();
const std::vector<RuleRow>& normalization_rules();
const std::vector<RuleRow>& resize_rules();
const std::vector<RuleRow>& sequence_rules();

// The rule for an operator of a domain ("" is ONNX's own), or null when korch does not know it.
const RuleRow* find_rule(const std::string& domain, const std::string& op_type);

// What several families share.

// The windows of a convolution or pooling along its spatial axes, with auto_pad resolved.
struct Windows {
  std::vector<int64_t> strides, dilations, pads_before, pads_after;
};
// Reads strides, dilations, pads and auto_pad. `kernel` holds the window's extents, `in` the spatial extents.
Windows read_windows(NodeImport& n, const Shape& in, const Shape& kernel);
std::vector<int64_t> spatial_axes(const Operand& x);                       // 2, 3, ... rank - 1
Operand sliced(NodeImport& n, const Operand& x, const SliceAttrs& slice);  // x itself when nothing is cut
// One after the other along an axis.
std::vector<Operand> parts(NodeImport& n, const Operand& x, int64_t axis, const std::vector<int64_t>& sizes);
// Float types only: x ^ exponent.
Operand power(NodeImport& n, const Operand& x, double exponent);

}  // namespace korch::onnx
