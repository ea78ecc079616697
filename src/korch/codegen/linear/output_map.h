// Where the elements of the linear result go: the coordinates of each candidate output as functions of the
// result's own coordinates, through the elementwise primitives, Transposes and Reshapes of the epilogue.
#pragma once

#include <map>
#include <vector>

#include "korch/codegen/implementation.h"
#include "korch/codegen/linear/workload.h"
#include "korch/kernel/index.h"

namespace korch::linear {

using tile::Index;
using Coords = std::vector<Index>;

// Coordinates of every candidate output for the result's coordinates `coords`. Empty when two paths to one
// Value disagree (y + transpose(y)).
std::map<ValueId, Coords> output_coords(const LinearWorkload& workload, const Coords& coords);

// If `axes` (ascending) are walked as one axis, the axis that carries the position: the innermost one of more
// than one element. Only this axis has an index beyond its extent. Readers of such coordinates must be
// contiguous over the axes, or broadcast along all of them.
int merged_axis(const Shape& shape, const std::vector<int>& axes);

// Whether `axes` of the linear result (adjacent, ascending) may be walked as one: `merged_axis` runs over all
// of their elements, the others are 0. True when every tensor that the epilogue touches is contiguous over
// these axes in its layout, or broadcast along all of them.
bool epilogue_merges(const LinearWorkload& workload, const Implementation& implementation,
                     const std::vector<int>& axes);

// The same for `value`, an operand that the candidate computes or reads.
bool operand_merges(const LinearWorkload& workload, const Implementation& implementation, ValueId value,
                    const std::vector<int>& axes);

// The axis of `to` that holds the innermost steps of axis `axis` of `from` under a reshape; -1 when none
// does.
int reshaped_axis(const Shape& from, const Shape& to, int axis);

// The layout of a candidate input or output in this implementation; row-major for constants.
Layout layout_of(const LinearWorkload& workload, const Implementation& implementation, ValueId value);

}  // namespace korch::linear
