// Fills the classes of equal Values: rewrite rules add other primitives for the Values of a primitive Graph
// (docs/design/rewrite.md). The binary linear program chooses among them, together with fusion.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "korch/base/deadline.h"
#include "korch/rewrite/rewriter.h"
#include "korch/rewrite/rule.h"

namespace korch {

struct RewriteOptions {
  bool strict = false;                 // only rules that add no error beyond another order of summation
  std::vector<std::string> only = {};  // names of the rules to apply; empty: all
  RewriteLimits limits = {};
  bool bytes = false;                         // the target multiplies bytes
  bool floats = false;                        // the target has no kernels for narrow weights
  bool bfloat16_products = false;             // the target multiplies bfloat16, and results may differ
  std::set<std::string> float_products = {};  // ONNX nodes whose products stay float32 all the same
  bool bfloat16_storage = false;              // results may differ by what storage as bfloat16 rounds
  std::set<std::string> float_results = {};   // ONNX nodes whose results are not rounded all the same
  bool alternatives = true;                   // false: only what dominates, in the place of what it equals
  bool fold = true;        // constants that alternatives need are computed (in float64, rounded once)
  Deadline deadline = {};  // after which nothing more is added; a limit like the others
};

struct Rewritten {
  // The original nodes keep their ids. Nodes that replace some of them, and alternatives, follow.
  Graph graph;
  Graph base;                             // the same without alternatives: one producer per Value
  std::vector<std::string> rules;         // that were tried
  std::map<std::string, int> applied;     // by rule
  std::map<std::string, int> limited;     // by limit that bit: how often
  std::map<NodeId, std::string> rule_of;  // of the added nodes: which rule first wanted it
  int64_t constant_bytes = 0;             // of constants that only alternatives need
  // The origins of computed constants (RewriteOptions::fold): graphs without inputs, each over the original
  // graph's constants and those of earlier graphs. Outputs are named by the constants' hashes (ir/text.h).
  std::vector<Graph> folded;
};

// The constants that a graph of `folded` describes, by their hashes: computed in float64, rounded once.
std::map<std::string, HostTensor> folded_constants(const Graph& graph);

// `rules` are rewrite_rules() but in tests. Throws Error{usage} on an unknown name in `only`.
Rewritten add_alternatives(Graph graph, const RewriteOptions& options,
                           const std::vector<RewriteRule>& rules = rewrite_rules());

}  // namespace korch
