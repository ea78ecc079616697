// What several rules ask about linear primitives and the target.
#pragma once

#include "korch/rewrite/rewriter.h"

namespace korch::rules {

constexpr int64_t kVector = 16;    // floats, of the widest target
constexpr int64_t kFewTiles = 64;  // of Winograd's: below, its weights take longer to read than to use
constexpr double kSecondCache_bytes = 1 << 20;  // of a core, on the smaller targets

// A convolution of constant 1x1 weights without strides and padding: the same matrix for every pixel (without
// groups), or one for each group of channels.
bool is_pointwise(const Rewriter& r, const Node& conv, bool grouped = false);

// A convolution of float32 over two spatial axes, with constant weights, without groups, strides and
// dilation.
bool is_plain_convolution(const Rewriter& r, const Node& conv);
// The attributes of one, with this padding before and after each spatial axis.
ConvAttrs plain_convolution(std::vector<int64_t> before, std::vector<int64_t> after);

// A linear primitive with constant weights. A slice of the weights (axis of the weights) computes each
// feature of its output (axis of the output).
struct Features {
  int64_t of_output = 0, of_weights = 0;
};
std::optional<Features> features_of(const Rewriter& r, const Node& node);

// Whether the node is a reshape that keeps rows (the last axis) whole.
bool is_view_of_rows(const Rewriter& r, const Node& node);
// The Value behind such views, with the same rows.
ValueId behind_views_of_rows(const Rewriter& r, ValueId value);

// A constant operand that varies along this axis of the result alone, as [extent] or padded with ones.
bool is_along(const Rewriter& r, ValueId operand, ValueId result, int64_t axis);

}  // namespace korch::rules
