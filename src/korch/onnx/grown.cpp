#include "korch/onnx/grown.h"

#include <algorithm>

namespace korch::onnx {
namespace {

Operand number_of_rows(GraphBuilder& builder, const Operand& operand, int64_t axis,
                       const std::string& origin) {
  const Operand extent = extent_of(operand, axis);
  if (extent != nullptr) return extent;
  return builder.constant(
      HostTensor::of<int64_t>(DType::i64, {}, {operand->shape()[static_cast<size_t>(axis)]}), {origin});
}

void drop_empty(std::vector<Operand>& extents) {
  if (std::ranges::all_of(extents, [](const Operand& extent) { return extent == nullptr; })) extents.clear();
}

// The first rows, which are all that a run can have.
Operand beginning(GraphBuilder& builder, const Operand& all, int64_t axis, int64_t bound,
                  const std::string& origin) {
  Shape sizes = all->shape();
  sizes[static_cast<size_t>(axis)] = bound;
  const Shape zeros(sizes.size(), 0), ones(sizes.size(), 1);
  const Operand result = builder.emit_at_bounds(Op::Slice, SliceAttrs{zeros, sizes, ones}, {all}, origin)[0];
  result->extents = all->extents;
  if (Operand& extent = result->extents[static_cast<size_t>(axis)]; extent != nullptr && extent->constant)
    extent = nullptr;
  drop_empty(result->extents);
  result->appended = all;
  return result;
}

}  // namespace

bool can_grow(GraphBuilder& builder, const Operand& past, const Operand& added, int64_t axis) {
  const std::optional<int64_t> capacity = builder.capacity_of(past);
  if (!capacity || past == added || past->rank() != added->rank()) return false;
  // In a plan for one length of a state it grows, too.
  if (*capacity == 0 && extent_of(past, axis) == nullptr) return false;
  for (int64_t i = 0; i < past->rank(); ++i) {
    const auto place = static_cast<size_t>(i);
    if (i == axis) continue;
    if (past->shape()[place] != added->shape()[place]) return false;
    if (i > 0 && (extent_of(past, i) != nullptr || extent_of(added, i) != nullptr)) return false;
  }
  return true;
}

Operand grown(GraphBuilder& builder, const Operand& past, const Operand& added, int64_t axis,
              const Operand& length, const Operand& place, std::vector<Operand> extents, int64_t bound,
              const std::string& origin) {
  const int64_t capacity = std::max(builder.capacity_of(past).value_or(0), bound);
  const Operand all = builder.emit_at_bounds(
      Op::Append, AppendAttrs{axis, capacity},
      {past, added, length, number_of_rows(builder, added, axis, origin), place}, origin)[0];
  all->extents = std::move(extents);
  if (capacity > bound) return beginning(builder, all, axis, bound, origin);
  drop_empty(all->extents);
  return all;
}

}  // namespace korch::onnx
