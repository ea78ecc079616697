// Products of operands that are rounded to bfloat16, beside those of float32: MatMul and Conv with a wide
// result, and the Casts of their operands (docs/design/rewrite.md, "Products of bfloat16"). They are no
// rewrite rules, since they compute something else: how far results may move is the caller's to decide.
#pragma once

#include <set>
#include <string>

#include "korch/rewrite/rewriter.h"

namespace korch {

// What reports call these alternatives.
inline constexpr const char* kProductOfBfloat16 = "product_of_bfloat16";

// Whether the node is a product of float32 that could be of bfloat16: MatMul, or Conv by constant weights,
// with enough terms, of a node that has a name.
bool may_be_of_bfloat16(const Graph& graph, const Node& node);

// Adds the product of bfloat16 to the class of every node of `graph` that may be one, but for those that stem
// from one of the ONNX nodes `kept`. The operands' Casts are shared.
void add_bfloat16_products(Graph& graph, Rewriter& rewriter, const std::set<std::string>& kept);

// The graph, which has one producer per Value, with such products in the place of all others.
Graph with_bfloat16_products(const Graph& graph, const std::set<std::string>& kept);

}  // namespace korch
