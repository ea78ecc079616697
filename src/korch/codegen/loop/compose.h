// A Value of a candidate at symbolic coordinates as one scalar expression: elementwise primitives by their
// scalar semantics, layout primitives by their index maps, pooling windows unrolled.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "korch/candidate/candidate.h"
#include "korch/codegen/loop/index_formula.h"
#include "korch/kernel/expr.h"
#include "korch/tensor/layout.h"

namespace korch::tile {

// An argument of the kernel: numbers follow the ABI (inputs, constants, outputs, temporaries).
struct Argument {
  int number = -1;
  Layout layout;
};

// What the elementwise primitive `op` computes of these operands.
int apply_elementwise(ExprPool& pool, Op op, const ScalarAttrs& scalars, std::vector<int> operands,
                      DType result);

class Composer {
 public:
  // `memory` tells where the candidate's inputs and constants lie (one-element constants become literals).
  Composer(const Graph& graph, const Candidate& candidate, std::map<ValueId, Argument> memory,
           ExprPool& pool);

  // Values that are not composed further but become ExprKind::intermediate.
  void set_intermediate(ValueId value, bool on);
  bool is_intermediate(ValueId value) const { return intermediates_.count(value) != 0; }

  // Why `value` cannot be composed; empty when it can (a reduction over a whole axis cannot, an opaque or
  // linear primitive cannot).
  std::string obstacle(ValueId value) const;

  // The expression's root in the pool. Throws Error{internal} when `value` needs a primitive that `obstacle`
  // names.
  int compose(ValueId value, const std::vector<Index>& coords);

  // An intermediate's own definition, one step below `value` (which may be an intermediate itself): for
  // elementwise and layout primitives the value at coords; a reduction's operand is composed by the caller.
  int define(ValueId value, const std::vector<Index>& coords);

  // A linear primitive's summand: `value` at `coords` is its sum over `reduced` (product_extents).
  int product(ValueId value, const std::vector<Index>& coords, const std::vector<Index>& reduced);

  // How often each Value of the candidate was composed at distinct coordinates since `clear_counts`.
  const std::map<ValueId, int>& evaluations() const { return evaluations_; }
  void clear_counts();

  // The producing node inside the candidate, or null.
  const Node* producer(ValueId value) const;

 private:
  struct Element {
    ValueId value = kNoId;
    std::vector<Index> coords;
    bool operator==(const Element&) const = default;
  };
  struct ElementHash {
    size_t operator()(const Element& element) const {
      auto hash = static_cast<size_t>(element.value);
      for (const Index& coord : element.coords) hash = mixed(hash, coord.hash());
      return hash;
    }
  };

  int define_one(ValueId value, const std::vector<Index>& coords);
  // Defines what `value` is made of by elementwise and layout primitives, operands first, so that the
  // recursion from one Value to its operands stays shallow.
  void define_operands(ValueId value, const std::vector<Index>& coords);
  int read(ValueId value, const std::vector<Index>& coords);
  int elementwise(const Node& node, const std::vector<Index>& coords);
  int layout(const Node& node, const std::vector<Index>& coords);
  int gather(const Node& node, const std::vector<Index>& coords);
  // The gather's index when its constant indices follow a formula; they are known to be in range then.
  std::optional<Index> known_index(const Node& node, const std::vector<Index>& index_coords);
  // What a window or linear primitive combines of its operands, beside the taps that are given already.
  int weight(const Node& node, const std::vector<Index>& coords);
  int combined_taps(const Node& node, const std::vector<Index>& coords, const std::vector<Index>& reduced);
  // Combines what `tap` gives for each position of a window (-1: nothing); large windows loop over their
  // outer axes. -1 when no tap gave anything.
  using Tap = std::function<int(const std::vector<Index>& position)>;
  int over_taps(ValueId value, const Shape& kernel, ScalarFn combine, const Tap& tap);

  const Graph& graph_;
  std::map<ValueId, Argument> memory_;
  std::map<ValueId, NodeId> producers_;
  ExprPool& pool_;
  std::map<ValueId, int> intermediates_;
  std::unordered_map<Element, int, ElementHash> memo_;
  std::map<ValueId, int> evaluations_;
  std::map<ValueId, std::optional<IndexFormula>> formulas_;  // of gathers with constant indices, by result
};

// The combining function of a reduction, window or linear primitive.
std::optional<ScalarFn> combine_function(Op op);
// What a linear primitive sums over outside of its windows: the inner axis of a MatMul, the channels of a
// group.
Shape product_extents(const Graph& graph, const Node& node);

}  // namespace korch::tile
