// Lower bounds on what any loop-nest kernel of a candidate must do.
#pragma once

#include "korch/candidate/candidate.h"

namespace korch::tile {

// Distinct bytes of inputs, constants and outputs. What a slice, a strided window or a gather leaves unread
// is not counted; a data-dependent gather counts nothing of its data.
double least_bytes(const Graph& graph, const Candidate& candidate);

// Arithmetic in units of one addition at the peak rate of multiply-adds (which count 2); transcendental
// functions count less than their shortest known instruction sequence.
double least_flops(const Graph& graph, const Candidate& candidate);

// Of a function, in the same unit.
double flops_of(ScalarFn fn);

constexpr double kExpensive = 8;  // weight of a transcendental function against an addition

// An elementwise primitive with more than additions, multiplications and choices.
bool is_expensive(Op op);

}  // namespace korch::tile
