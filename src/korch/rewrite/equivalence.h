// Do two graphs compute the same function of their inputs? Random tests over finite fields
// (docs/design/rewrite.md; after Mirage, arXiv 2405.05751, section 5), and in float64.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "korch/ir/field_result.h"
#include "korch/ir/graph.h"

namespace korch {

struct EquivalenceOptions {
  int tests = 16;  // over the field
  uint64_t seed = 1;
  // Inputs of graphs with these inputs, for a seed: integers must be what the graphs accept.
  std::function<std::vector<HostTensor>(const Graph&, uint64_t)> inputs;
};

// Both graphs of primitives, with the same inputs and outputs in the same order.
FieldResult compare_over_field(const Graph& a, const Graph& b, const EquivalenceOptions& options);

enum class Verdict {
  equal,      // the same over the field and in float64
  different,  // in float64, by more than rounding
  undecided   // the same in float64 or nearly, but the field says otherwise or nothing
};
const char* name(Verdict verdict);

struct Equivalence {
  Verdict verdict = Verdict::undecided;
  FieldResult field;
  // The largest difference of an output in float64, in standard deviations of that output.
  double float64_difference = 0;
  std::string worst_output;
};

// |a - b| in standard deviations of a, the largest of all elements; equal infinities and NaNs do not differ.
double largest_difference(const HostTensor& a, const HostTensor& b);

// What both tests tell together.
Verdict verdict_of(const FieldResult& field, double float64_difference);

// Both graphs of primitives, with the same inputs and outputs by name; Error{invalid} says what does not
// match. They must come from fission's rules without its simplifications, which round constants.
Equivalence check_equivalence(const Graph& a, const Graph& b, const EquivalenceOptions& options);

}  // namespace korch
