#include "korch/onnx/bounds_emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace korch::onnx {

bool depends_on_data(GraphBuilder& builder, const Operand& extent) {
  const Graph& graph = builder.graph();
  const std::vector<ValueId>& inputs = graph.inputs();
  const auto tensors = inputs.end() - static_cast<std::ptrdiff_t>(graph.open_dimensions().size());
  std::vector<ValueId> left = {builder.value(extent)};
  std::set<ValueId> seen;
  while (!left.empty()) {
    const ValueId value = left.back();
    left.pop_back();
    if (!seen.insert(value).second) continue;
    if (std::find(inputs.begin(), tensors, value) != tensors) return true;
    for (NodeId producer : graph.value(value).producers) {
      const std::vector<ValueId>& read = graph.node(producer).inputs;
      left.insert(left.end(), read.begin(), read.end());
    }
  }
  return false;
}

void BoundsEmitter::unsupported(const std::string& what) const {
  throw Error(
      ErrorKind::unsupported,
      fmt::format("an extent of what {} reads depends on the data or is a range: {}", name(op_), what));
}

std::vector<Operand> BoundsEmitter::with(const Attrs& attrs, const std::vector<Operand>& inputs,
                                         const std::vector<Operand>& extents) {
  std::vector<Operand> outputs = builder_.emit_at_bounds(op_, attrs, inputs, origin_);
  const bool any = std::any_of(extents.begin(), extents.end(), [](const Operand& e) { return e != nullptr; });
  for (const Operand& output : outputs)
    if (any) output->extents = extents;
  return outputs;
}

Operand BoundsEmitter::masked(const Operand& operand, int64_t axis, const HostTensor& value) {
  const Operand extent = extent_of(operand, axis);
  if (extent == nullptr) return operand;
  const Operand at = positions(operand->shape()[static_cast<size_t>(axis)], axis, operand->rank());
  const Operand result =
      emit(Op::Where, NoAttrs{}, {emit(Op::Less, NoAttrs{}, {at, extent}), operand, constant(value)});
  result->extents = operand->extents;
  return result;
}

void BoundsEmitter::note_whole(const Operand& data, int64_t axis, const Operand& indices) {
  if (extent_of(data, axis) == nullptr) return;
  const Range places = builder_.range(indices, kAny);
  for (int64_t k = 0; k < indices->rank(); ++k)
    if (const Operand extent = extent_of(indices, k);
        extent != nullptr && places.low == 0 &&
        places.high == static_cast<double>(indices->shape()[static_cast<size_t>(k)] - 1))
      builder_.note_usual(extent_of(data, axis), extent);
}

Operand BoundsEmitter::cut(const Operand& operand, int64_t axis, int64_t bound) {
  Shape sizes = operand->shape();
  sizes[static_cast<size_t>(axis)] = bound;
  const Shape zeros(sizes.size(), 0), ones(sizes.size(), 1);
  const Operand result = emit(Op::Slice, SliceAttrs{zeros, sizes, ones}, {operand});
  result->extents = operand->extents;
  return result;
}

int64_t BoundsEmitter::least(const Operand& extent) {
  return static_cast<int64_t>(std::max(builder_.range(extent, 0).low, 0.0));
}

void BoundsEmitter::require_least(const Operand& extent, int64_t needed, const std::string& what) {
  const int64_t can_be = least(extent);
  if (can_be >= needed) return;
  if (depends_on_data(extent)) unsupported(fmt::format("{} may be less than {}", what, needed));
  throw Error(
      ErrorKind::usage,
      fmt::format("{} can be as short as {}, not {} at least: give a range of extents that begins higher",
                  what, can_be, needed));
}

Operand BoundsEmitter::affine(const Operand& extent, int64_t times, int64_t plus, int64_t by, int64_t upper) {
  Operand result = extent;
  if (times != 1) result = emit(Op::Mul, NoAttrs{}, {result, integer(times)});
  if (plus != 0) result = emit(Op::Add, NoAttrs{}, {result, integer(plus)});
  if (by != 1) result = emit(Op::Div, NoAttrs{}, {result, integer(by)});
  if (result != extent) result->upper = upper;
  return result;
}

}  // namespace korch::onnx
