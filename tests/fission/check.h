// What the fission tests share: random inputs, and the comparison of a Graph with its fission in float64.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::test {

// Uniform floats in [-2, 2], integers in [0, integer_limit), bools; the same for the same seed.
std::vector<HostTensor> random_inputs(const Graph& graph, uint64_t seed, int64_t integer_limit = 4);

// Outputs agree to `tolerance`, relative to the largest finite element; NaN and infinities agree exactly.
void expect_close(const std::vector<HostTensor>& expected, const std::vector<HostTensor>& actual,
                  double tolerance);

// The rules alone, and rules with simplifications, compute what the graph computes; both are legal primitive
// graphs.
void expect_fission_is_equal(const Graph& graph, const std::vector<HostTensor>& inputs,
                             double tolerance = 1e-12);

// parse_graph of one node: inputs %a, %b, ... of the given types, output %y. `node` is e.g. "Softmax(%a)
// {axis=1}", `result` the output type.
Graph one_node(const std::vector<std::string>& input_types, const std::string& node,
               const std::string& result);

int count(const Graph& graph, Op op);

}  // namespace korch::test
