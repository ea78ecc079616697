// The fission rules: one row per operator that is not a primitive (and for convolutions with a bias). A rule
// receives the operator and its inputs in the new Graph, emits primitives and returns the Value equal to the
// operator's only output. Its formula stands in the table (rules.cpp); each rule is checked against the
// interpreter in float64 (tests/fission) and has one golden (tests/text/fission).
#pragma once

#include <vector>

#include "korch/fission/emitter.h"

namespace korch {

using Inputs = std::vector<ValueId>;

struct FissionRule {
  Op op;
  bool (*condition)(const Node&);  // null: always
  ValueId (*replace)(Emitter& emitter, const Node& node, const Inputs& inputs);
};

const std::vector<FissionRule>& fission_rules();
// The rule that applies to the node, or null.
const FissionRule* find_fission_rule(const Node& node);

namespace rules {

// softmax.cpp
ValueId softmax(Emitter&, const Node&, const Inputs&);
ValueId log_softmax(Emitter&, const Node&, const Inputs&);
ValueId hardmax(Emitter&, const Node&, const Inputs&);

// normalization.cpp
ValueId layer_normalization(Emitter&, const Node&, const Inputs&);
ValueId instance_normalization(Emitter&, const Node&, const Inputs&);
ValueId group_normalization(Emitter&, const Node&, const Inputs&);
ValueId batch_normalization(Emitter&, const Node&, const Inputs&);
ValueId mean_variance_normalization(Emitter&, const Node&, const Inputs&);
ValueId lp_normalization(Emitter&, const Node&, const Inputs&);
ValueId lrn(Emitter&, const Node&, const Inputs&);

// linear.cpp, einsum.cpp
ValueId convolution_with_bias(Emitter&, const Node&, const Inputs&);
ValueId gemm(Emitter&, const Node&, const Inputs&);
ValueId einsum(Emitter&, const Node&, const Inputs&);

// pooling.cpp
ValueId average_pool(Emitter&, const Node&, const Inputs&);

// reduction.cpp
ValueId reduce_mean(Emitter&, const Node&, const Inputs&);
ValueId reduce_l1(Emitter&, const Node&, const Inputs&);
ValueId reduce_l2(Emitter&, const Node&, const Inputs&);
ValueId reduce_log_sum(Emitter&, const Node&, const Inputs&);
ValueId reduce_log_sum_exp(Emitter&, const Node&, const Inputs&);
ValueId reduce_sum_square(Emitter&, const Node&, const Inputs&);

// elementwise.cpp
ValueId sum(Emitter&, const Node&, const Inputs&);
ValueId mean(Emitter&, const Node&, const Inputs&);
ValueId variadic_max(Emitter&, const Node&, const Inputs&);
ValueId variadic_min(Emitter&, const Node&, const Inputs&);
ValueId gelu(Emitter&, const Node&, const Inputs&);
ValueId mish(Emitter&, const Node&, const Inputs&);

// rearrangement.cpp
// Operands of a Concat: a kernel nests a condition for each, and compilers take 256 of these inside each
// other.
constexpr size_t kMostConcatInputs = 64;
ValueId concat_of_many(Emitter&, const Node&, const Inputs&);
ValueId tile(Emitter&, const Node&, const Inputs&);
ValueId blocks(Emitter&, const Node&, const Inputs&);  // DepthToSpace, SpaceToDepth
ValueId one_hot(Emitter&, const Node&, const Inputs&);
ValueId trilu(Emitter&, const Node&, const Inputs&);

// resize.cpp
ValueId resize(Emitter&, const Node&, const Inputs&);

}  // namespace rules
}  // namespace korch
