// Building blocks for operators on bounded operands (bounded.h): the operator at its bounds, substitutes for
// elements beyond extents, and arithmetic of extents.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "korch/onnx/bounded.h"

namespace korch::onnx {

class BoundsEmitter {
 public:
  BoundsEmitter(GraphBuilder& builder, Op op, const Attrs& attrs, const std::vector<Operand>& inputs,
                const std::string& origin)
      : builder_(builder), op_(op), attrs_(attrs), inputs_(inputs), origin_(origin) {}

 protected:
  template <typename T>
  const T& attrs() const {
    return std::get<T>(attrs_);
  }
  const Operand& x() const { return inputs_[0]; }
  [[noreturn]] void unsupported(const std::string& what) const;

  Operand emit(Op op, Attrs attrs, const std::vector<Operand>& inputs) {
    return builder_.emit_at_bounds(op, std::move(attrs), inputs, origin_)[0];
  }
  Operand constant(HostTensor value) { return builder_.constant(std::move(value), {origin_}); }
  Operand integer(int64_t value) { return constant(HostTensor::of<int64_t>(DType::i64, {}, {value})); }
  Operand positions(int64_t count, int64_t axis, int64_t rank) {
    return builder_.positions(DType::i64, count, axis, rank, origin_);
  }

  std::vector<Operand> with(const std::vector<Operand>& extents) { return with(inputs_, extents); }
  // The operator at its bounds, each result with these extents.
  std::vector<Operand> with(const std::vector<Operand>& inputs, const std::vector<Operand>& extents) {
    return with(attrs_, inputs, extents);
  }
  std::vector<Operand> with(const Attrs& attrs, const std::vector<Operand>& inputs,
                            const std::vector<Operand>& extents);

  // The operand with this number in all elements beyond the extent of the axis.
  Operand masked(const Operand& operand, int64_t axis, const HostTensor& value);
  Operand masked_by_zero(const Operand& operand, int64_t axis) {
    return masked(operand, axis, HostTensor(TensorType{operand->dtype(), {}}));
  }

  bool depends_on_data(const Operand& extent) { return onnx::depends_on_data(builder_, extent); }
  // The extent of an axis, or the number that the type states.
  Operand length(const Operand& operand, int64_t axis) {
    const Operand extent = extent_of(operand, axis);
    return extent != nullptr ? extent : integer(operand->shape()[static_cast<size_t>(axis)]);
  }
  // Where a run tells one of them, and none is broadcast.
  void note_meeting(const Operand& a, int64_t axis_a, const Operand& b, int64_t axis_b,
                    ExtentRelation relation = ExtentRelation::equal) {
    const auto is_one = [&](const Operand& x, int64_t axis) {
      return extent_of(x, axis) == nullptr && x->shape()[static_cast<size_t>(axis)] == 1;
    };
    const bool told = extent_of(a, axis_a) != nullptr || extent_of(b, axis_b) != nullptr;
    if (told && !is_one(a, axis_a) && !is_one(b, axis_b))
      builder_.note_meeting(length(a, axis_a), length(b, axis_b), origin_, {}, relation);
  }
  // Likewise; beside a number the one that a run tells may be 1.
  void note_broadcast(const Operand& a, int64_t axis_a, const Operand& b, int64_t axis_b) {
    if (extent_of(a, axis_a) != nullptr && extent_of(b, axis_b) != nullptr)
      note_meeting(a, axis_a, b, axis_b);
    else if (extent_of(a, axis_a) != nullptr)
      note_meeting(a, axis_a, b, axis_b, ExtentRelation::equal_or_one);
    else
      note_meeting(b, axis_b, a, axis_a, ExtentRelation::equal_or_one);
  }
  // Where indices are placed by their own positions on all axes but one.
  void note_rows(const Operand& indices, int64_t axis) {
    for (int64_t i = 0; i < x()->rank(); ++i)
      if (i != axis && (extent_of(indices, i) != nullptr || extent_of(x(), i) != nullptr))
        builder_.note_meeting(length(indices, i), length(x(), i), origin_, {}, ExtentRelation::at_most);
  }
  // Where the places looked up end as one of the indices' axes does, they are usually those of a whole axis:
  // a mask's for all keys.
  void note_whole(const Operand& data, int64_t axis, const Operand& indices);
  // To a lower bound of an extent that lies within it.
  Operand cut(const Operand& operand, int64_t axis, int64_t bound);
  // The least possible value of an extent.
  int64_t least(const Operand& extent);
  // Refuses an extent that can be less, for a range with advice. `what` says whose extent it is.
  void require_least(const Operand& extent, int64_t needed, const std::string& what);
  // floor((extent * times + plus) / by), which is not negative, as an extent up to `upper`.
  Operand affine(const Operand& extent, int64_t times, int64_t plus, int64_t by, int64_t upper);

  GraphBuilder& builder_;
  const Op op_;
  const Attrs& attrs_;
  const std::vector<Operand>& inputs_;
  const std::string& origin_;
};

}  // namespace korch::onnx
