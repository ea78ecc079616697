// Results that are stored as bfloat16 between steps: half the bytes, whatever reads them
// (docs/design/rewrite.md, "Storage as bfloat16"). No rewrite rule, as products of bfloat16 are none: how far
// results may move is the caller's to decide.
#pragma once

#include <set>
#include <string>

#include "korch/rewrite/rewriter.h"

namespace korch {

// What reports call these alternatives.
inline constexpr const char* kStorageAsBfloat16 = "storage_as_bfloat16";

// Whether steps may exchange the Value, and its bytes are worth halving: float32, made by a node that has a
// name, no output of the graph, and read by what is seldom fused with the node that made it.
bool may_be_stored_as_bfloat16(const Graph& graph, ValueId value);

// Gives every such Value of `base`, but for those made by one of the ONNX nodes `kept`, another producer in
// the rewriter's graph, which is `base` with alternatives: what the Value is when it was rounded. Casts to
// bfloat16 are shared with products of bfloat16.
void add_bfloat16_storage(const Graph& base, Rewriter& rewriter, const std::set<std::string>& kept);

// The graph, which has one producer per Value, with all such Values rounded.
Graph with_bfloat16_storage(const Graph& graph, const std::set<std::string>& kept);

}  // namespace korch
