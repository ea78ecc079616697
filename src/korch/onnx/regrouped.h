// Reshape where extents of the data or of the target are known in a run alone.
#pragma once

#include <optional>
#include <vector>

#include "korch/onnx/term.h"

namespace korch::onnx {

// `reshaped` is the data at their bounds with the target's bounds: whether its extents are what the target
// says, each being the same product of the same numbers. An extent of -1 (null, bound -1) is whatever it is.
bool has_extents(const Operand& reshaped, const std::vector<Extent>& target, GraphBuilder& builder);

// What a target extent of -1 stands for: of what the data's extents are the products of, what is left by the
// other ones. Nothing where these are no part of it.
std::optional<Extent> left_extent(const Term& x, const std::vector<Extent>& target);

// Element by element, in the order of what counts: the data's places are computed from both sides' extents.
// Every extent of the target is known or a Value. Axes behind that are the same on both sides stay together.
Term regrouped(const Term& x, const std::vector<Extent>& target);

}  // namespace korch::onnx
