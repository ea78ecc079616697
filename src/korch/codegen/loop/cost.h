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

// Pairs of a window's position and a tap that meets an element rather than padding, along one axis of `in`
// elements.
int64_t taps_inside(int64_t positions, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                    int64_t pad_before);

// An elementwise primitive with more than additions, multiplications and choices.
bool is_expensive(Op op);

}  // namespace korch::tile
