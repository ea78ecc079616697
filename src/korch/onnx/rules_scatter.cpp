// Scatter: elements and slices that go where indices say.
#include <fmt/format.h>

#include <limits>

#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

using Results = std::vector<Operand>;

// How an update meets what stands there. Updates of one place are reduced over all of them, with a mask:
// where an update goes is known to the data alone. The work is places x updates.
constexpr int64_t kMaxMasked = int64_t{1} << 24;

struct Reduction {
  Op two, many;
  Operand identity;
};

std::optional<Reduction> read_reduction(NodeImport& n) {
  const std::string name = n.string_attr("reduction", "none");
  const DType type = n.input(0)->dtype();
  if (name == "none") return std::nullopt;
  for (size_t i = 0; i < 3; ++i)
    if (is_bounded(n.input(i))) n.unsupported("reductions of what has an extent that depends on the data");
  if (type == DType::bool_) n.unsupported("reductions of bool");
  if (name == "add") return Reduction{Op::Add, Op::ReduceSum, n.scalar(type, 0)};
  if (name == "mul") return Reduction{Op::Mul, Op::ReduceProd, n.scalar(type, 1)};
  if (name == "max") return Reduction{Op::Max, Op::ReduceMax, n.constant(extreme(type, true))};
  if (name == "min") return Reduction{Op::Min, Op::ReduceMin, n.constant(extreme(type, false))};
  n.invalid("reduction " + quoted_name(name));
}

void require_moderate(NodeImport& n, int64_t work) {
  if (work > kMaxMasked)
    n.unsupported(fmt::format("a reduction of {} pairs of place and update, more than {}", work, kMaxMasked));
}

Term from_front(const Term& index, int64_t extent) {
  return select(index < 0, index + static_cast<double>(extent), index);
}

// Data of fewer elements than `shape` on some axes, continued by the identity.
Term continued(Term x, const Shape& shape, const Operand& identity) {
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    Shape rest = x.shape();
    rest[axis] = shape[axis] - x.extent(axis);
    if (rest[axis] > 0) x = concat({x, expand({x.node(), identity}, rest)}, axis);
  }
  return x;
}

// [.., places, ..] and, along a new axis behind that of the places, the updates [.., updates, ..].
Results scatter_elements(NodeImport& n) {
  const Term data(n, n.input(0)), updates(n, n.input(2));
  const int64_t axis = n.axis(n.int_attr("axis", 0), data.rank());
  const auto reduction = read_reduction(n);
  const AxisAttrs attrs{axis};
  if (!reduction) return {n.emit(Op::ScatterElements, attrs, {data, n.input(1), updates})};
  infer_types(Op::ScatterElements, attrs, {n.input(0)->type, n.input(1)->type, n.input(2)->type});  // checks
  const int64_t places = data.extent(axis);
  require_moderate(n, places * updates.operand()->type.elements());
  const Term index = insert_axis(from_front(cast({n, n.input(1)}, DType::i64), places), axis);
  const Term here = index == positions(n, DType::i64, places, axis, index.rank());
  const Term chosen = select(here, insert_axis(updates, axis), Term(n, reduction->identity));
  const Term each = reduce(reduction->many, chosen, {axis + 1}, false);
  return {apply(reduction->two, {data, continued(each, data.shape(), reduction->identity)})};
}

// Places [P, D] of slices, updates [M, D]. A tuple that addresses nothing meets no place.
Results scatter_nd(NodeImport& n) {
  const Term data(n, n.input(0)), indices = cast({n, n.input(1)}, DType::i64), updates(n, n.input(2));
  const auto reduction = read_reduction(n);
  if (!reduction) return {n.emit(Op::ScatterND, {data, n.input(1), updates})};
  infer_types(Op::ScatterND, NoAttrs{}, {n.input(0)->type, n.input(1)->type, n.input(2)->type});  // checks
  const int64_t last = indices.rank() - 1, depth = indices.extent(last);
  Shape tuple(indices.shape().begin(), indices.shape().end() - 1);
  const int64_t count = element_count(tuple),
                places = element_count(Shape(data.shape().begin(), data.shape().begin() + depth));
  const int64_t length = element_count(Shape(data.shape().begin() + depth, data.shape().end()));
  require_moderate(n, places * count * length);
  std::optional<Term> place, exists;
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t extent = data.extent(d);
    const Term at = from_front(reshape(slice(indices, last, d, 1), {count}), extent);
    const Term valid = 0.0 <= at && at < static_cast<double>(extent);
    place = place ? *place * static_cast<double>(extent) + at : at;
    exists = exists ? *exists && valid : valid;
  }
  const Term target = reshape(select(*exists, *place, -1), {1, count, 1});
  const Term here = target == positions(n, DType::i64, places, 0, 3);
  const Term chosen = select(here, reshape(updates, {1, count, length}), Term(n, reduction->identity));
  const Term each = reduce(reduction->many, chosen, {1}, false);
  return {apply(reduction->two, {data, reshape(each, data.shape())})};
}

}  // namespace

const std::vector<RuleRow>& scatter_rules() {
  static const std::vector<RuleRow> rows = {
      {"Scatter", scatter_elements, 9, 9, 10},  // ScatterElements until then
      {"ScatterElements", scatter_elements, 11, 18},
      {"ScatterND", scatter_nd, 11, 18},
  };
  return rows;
}

}  // namespace korch::onnx
