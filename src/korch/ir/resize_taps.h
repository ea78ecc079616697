// The reads of Resize along one axis: every mode is a weighted sum of taps. Nearest has one tap of weight 1,
// linear two, cubic four.
#pragma once

#include <vector>

#include "korch/ir/op.h"

namespace korch {

// For each position of the result the position in the operand, already inside, and its weight.
struct ResizeTap {
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// Where position `at` of the result's axis lies among the `in` of the operand (ONNX Resize-13 and -18).
double resize_source(const ResizeAttrs& attrs, size_t axis, int64_t in, double at);
// The position that nearest reads there.
int64_t resize_nearest(const ResizeAttrs& attrs, int64_t in, double source);
// The weight of a position at this distance, of linear and cubic.
double resize_weight(const ResizeAttrs& attrs, double distance);

// Of an axis of `in` elements, at least one where the result has any.
std::vector<ResizeTap> resize_taps(const ResizeAttrs& attrs, size_t axis, int64_t in);

// Empty, or the attribute whose value is none of ONNX's.
std::string unknown_resize_attribute(const ResizeAttrs& attrs);

}  // namespace korch
