// Reshape if extents of the data or of the target are known only in a run.
#pragma once

#include <optional>
#include <vector>

#include "korch/onnx/term.h"

namespace korch::onnx {

// `reshaped` is the data, reshaped at their bounds to the target's bounds. Whether its extents are the
// target's: the same products of the same numbers. An extent of -1 (null, bound -1) may be any.
bool has_extents(const Operand& reshaped, const std::vector<Extent>& target, GraphBuilder& builder);

// Whether both have the same number of elements whatever the data say: the same products of the same numbers.
bool has_as_many_elements(const Term& x, const std::vector<Extent>& target);

// The value of a target extent of -1: the factors of the data's extents without those of the other target
// extents. Nothing if these are no part of them.
std::optional<Extent> left_extent(const Term& x, const std::vector<Extent>& target);

// Gathers the elements within the extents, in their order; the places are computed from both sides' extents.
// Every extent of the target is known or a Value. Trailing axes that are equal on both sides stay together.
Term regrouped(const Term& x, const std::vector<Extent>& target);

}  // namespace korch::onnx
