// Extents that depend on the data (NonZero, NonMaxSuppression, ...), while a model is read: shapes state
// bounds, operands know the extents. Elements beyond an extent are computed and must not change any within.
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/graph_builder.h"

namespace korch::onnx {

inline bool is_bounded(const Operand& operand) {
  return operand != nullptr && !operand->extents.empty();
}
// The extent of an axis where it depends on the data, else null.
inline Operand extent_of(const Operand& operand, int64_t axis) {
  return is_bounded(operand) ? operand->extents[static_cast<size_t>(axis)] : nullptr;
}
// Of all axes.
inline std::vector<Operand> extents_of(const Operand& operand) {
  std::vector<Operand> extents = operand->extents;
  extents.resize(operand->shape().size());
  return extents;
}

// Not on the open dimensions of inputs alone.
bool depends_on_data(GraphBuilder& builder, const Operand& extent);

// As GraphBuilder::emit, for bounded inputs: elements beyond an extent do not change those within the
// results' extents. Throws Error{unsupported} if that would take more than masks.
std::vector<Operand> emit_bounded(GraphBuilder& builder, Op op, const Attrs& attrs,
                                  const std::vector<Operand>& inputs, const std::string& origin);

// Each element of a small tensor of integers, rank 0 or 1, as i64 of rank 0: a constant, or a Value, with an
// upper bound if one is known (ranges.h). Nothing for other tensors.
std::optional<std::vector<Operand>> elements_of(GraphBuilder& builder, const Operand& operand,
                                                const std::string& origin);

// The integers, of which none is more than `most` or less than 0: where a run has others, it ends with an
// error that says so by `name`.
Operand at_most(GraphBuilder& builder, const Operand& operand, int64_t most, const std::string& name);

// Derives the elements of small integer tensors that are made of extents: `outputs` are `op`'s of `inputs`.
void follow_elements(GraphBuilder& builder, Op op, const Attrs& attrs, const std::vector<Operand>& inputs,
                     const std::vector<Operand>& outputs, const std::string& origin);

// Whether the rule of an ONNX operator reads the shapes of its inputs only through the operators that it
// emits, or asks for extents.
bool takes_bounded(const std::string& op_type);

}  // namespace korch::onnx
