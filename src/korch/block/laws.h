// The laws by which an e-graph finds equal terms:
//
//   sums and products    flattened; (s + t) x = s x + t x under a fold, where one of s, t is free of its axis
//   exp(s + t)           = exp(s) exp(t); so exp(s - t) = exp(s) / exp(t), and 1 / exp(t) = exp(-t)
//   sum_a(s + t)         = sum_a s + sum_a t; numbers go out
//   sum_a(x y)           = x sum_a(y) only where a is not free in x; both ways, back only under a sum
//   sum_a(sum_b(x))      = sum_{a,b}(x)
//   max_a(x + c)         = max_a(x) + c where a is not free in c; max_a(k x) = k max_a(x), min for k < 0
//   max_a(max_b(x))      = max_{a,b}(x); max_a(x) = x where a is not free in x
//
// sum_a(x y) = sum_a(x) y where y depends on a, which Mirage's abstract expressions cannot tell from the
// above, is no law.
#pragma once

#include "korch/base/deadline.h"
#include "korch/block/egraph.h"

namespace korch::block {

struct SaturationLimits {
  int nodes = 2000;  // ten times what groups of a dozen primitives take
  int sweeps = 40;   // applications of all laws to all nodes
  Deadline deadline = {};
};

struct Saturation {
  bool saturated = false;  // no law says anything new
  bool contradiction = false;
  int nodes = 0, classes = 0, sweeps = 0;
};

Saturation saturate(EGraph& graph, const SaturationLimits& limits = {});

}  // namespace korch::block
