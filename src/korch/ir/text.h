// The textual form of a Graph. print and parse round-trip (constants by content up to kInlineConstantElements
// elements, above that as one splat value or by hash with their data in a side table the caller gives).
//
//   graph {
//     input %x : f32[1x3x8x8] "input"
//     %w = Constant() {splat=0.5} : f32[4x3x3x3]
//     %y = Conv(%x, %w) {strides=[1,1], ...} : f32[1x4x6x6] @ "Conv_0"
//     %y |= Conv(%x2, %w2) {...}            // another producer of the class %y
//     output %y "out"
//   }
//
// Attributes that have their default are left out. Value names are sanitized to [A-Za-z0-9_./-] and made
// unique. On a `|=` line the types may be left out; an output that no earlier line made becomes a fresh
// Value.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "korch/ir/graph.h"

namespace korch {

constexpr int64_t kInlineConstantElements = 16;  // longer ones would drown the text

std::string print(const Graph& graph);
std::string print(const Graph& graph, NodeId node);
std::string print_attrs(const Attrs& attrs);
// Throws Error{invalid} with line and column.
Graph parse_graph(std::string_view text, const std::map<std::string, HostTensor>& constants_by_hash = {});
std::map<std::string, HostTensor> large_constants(const Graph& graph);
// By which the text of a graph names a large constant: over type and elements.
std::string constant_hash(const HostTensor& tensor);

}  // namespace korch
