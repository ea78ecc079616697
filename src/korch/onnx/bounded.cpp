#include "korch/onnx/bounded.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "korch/onnx/bounded_along_axes.h"
#include "korch/onnx/bounded_images.h"
#include "korch/onnx/bounds_emitter.h"
#include "korch/onnx/grown.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

// Whose rules take the extents of what they read for numbers.
constexpr const char* kTakesNumbers = "MaxUnpool Col2Im MoE SwiGLU";

class Bounded : BoundsEmitter {
 public:
  using BoundsEmitter::BoundsEmitter;

  std::vector<Operand> run() {
    if (info(op_).category == Category::elementwise || op_ == Op::Sum || op_ == Op::Mean ||
        op_ == Op::VariadicMax || op_ == Op::VariadicMin || op_ == Op::Gelu || op_ == Op::Mish) {
      const std::vector<Operand> operands = of_same_bounds();
      return with(operands, broadcast(operands));
    }
    if (op_ == Op::Transpose) return transpose();
    if (op_ == Op::Reshape) return reshape();
    if (op_ == Op::Expand) return expand();
    if (op_ == Op::Slice) return slice();
    if (op_ == Op::Concat) return concat();
    if (op_ == Op::Gather) return gather();
    if (op_ == Op::GatherElements) return gather_elements();
    if (op_ == Op::GatherND) return gather_nd();
    if (op_ == Op::ScatterElements) return scatter_elements();
    if (op_ == Op::ScatterND) return scatter_nd();
    if (op_ == Op::Pad) return pad();
    if (op_ == Op::CumSum) return cum_sum();
    if (op_ == Op::Trilu) return with(x()->extents);  // of positions, which count from the front
    if (op_ == Op::MatMul) return matmul();
    if (op_ == Op::NarrowMatMul) return of_matrices(false, false);
    if (op_ == Op::Gemm) return gemm();
    if (is_along_axes(op_)) return emit_bounded_along_axes(builder_, op_, attrs_, inputs_, origin_);
    return emit_bounded_images(builder_, op_, attrs_, inputs_, origin_);
  }

 private:
  Operand masked_everywhere(Operand operand, const HostTensor& value) {
    for (int64_t axis = 0; axis < operand->rank(); ++axis) operand = masked(operand, axis, value);
    return operand;
  }

  // Numpy's rules would take bounds for extents. Extents that meet are one number, which is within all of
  // their bounds; but one that may be 1 would be repeated beside what is longer.
  std::vector<Operand> of_same_bounds() {
    std::vector<Operand> operands = inputs_;
    for (Operand& operand : operands) operand = without_extents_of_one(operand);
    for (Operand& a : operands)
      for (Operand& b : operands)
        for (int64_t i = 1; i <= std::min(a->rank(), b->rank()); ++i) {
          const int64_t axis = a->rank() - i, bound = a->shape()[axis], other = b->shape()[b->rank() - i];
          const Operand extent = extent_of(a, axis);
          const bool is_known = extent_of(b, b->rank() - i) == nullptr;
          if (extent == nullptr || (is_known && other == 1)) continue;
          builder_.note_meeting(extent, length(b, b->rank() - i), origin_, {},
                                is_known ? ExtentRelation::equal_or_one : ExtentRelation::equal);
          if (is_known)
            a = of_known_extent(a, axis, other);
          else if (bound != other && std::min(bound, other) < 2)
            unsupported(fmt::format("extents up to {} and {} meet", bound, other));
          else if (bound > other)
            a = cut(a, axis, other);
        }
    return operands;
  }

  // An extent that is always 1 is repeated beside others.
  Operand without_extents_of_one(const Operand& operand) {
    Operand result = operand;
    for (int64_t axis = 0; axis < operand->rank(); ++axis) {
      const Operand extent = extent_of(operand, axis);
      if (extent != nullptr && operand->shape()[static_cast<size_t>(axis)] == 1 && least(extent) >= 1)
        result = without_extent(result, axis);
    }
    return result;
  }

  // Beside a number, which is not 1, an extent is this number, or 1 and repeated.
  Operand of_known_extent(const Operand& operand, int64_t axis, int64_t extent) {
    const Operand counted = extent_of(operand, axis);
    const int64_t bound = operand->shape()[static_cast<size_t>(axis)];
    const bool may_be_one = least(counted) <= 1 && bound >= 1;
    if (bound < extent && !may_be_one)
      unsupported(fmt::format("an extent up to {} and one of {} meet", bound, extent));
    if (!may_be_one) return without_extent(cut(operand, axis, extent), axis);
    if (bound < extent) return without_extent(cut(operand, axis, 1), axis);
    const Operand is_one = emit(Op::Equal, NoAttrs{}, {counted, integer(1)});
    const Operand at = emit(Op::Where, NoAttrs{}, {is_one, integer(0), positions(extent, 0, 1)});
    const Operand result = emit(Op::Gather, AxisAttrs{axis}, {operand, at});
    result->extents = operand->extents;
    return without_extent(result, axis);
  }

  void meet_number(Operand& operand, int64_t axis, const Operand& other, int64_t other_axis) {
    const int64_t number = other->shape()[static_cast<size_t>(other_axis)];
    if (extent_of(operand, axis) != nullptr && extent_of(other, other_axis) == nullptr && number != 1)
      operand = of_known_extent(operand, axis, number);
  }

  static Operand without_extent(const Operand& operand, int64_t axis) {
    const Operand result = std::make_shared<OperandState>(*operand);
    result->extents[static_cast<size_t>(axis)] = nullptr;
    const auto is_null = [](const Operand& extent) { return extent == nullptr; };
    if (std::all_of(result->extents.begin(), result->extents.end(), is_null)) result->extents.clear();
    return result;
  }

  static std::vector<Operand> broadcast(const std::vector<Operand>& operands) {
    int64_t rank = 0;
    for (const Operand& operand : operands) rank = std::max(rank, operand->rank());
    std::vector<Operand> extents(static_cast<size_t>(rank));
    for (const Operand& operand : operands)
      for (int64_t axis = 0; axis < operand->rank(); ++axis) {
        Operand& extent = extents[static_cast<size_t>(axis + rank - operand->rank())];
        if (extent == nullptr) extent = extent_of(operand, axis);
      }
    return extents;
  }

  std::vector<Operand> transpose() {
    std::vector<Operand> extents;
    for (int64_t axis : attrs<PermAttrs>().perm) extents.push_back(extent_of(x(), axis));
    return with(extents);
  }

  // With the axes from `first` to `end` as one, all that counts in front of it.
  Operand merged(const Operand& x, size_t first, size_t end) {
    const Shape& in = x->shape();
    Shape shape(in.begin(), in.begin() + first);
    shape.push_back(element_count(Shape(in.begin() + first, in.begin() + end)));
    shape.insert(shape.end(), in.begin() + end, in.end());
    const int64_t bound = shape[first];
    Operand place = positions(bound, 0, 1), total = integer(1), from;
    int64_t stride = 1;  // at the bounds
    for (size_t axis = end; axis-- > first; stride *= in[axis]) {
      const Operand counted = extent_of(x, static_cast<int64_t>(axis));
      const Operand extent = counted == nullptr ? integer(in[axis]) : counted;
      total = emit(Op::Mul, NoAttrs{}, {total, extent});
      const Operand divisor = emit(Op::Max, NoAttrs{}, {extent, integer(1)});
      Operand part = place;
      if (axis > first) {
        part = emit(Op::Mod, NoAttrs{}, {place, divisor});
        place = emit(Op::Div, NoAttrs{}, {place, divisor});
      }
      part = emit(Op::Mul, NoAttrs{}, {part, integer(stride)});
      from = from == nullptr ? part : emit(Op::Add, NoAttrs{}, {from, part});
    }
    total->upper = bound;
    const Operand whole = emit(Op::Reshape, ShapeAttrs{shape}, {x});
    const Operand inside = emit(Op::Min, NoAttrs{}, {from, integer(std::max<int64_t>(bound - 1, 0))});
    const Operand result = emit(Op::Gather, AxisAttrs{static_cast<int64_t>(first)}, {whole, inside});
    result->extents.assign(x->extents.begin(), x->extents.begin() + first);
    result->extents.push_back(total);
    result->extents.insert(result->extents.end(), x->extents.begin() + end, x->extents.end());
    return result;
  }

  // An axis stays, or leads the axes that become one, or is the first of those that one becomes. Of several
  // that become one, what counts moves together first.
  std::vector<Operand> reshape() {
    const Shape &from = x()->shape(), &to = attrs<ShapeAttrs>().shape;
    std::vector<Operand> extents(to.size());
    size_t i = 0, o = 0;
    while (i < from.size() || o < to.size()) {
      // The next axes on either side with as many elements.
      const size_t first_in = i, first_out = o;
      int64_t in = i < from.size() ? from[i++] : 1, out = o < to.size() ? to[o++] : 1;
      while (in != out && (in < out ? i < from.size() : o < to.size()))
        (in < out ? in *= from[i++] : out *= to[o++]);
      if (in != out) unsupported("its elements cannot be told apart");
      // Axes of extent 1 that lead are not what the extent is of.
      size_t lead_in = first_in, lead_out = first_out;
      while (lead_in + 1 < i && from[lead_in] == 1 && extent_of(x(), lead_in) == nullptr) ++lead_in;
      while (lead_out + 1 < o && to[lead_out] == 1) ++lead_out;
      for (size_t axis = first_in; axis < i; ++axis)
        if (axis != lead_in && extent_of(x(), static_cast<int64_t>(axis)) != nullptr) {
          require_rows(axis, i,
                       element_count(Shape(to.begin() + lead_out + (lead_out < o ? 1 : 0), to.begin() + o)));
          return builder_.emit(op_, attrs_, {merged(x(), lead_in, i)}, origin_);
        }
      const Operand extent = lead_in < i ? extent_of(x(), static_cast<int64_t>(lead_in)) : nullptr;
      if (extent == nullptr || lead_out == o) continue;  // what is squeezed is 1
      const int64_t rows_in = element_count(Shape(from.begin() + lead_in + 1, from.begin() + i)),
                    rows_out = element_count(Shape(to.begin() + lead_out + 1, to.begin() + o));
      extents[lead_out] = scaled(extent, rows_in, rows_out);
    }
    return with(extents);
  }

  // Of axes that become rows of `row` elements: what lies behind the last open one makes whole rows, or what
  // the rows are would depend on the extents.
  void require_rows(size_t axis, size_t end, int64_t row) {
    int64_t behind = 1;
    for (size_t i = end; i-- > axis && extent_of(x(), static_cast<int64_t>(i)) == nullptr;)
      behind *= x()->shape()[i];
    if (row == 0 || behind % row != 0) unsupported(fmt::format("rows of {} elements across an extent", row));
  }

  // extent * times / by, which divides.
  Operand scaled(const Operand& extent, int64_t times, int64_t by) {
    if (times == by) return extent;
    if (times % std::max<int64_t>(by, 1) != 0 && by % std::max<int64_t>(times, 1) != 0)
      unsupported(fmt::format("rows of {} become rows of {}", times, by));
    if (by == 0) unsupported("rows without elements");
    const Operand result = affine(extent, times, 0, by, 0);
    result->upper = extent->upper ? std::optional(*extent->upper * times / by) : std::nullopt;
    return result;
  }

  std::vector<Operand> expand() {
    const Shape& to = attrs<ShapeAttrs>().shape;
    std::vector<Operand> extents(to.size());
    for (int64_t axis = 0; axis < x()->rank(); ++axis) {
      const size_t place = to.size() - static_cast<size_t>(x()->rank() - axis);
      extents[place] = extent_of(x(), axis);
      if (extents[place] != nullptr && to[place] != x()->shape()[axis]) unsupported("it would be repeated");
    }
    return with(extents);
  }

  std::vector<Operand> slice() {
    const auto& cut = attrs<SliceAttrs>();
    std::vector<Operand> extents(x()->shape().size());
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      Operand extent = extent_of(x(), static_cast<int64_t>(axis));
      if (extent == nullptr) continue;
      const int64_t bound = x()->shape()[axis], start = cut.starts[axis], step = cut.steps[axis];
      if (step < 1) unsupported("it walks backwards");
      const int64_t rest = (bound - start + step - 1) / step;
      if (start > 0) {
        const bool is_there = least(extent) >= start;
        extent = affine(extent, 1, -start, 1, bound - start);
        if (!is_there) extent = emit(Op::Max, NoAttrs{}, {extent, integer(0)});
      }
      extent = affine(extent, 1, step - 1, step, rest);
      if (least(extent) >= cut.sizes[axis]) continue;  // all that is cut out is there
      if (cut.sizes[axis] < rest) extent = emit(Op::Min, NoAttrs{}, {extent, integer(cut.sizes[axis])});
      if (extent != extent_of(x(), static_cast<int64_t>(axis))) extent->upper = cut.sizes[axis];
      extents[axis] = extent;
    }
    return with(extents);
  }

  std::vector<Operand> concat() {
    const int64_t along = attrs<AxisAttrs>().axis;
    std::vector<Operand> extents(x()->shape().size());
    // Off that axis all have one extent: it is known where one operand's is.
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const auto extent = [&](const Operand& part) { return extent_of(part, static_cast<int64_t>(axis)); };
      if (static_cast<int64_t>(axis) == along) continue;
      if (std::all_of(inputs_.begin(), inputs_.end(), extent)) extents[axis] = extent(x());
      for (const Operand& part : inputs_)
        if (extent(part) != nullptr || extent(x()) != nullptr)
          builder_.note_meeting(length(x(), static_cast<int64_t>(axis)),
                                length(part, static_cast<int64_t>(axis)), origin_);
    }
    if (inputs_.size() == 2 && can_grow(builder_, x(), inputs_[1], along))
      return {appended(along, std::move(extents))};
    std::vector<Operand> outputs = with(extents);
    return {dense_along(outputs[0], along)};
  }

  Operand appended(int64_t along, std::vector<Operand> extents) {
    const auto axis = static_cast<size_t>(along);
    const int64_t bound = x()->shape()[axis] + inputs_[1]->shape()[axis];
    const Operand before = length(x(), along);
    extents[axis] = emit(Op::Add, NoAttrs{}, {before, length(inputs_[1], along)});
    extents[axis]->upper = bound;
    return grown(builder_, x(), inputs_[1], along, before, before, std::move(extents), bound, origin_);
  }

  // Behind each part begins the next: `whole` has them at their bounds.
  Operand dense_along(const Operand& whole, int64_t along) {
    const int64_t bound = whole->shape()[static_cast<size_t>(along)];
    const Operand at = positions(bound, 0, 1);
    Operand from, total = integer(0);
    int64_t begin = 0;  // of a part, at the bounds
    bool moves = false;
    for (const Operand& part : inputs_) {
      const int64_t part_bound = part->shape()[static_cast<size_t>(along)];
      // The elements from `total` on come from this part, unless from a later one.
      const Operand shifted =
          emit(Op::Add, NoAttrs{}, {emit(Op::Sub, NoAttrs{}, {at, total}), integer(begin)});
      from = from == nullptr ? shifted
                             : emit(Op::Where, NoAttrs{},
                                    {emit(Op::GreaterOrEqual, NoAttrs{}, {at, total}), shifted, from});
      const Operand extent = extent_of(part, along);
      moves = moves || extent != nullptr;
      total = emit(Op::Add, NoAttrs{}, {total, extent == nullptr ? integer(part_bound) : extent});
      begin += part_bound;
    }
    if (!moves) return whole;
    total->upper = bound;
    Operand result = whole;
    if (std::any_of(inputs_.begin(), inputs_.end() - 1,
                    [&](const Operand& part) { return extent_of(part, along) != nullptr; })) {
      const Operand clamped = emit(Op::Min, NoAttrs{}, {from, integer(bound - 1)});
      result = emit(Op::Gather, AxisAttrs{along}, {whole, clamped});
      result->extents = whole->extents;
    }
    if (result->extents.empty()) result->extents.resize(result->shape().size());
    result->extents[static_cast<size_t>(along)] = total;
    return result;
  }

  // Those beyond their own extents are 0.
  Operand indices_of(const Operand& indices, const Operand& data, int64_t axis) {
    const std::vector<Operand> extents = indices->extents;
    const Operand zero = constant(HostTensor(TensorType{indices->dtype(), {}}));
    const Operand extent = extent_of(data, axis);
    if (extent == nullptr) return masked_everywhere(indices, *zero->constant);
    const Operand placed = placed_within(indices, extent, integer(data->shape()[static_cast<size_t>(axis)]));
    const Operand result = std::make_shared<OperandState>(*placed);
    result->extents = extents;
    return masked_everywhere(result, HostTensor(TensorType{DType::i64, {}}));
  }
  Operand as_i64(const Operand& x) {
    return x->dtype() == DType::i64 ? x : emit(Op::Cast, CastAttrs{DType::i64}, {x});
  }
  // Negative ones count from the extent; what is outside of it goes behind the bound, where runs find it to
  // be wrong.
  Operand placed_within(const Operand& given, const Operand& extent, const Operand& bound) {
    Operand indices = as_i64(given);
    const Range range = builder_.range(given, kAny);
    const auto both = [&](Op op, const Operand& a, const Operand& b) { return emit(op, NoAttrs{}, {a, b}); };
    Operand outside;
    if (range.low < 0) {
      indices = emit(Op::Where, NoAttrs{},
                     {both(Op::Less, indices, integer(0)), both(Op::Add, indices, extent), indices});
      outside = both(Op::Less, indices, integer(0));
    }
    if (!(extent->rank() == 0 && range.high < static_cast<double>(least(extent)))) {
      const Operand behind = both(Op::LessOrEqual, extent, indices);
      outside = outside == nullptr ? behind : both(Op::Or, outside, behind);
    }
    return outside == nullptr ? indices : emit(Op::Where, NoAttrs{}, {outside, bound, indices});
  }

  std::vector<Operand> gather() {
    const int64_t axis = attrs<AxisAttrs>().axis;
    note_whole(x(), axis, inputs_[1]);
    const Operand indices = indices_of(inputs_[1], x(), axis);
    std::vector<Operand> extents;
    for (int64_t i = 0; i < x()->rank(); ++i) {
      if (i != axis) {
        extents.push_back(extent_of(x(), i));
        continue;
      }
      for (int64_t k = 0; k < indices->rank(); ++k) extents.push_back(extent_of(indices, k));
    }
    return with({x(), indices}, extents);
  }

  std::vector<Operand> gather_elements() {
    const Operand indices = indices_of(inputs_[1], x(), attrs<AxisAttrs>().axis);
    note_rows(inputs_[1], attrs<AxisAttrs>().axis);
    return with({x(), indices}, indices->extents);
  }

  std::vector<Operand> gather_nd() {
    const int64_t batch = attrs<AxisAttrs>().axis, depth = inputs_[1]->shape().back();
    if (extent_of(inputs_[1], inputs_[1]->rank() - 1) != nullptr) unsupported("the length of the indices");
    for (int64_t i = 0; i < batch; ++i) note_meeting(x(), i, inputs_[1], i);
    for (int64_t i = batch; i < batch + depth; ++i) note_whole(x(), i, inputs_[1]);
    const Operand places = std::make_shared<OperandState>(*placed_in_tuples(inputs_[1], batch, depth));
    places->extents = inputs_[1]->extents;
    const Operand indices = masked_everywhere(places, HostTensor(TensorType{places->dtype(), {}}));
    std::vector<Operand> extents;
    for (int64_t i = 0; i + 1 < indices->rank(); ++i) extents.push_back(extent_of(indices, i));
    for (int64_t i = batch + depth; i < x()->rank(); ++i) extents.push_back(extent_of(x(), i));
    return with({x(), indices}, extents);
  }

  // As placed_within, of tuples for the axes from `first` on.
  Operand placed_in_tuples(const Operand& indices, int64_t first, int64_t depth) {
    std::vector<Operand> extents;
    std::vector<int64_t> bounds;
    bool is_open = false;
    for (int64_t d = first; d < first + depth; ++d) {
      bounds.push_back(x()->shape()[static_cast<size_t>(d)]);
      is_open = is_open || extent_of(x(), d) != nullptr;
      extents.push_back(emit(Op::Reshape, ShapeAttrs{{1}}, {length(x(), d)}));
    }
    if (!is_open) return indices;
    const Operand all = depth == 1 ? extents[0] : emit(Op::Concat, AxisAttrs{0}, extents);
    return placed_within(indices, all, constant(HostTensor::of<int64_t>(DType::i64, {depth}, bounds)));
  }

  std::vector<Operand> scatter_elements() {
    const int64_t axis = attrs<AxisAttrs>().axis, bound = x()->shape()[axis];
    for (int64_t i = 0; i < x()->rank(); ++i) note_meeting(inputs_[1], i, inputs_[2], i);
    note_rows(inputs_[1], axis);
    // One place more is for what goes nowhere, so that what is wrong goes behind it.
    Operand indices = placed_within(inputs_[1], length(x(), axis), integer(bound + 1));
    if (const Operand valid = within(inputs_[1], inputs_[1]->rank()))
      indices = emit(Op::Where, NoAttrs{}, {valid, indices, integer(bound)});
    return scattered(axis, indices);
  }

  std::vector<Operand> scatter_nd() {
    const int64_t last = inputs_[1]->rank() - 1, depth = inputs_[1]->shape().back();
    if (extent_of(inputs_[1], last) != nullptr || depth == 0) unsupported("the length of the indices");
    for (int64_t i = 0; i < inputs_[2]->rank(); ++i)
      note_meeting(inputs_[2], i, i < last ? inputs_[1] : x(), i < last ? i : i - last + depth);
    std::vector<int64_t> nowhere(static_cast<size_t>(depth), 0);
    nowhere[0] = x()->shape()[0];
    std::vector<int64_t> wrong;
    std::vector<Operand> extents;
    for (int64_t d = 0; d < depth; ++d) {
      wrong.push_back(x()->shape()[static_cast<size_t>(d)] + 1);
      extents.push_back(emit(Op::Reshape, ShapeAttrs{{1}}, {length(x(), d)}));
    }
    Operand indices =
        placed_within(inputs_[1], depth == 1 ? extents[0] : emit(Op::Concat, AxisAttrs{0}, extents),
                      constant(HostTensor::of<int64_t>(DType::i64, {depth}, wrong)));
    if (const Operand valid = within(inputs_[1], last))
      indices = emit(Op::Where, NoAttrs{},
                     {valid, indices, constant(HostTensor::of<int64_t>(DType::i64, {depth}, nowhere))});
    return scattered(0, indices);
  }

  // With one place more on the axis, for what goes nowhere.
  std::vector<Operand> scattered(int64_t axis, const Operand& indices) {
    Shape one = x()->shape();
    one[static_cast<size_t>(axis)] = 1;
    const Operand zero = constant(HostTensor(TensorType{x()->dtype(), {}}));
    const Operand longer =
        emit(Op::Concat, AxisAttrs{axis}, {x(), emit(Op::Expand, ShapeAttrs{one}, {zero})});
    const Operand all = emit(op_, attrs_, {longer, indices, inputs_[2]});
    const size_t rank = one.size();
    const Operand result = emit(Op::Slice, SliceAttrs{Shape(rank, 0), x()->shape(), Shape(rank, 1)}, {all});
    result->extents = x()->extents;
    return {result};
  }

  // Which elements lie within the extents of the first axes: null if all do. Of the operand's rank.
  Operand within(const Operand& operand, int64_t axes) {
    Operand result;
    for (int64_t axis = 0; axis < axes; ++axis) {
      const Operand extent = extent_of(operand, axis);
      if (extent == nullptr) continue;
      const Operand at = positions(operand->shape()[static_cast<size_t>(axis)], axis, operand->rank());
      const Operand here = emit(Op::Less, NoAttrs{}, {at, extent});
      result = result == nullptr ? here : emit(Op::And, NoAttrs{}, {result, here});
    }
    return result;
  }

  // What lies beyond an extent begins the padding behind it.
  std::vector<Operand> pad() {
    const auto& pad = attrs<PadAttrs>();
    std::vector<Operand> extents = x()->extents;
    Operand data = x();
    PadAttrs left = pad;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const int64_t more = pad.before[axis] + pad.after[axis];
      if (extents[axis] == nullptr || more == 0) continue;
      if (pad.mode != PadMode::constant) {
        data = mirrored(data, axis, pad);
        left.before[axis] = left.after[axis] = 0;
        extents[axis] = data->extents[axis];
        continue;
      }
      const HostTensor value = converted(HostTensor::of<double>(DType::f64, {}, {pad.value}), x()->dtype());
      data = masked(data, static_cast<int64_t>(axis), value);
      extents[axis] = affine(extents[axis], 1, more, 1, x()->shape()[axis] + more);
    }
    const Shape zeros(extents.size(), 0);
    return left.before == zeros && left.after == zeros ? std::vector{data} : with(left, {data}, extents);
  }

  // Padded on one axis by what the extent says: the last element again, or those before it backwards.
  Operand mirrored(const Operand& data, size_t axis, const PadAttrs& pad) {
    const Operand extent = data->extents[axis];
    const int64_t before = pad.before[axis], after = pad.after[axis], bound = data->shape()[axis];
    const bool reflects = pad.mode == PadMode::reflect;
    const int64_t needed = reflects ? std::max(before, after) + 1 : 1;
    require_least(extent, needed, fmt::format("what its padding reflects or repeats of axis {}", axis));
    const Operand zero = integer(0), last = affine(extent, 1, -1, 1, bound - 1);
    const auto both = [&](Op op, const Operand& a, const Operand& b) { return emit(op, NoAttrs{}, {a, b}); };
    Operand at = both(Op::Sub, positions(bound + before + after, 0, 1), integer(before));
    if (reflects) {
      at = emit(Op::Abs, NoAttrs{}, {at});
      at = both(Op::Sub, last, emit(Op::Abs, NoAttrs{}, {both(Op::Sub, last, at)}));
    }
    at = both(Op::Min, both(Op::Max, at, zero), last);
    const Operand result = emit(Op::Gather, AxisAttrs{static_cast<int64_t>(axis)}, {data, at});
    result->extents = data->extents;
    result->extents[axis] = affine(extent, 1, before + after, 1, bound + before + after);
    return result;
  }

  std::vector<Operand> cum_sum() {
    const auto& scan = attrs<ScanAttrs>();
    const Operand data = scan.reverse ? masked_by_zero(x(), scan.axis) : x();
    return with({data}, x()->extents);
  }

  std::vector<Operand> matmul() {
    const auto& product = attrs<MatMulAttrs>();
    return of_matrices(product.transpose_a, product.transpose_b);
  }
  std::vector<Operand> gemm() {
    const auto& product = attrs<GemmAttrs>();
    if (inputs_.size() < 3) return of_matrices(product.transpose_a, product.transpose_b);
    const auto scaled = [&](const Operand& x, double factor) {
      if (factor == 1) return x;
      const HostTensor number = converted(HostTensor::of<double>(DType::f64, {}, {factor}), x->dtype());
      return builder_.emit(Op::Mul, NoAttrs{}, {x, constant(number)}, origin_)[0];
    };
    GemmAttrs alone = product;
    alone.beta = 1;
    const Operand sum = builder_.emit(Op::Gemm, alone, {inputs_[0], inputs_[1]}, origin_)[0];
    if (product.beta == 0) return {sum};
    return builder_.emit(Op::Add, NoAttrs{}, {sum, scaled(inputs_[2], product.beta)}, origin_);
  }
  // Zeros stand in for what lies beyond the sum.
  std::vector<Operand> of_matrices(bool transpose_a, bool transpose_b) {
    const Operand &a = inputs_[0], &b = inputs_[1];
    const int64_t sum_a = a->rank() - (transpose_a ? 2 : 1), sum_b = b->rank() - (transpose_b ? 1 : 2);
    std::vector<Operand> inputs = inputs_;
    inputs[0] = masked_by_zero(a, sum_a);
    inputs[1] = masked_by_zero(b, sum_b);
    note_meeting(a, sum_a, b, sum_b);
    const int64_t rank = std::max(a->rank(), b->rank());
    for (int64_t i = 3; i <= std::min(a->rank(), b->rank()); ++i) {
      note_broadcast(a, a->rank() - i, b, b->rank() - i);
      meet_number(inputs[0], a->rank() - i, b, b->rank() - i);
      meet_number(inputs[1], b->rank() - i, a, a->rank() - i);
    }
    std::vector<Operand> extents(static_cast<size_t>(rank));
    for (const Operand& operand : {inputs[0], inputs[1]})
      for (int64_t axis = 0; axis + 2 < operand->rank(); ++axis) {
        Operand& extent = extents[static_cast<size_t>(axis + rank - operand->rank())];
        if (extent == nullptr) extent = extent_of(operand, axis);
      }
    extents[rank - 2] = extent_of(a, a->rank() - (transpose_a ? 1 : 2));
    extents[rank - 1] = extent_of(b, b->rank() - (transpose_b ? 2 : 1));
    return with(inputs, extents);
  }
};

}  // namespace

bool takes_bounded(const std::string& op_type) {
  static const std::set<std::string> others = [] {
    std::istringstream words(kTakesNumbers);
    return std::set<std::string>{std::istream_iterator<std::string>(words), {}};
  }();
  return !others.contains(op_type);
}

std::vector<Operand> emit_bounded(GraphBuilder& builder, Op op, const Attrs& attrs,
                                  const std::vector<Operand>& inputs, const std::string& origin) {
  return Bounded(builder, op, attrs, inputs, origin).run();
}

}  // namespace korch::onnx
