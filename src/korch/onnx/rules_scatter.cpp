// Scatter: elements and slices that go where indices say.
#include <fmt/format.h>

#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

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

Term from_front(const Term& index, const Term& extent) {
  return select(index < 0, index + extent, index);
}

// Both at their bounds; beyond the data's extents it does not matter.
Term joined(const Reduction& reduction, const Term& data, const Term& each) {
  NodeImport& n = data.node();
  return {n, n.bounded(apply(reduction.two, {at_bounds(data), each}), extents_of(data))};
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

// Where updates go, one target for each along the first `axes` axes of `of`, which are the indices or the
// updates: what lies beyond an extent of those goes nowhere.
Term nowhere_beyond(const Term& target, const Term& of, size_t axes) {
  std::optional<Term> inside = within(of);
  for (size_t axis = 0; inside && axis < of.shape().size(); ++axis) {
    if (axis < axes) continue;
    if (of.extent(static_cast<int64_t>(axis)) == 0) return target;
    if (extent_of(of, axis) != nullptr) of.node().unsupported("slices whose extents depend on the data");
    inside = slice(*inside, static_cast<int64_t>(axis), 0, 1);
  }
  return inside ? select(reshape(*inside, target.shape()), target, -1) : target;
}

// The index, unless it counts and is not valid: then the run ends with an error. `of`: the indices and the
// updates, which `valid` has one element for each along the first `axes` axes of.
Term required(const Term& index, const Term& valid, const std::vector<Term>& of, size_t axes) {
  NodeImport& n = index.node();
  Term wrong = select(valid, integer(n, 0), 1);
  for (const Term& each : of) wrong = nowhere_beyond(wrong, each, axes);
  const Term one(
      n, n.builder().required(
             !(wrong == 1), fmt::format("node {}: an index is outside of its axis", quoted_name(n.origin())),
             n.origin()));
  return index + (one - 1);
}

// Whether all of an operand's integers are places on an axis, wherever they count from.
bool are_places(const Term& index, const Term& data, int64_t axis) {
  NodeImport& n = index.node();
  const Range range = n.range(index, kAny);
  const auto least = static_cast<double>(n.least(data, axis));
  return range.low >= -least && range.high < least;
}

// As many updates as indices, each of which says where along one axis.
void note_extents(NodeImport& n, const Results& results, int64_t axis) {
  for (int64_t i = 0; i < n.input(0)->rank(); ++i) {
    const auto open = [&](size_t input) { return extent_of(n.input(input), i) != nullptr; };
    if (open(1) || open(2))
      n.builder().note_meeting(n.length(n.input(1), i), n.length(n.input(2), i), n.origin(), results);
    if (i != axis && (open(0) || open(1)))
      n.builder().note_meeting(n.length(n.input(1), i), n.length(n.input(0), i), n.origin(), results,
                               ExtentRelation::at_most);
  }
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
  Term index = from_front(cast(at_bounds({n, n.input(1)}), DType::i64), length(data, axis));
  const std::vector<Term> given = {Term(n, n.input(1)), updates};
  if (!are_places(given[0], data, axis))
    index = required(index, 0.0 <= index && index < length(data, axis), given, index.shape().size());
  for (const Term& of : given) index = nowhere_beyond(index, of, index.shape().size());
  const Term target = insert_axis(index, axis);
  const Term here = target == positions(n, DType::i64, places, axis, target.rank());
  const Term chosen = select(here, insert_axis(at_bounds(updates), axis), Term(n, reduction->identity));
  const Term each = reduce(reduction->many, chosen, {axis + 1}, false);
  const Results results = {joined(*reduction, data, continued(each, data.shape(), reduction->identity))};
  note_extents(n, results, axis);
  return results;
}

// Places [P, D] of slices, updates [M, D].
Results scatter_nd(NodeImport& n) {
  const Term data(n, n.input(0)), indices = cast(at_bounds({n, n.input(1)}), DType::i64),
                                  updates(n, n.input(2));
  const auto reduction = read_reduction(n);
  if (!reduction) return {n.emit(Op::ScatterND, {data, n.input(1), updates})};
  infer_types(Op::ScatterND, NoAttrs{}, {n.input(0)->type, n.input(1)->type, n.input(2)->type});  // checks
  const int64_t last = indices.rank() - 1, depth = indices.extent(last);
  Shape tuple(indices.shape().begin(), indices.shape().end() - 1);
  const int64_t count = element_count(tuple),
                places = element_count(Shape(data.shape().begin(), data.shape().begin() + depth));
  const int64_t row = element_count(Shape(data.shape().begin() + depth, data.shape().end()));
  require_moderate(n, places * count * row);
  std::optional<Term> place, exists;
  bool are_all = true;
  for (int64_t d = 0; d < depth; ++d) {
    const int64_t extent = data.extent(d);
    const Term at = from_front(reshape(slice(indices, last, d, 1), {count}), length(data, d));
    const Term valid = 0.0 <= at && at < length(data, d);
    place = place ? *place * static_cast<double>(extent) + at : at;
    exists = exists ? *exists && valid : valid;
    are_all = are_all && are_places(indices, data, d);
  }
  const std::vector<Term> given = {Term(n, n.input(1)), updates};
  Term where = reshape(*place, tuple);
  if (!are_all) where = required(where, reshape(*exists, tuple), given, tuple.size());
  for (const Term& of : given) where = nowhere_beyond(where, of, tuple.size());
  const Term target = reshape(where, {1, count, 1});
  const Term here = target == positions(n, DType::i64, places, 0, 3);
  const Term chosen =
      select(here, reshape(at_bounds(updates), {1, count, row}), Term(n, reduction->identity));
  const Term each = reduce(reduction->many, chosen, {1}, false);
  const Results results = {joined(*reduction, data, reshape(each, data.shape()))};
  for (int64_t i = 0; i < updates.rank(); ++i) {
    const bool of_tuples = i < last;
    const Operand& other = n.input(of_tuples ? 1 : 0);
    const int64_t axis = of_tuples ? i : i - last + depth;
    if (extent_of(updates, i) != nullptr || extent_of(other, axis) != nullptr)
      n.builder().note_meeting(n.length(updates, i), n.length(other, axis), n.origin(), results);
  }
  return results;
}

}  // namespace

std::vector<RuleRow> scatter_rules() {
  return {
      {"Scatter", scatter_elements, 9, 9, 10},  // ScatterElements until then
      {"ScatterElements", scatter_elements, 11, 18},
      {"ScatterND", scatter_nd, 11, 18},
  };
}

}  // namespace korch::onnx
