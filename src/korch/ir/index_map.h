// Index maps: which element of an operand an element of the result reads. Layout primitives only move
// elements; windows, reductions and products combine the elements that they read. Shape rules of these
// primitives, the reads of kernels and interpreter, views, and the needed parts of Values follow from the
// maps.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/ir/graph.h"

namespace korch {

struct InferArgs;

// Whether one coordinate of the first operand is what the second one holds; AxisAttrs tells which.
inline bool looks_up(Op op) {
  return op == Op::Gather || op == Op::GatherElements;
}

// What is read where a coordinate lies outside of the operand's axis.
enum class Outside {
  never,    // no coordinate does
  fill,     // nothing: the element has a value of its own (padding), or the tap adds nothing
  other,    // another operand, whose coordinate lies inside (Concat)
  reflect,  // the element mirrored at the first or last one, which is not repeated
  edge,     // the first or the last element
};

// The coordinate along one axis of the operand:
//   (scale * (floor(at[axis] / per) mod modulo) + step * taps[tap] + offset) / divisor
// where `at` are the element's coordinates in the result and `taps` those of what it combines.
struct Coordinate {
  int axis = -1;  // -1: the coordinate follows no axis of the result
  int64_t per = 1;
  int64_t modulo = 0;  // 0: none
  int64_t scale = 1;
  int tap = -1;  // -1: no tap
  int64_t step = 1;
  int64_t offset = 0;
  int64_t divisor = 1;     // nothing is read where it leaves a rest
  bool looked_up = false;  // what the second operand holds at the element that it reads of it (looks_up)
  Outside outside = Outside::never;

  // No element: -1. Positions and taps count from 0, `extent` is the operand's.
  int64_t at(int64_t position, int64_t number, int64_t extent) const {
    if (per != 1) position /= per;
    if (modulo != 0) position %= modulo;
    int64_t place = offset + (axis < 0 ? 0 : scale * position) + (tap < 0 ? 0 : step * number);
    if (divisor != 1) {
      if (place % divisor != 0) return -1;
      place /= divisor;
    }
    if (place >= 0 && place < extent) return place;
    if (outside == Outside::edge) return place < 0 ? 0 : extent - 1;
    if (outside == Outside::reflect) return place < 0 ? -place : 2 * (extent - 1) - place;
    return -1;
  }
};

struct IndexMap {
  Shape operand;  // the operand's elements in row-major order, with the axes that coordinates are of: its own
                  // shape, but for blocks (DepthToSpace)
  Shape view;     // the result's elements in row-major order, with the axes that coordinates follow: its own
                  // shape, but for Reshape, Tile and blocks
  std::vector<Coordinate> coordinates;  // one per axis of the operand; none: any element may be read
};

struct IndexMaps {
  Shape result;
  Shape taps;  // extents of what one element combines: channels or the summed axis, a window's kernel,
               // reduced axes in order
  std::vector<IndexMap> operands;
};

// Of any operator with these operands and this result.
IndexMaps index_maps(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs, const Shape& result);
IndexMaps index_maps(const Graph& graph, const Node& node);

// Of layout primitives, Tile, DepthToSpace, SpaceToDepth, reductions and pooling windows. It is their shape
// rule: throws Error{invalid} as infer_types does.
IndexMaps checked_maps(const InferArgs& args);

// The map of an operand that is broadcast to the result, by numpy's rules.
IndexMap broadcast_map(const Shape& operand, const Shape& result);

// The element of the operand, in row-major order, that element `index` of the result reads by these taps;
// -1: none. `looked_up` is the coordinate that the second operand holds.
int64_t element_read(const IndexMap& map, int64_t index, const Shape& taps = {}, int64_t looked_up = 0);

// If the result reads the operand's elements one after the other: the element that it begins with.
std::optional<int64_t> start_of_run(const IndexMap& map);

// A slice of the operand with the elements that a slice of the result reads; nothing if it reads more than
// elements of the operand. Each axis of the operand must follow the same axis of the result.
std::optional<SliceAttrs> slice_through(const IndexMap& map, SliceAttrs slice);

// Results first ... first + count - 1 along an axis read, by one tap, `from`, from + scale, ... inside the
// operand. Windows and convolutions, whose divisor is 1.
struct TapRun {
  int64_t first, count, from;
};
inline TapRun tap_run(const Coordinate& c, int64_t tap, int64_t operand, int64_t result) {
  const int64_t shift = tap * c.step + c.offset, room = operand - shift;
  const int64_t first = shift >= 0 ? 0 : ceil_div(-shift, c.scale);
  const int64_t end = room <= 0 ? 0 : std::min(result, ceil_div(room, c.scale));
  return {first, std::max<int64_t>(0, end - first), first * c.scale + shift};
}
// For each of these results, how many of the taps lie inside the operand.
std::vector<int64_t> taps_inside(const Coordinate& coordinate, int64_t taps, int64_t operand, int64_t result);

}  // namespace korch
