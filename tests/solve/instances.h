// Problems for tests: small random ones with an oracle that tries everything, and large ones in the likeness
// of networks.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "korch/solve/problem.h"

namespace korch {

using Random = std::mt19937_64;

// The least cost of any sequence of runnable columns that ends with all required tensors there; nothing when
// there is none. At most 20 tensors: it walks all sets of tensors.
std::optional<double> brute_force(const Problem& problem);

// A random graph of classes with one or two primitives each, in one or two layouts, with connected sets of
// primitives as columns (several outputs, fused parts recomputed), reorders, and views between classes. May
// be infeasible.
Problem random_graph_problem(Random& random);

// Columns with random ends: no structure to rely on.
Problem random_problem(Random& random);

// A chain of blocks like a convolutional network's: a linear primitive, its bias, a normalization in several
// primitives, an activation, now and then a residual sum; candidates are connected convex sets with at most
// one linear primitive.
struct NetworkOptions {
  int blocks = 12;
  int layouts = 1;
  int max_set = 6;  // primitives per candidate
  int max_outputs = 2;
  int alternatives = 0;  // of blocks with a second algebra, in percent
  uint64_t seed = 1;
};
Problem network_problem(const NetworkOptions& options);

// What network_problem's columns "really" cost: above their bounds, at random.
std::vector<double> true_costs(const Problem& problem, uint64_t seed);

std::string describe(const Problem& problem);

}  // namespace korch
