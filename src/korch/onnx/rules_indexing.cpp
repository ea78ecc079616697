// Gather, top-k, one-hot, sums and products along an axis.
#include <fmt/format.h>

#include <algorithm>

#include "korch/onnx/bounded.h"
#include "korch/onnx/narrow.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

Results gather(NodeImport& n) {
  const AxisAttrs attrs{n.axis(n.int_attr("axis", 0), n.input(0)->rank())};
  if (const auto& narrow = n.input(0)->narrow; narrow && attrs.axis == 0)
    if (const Operand rows = narrow_rows(n, *narrow, {n, n.input(1)})) return {rows};
  return {n.emit(Op::Gather, attrs, {n.input(0), n.input(1)})};
}

Results gather_elements(NodeImport& n) {
  const AxisAttrs attrs{n.axis(n.int_attr("axis", 0), n.input(0)->rank())};
  return {n.emit(Op::GatherElements, attrs, {n.input(0), n.input(1)})};
}

Results gather_nd(NodeImport& n) {
  return {n.emit(Op::GatherND, AxisAttrs{n.int_attr("batch_dims", 0)}, {n.input(0), n.input(1)})};
}

Results top_k(NodeImport& n) {
  TopKAttrs attrs;
  attrs.axis = n.axis(n.int_attr("axis", -1), n.input(0)->rank());
  Operand counted, wanted;
  if (n.opset() < 10) {
    attrs.k = n.int_attr("k");
  } else {
    const std::vector<Extent> k = n.extents_input(1, "number k");
    if (k.size() != 1) n.invalid("its number k must be one integer");
    attrs.k = k[0].bound;
    wanted = counted = k[0].counted;
    const int64_t most = n.input(0)->shape()[attrs.axis];
    if (counted != nullptr && attrs.k > most) {
      attrs.k = most;
      counted = min({n, counted}, {n, DType::i64, static_cast<double>(most)}).operand();
    }
  }
  const Operand there = extent_of(n.input(0), attrs.axis);
  if (there != nullptr && counted == nullptr && !depends_on_data(n.builder(), there) &&
      n.least(n.input(0), attrs.axis) < attrs.k)
    throw Error(ErrorKind::usage,
                fmt::format("axis {} of its data can be as short as {}, less than k {}: give a range of "
                            "extents that begins higher",
                            attrs.axis, n.least(n.input(0), attrs.axis), attrs.k));
  attrs.largest = n.flag("largest", true);
  attrs.sorted = n.flag("sorted", true);
  Results results = n.emit_all(Op::TopK, attrs, {n.input(0)});
  if (there != nullptr || counted != nullptr)
    n.builder().note_meeting(counted != nullptr ? wanted : n.integer(attrs.k),
                             n.length(n.input(0), attrs.axis), n.origin(), results, ExtentRelation::at_most);
  for (Operand& result : results) {
    if (counted == nullptr) break;
    Results extents = extents_of(result);
    extents[attrs.axis] = counted;
    result = n.bounded(result, extents);
  }
  return results;
}

Results one_hot(NodeImport& n) {
  OneHotAttrs attrs;
  attrs.axis = n.axis(n.int_attr("axis", -1), n.input(0)->rank() + 1);
  const HostTensor& depth = n.constant_input(1, "depth");
  if (depth.elements() != 1) n.invalid("depth must be a scalar");
  attrs.depth = element_as_int(depth, 0);
  n.bounded("depth", {attrs.depth}, 1, kMaxOffset);
  return {n.emit(Op::OneHot, attrs, {n.cast(n.input(0), DType::i64), n.input(2)})};
}

Results cum_sum(NodeImport& n) {
  ScanAttrs attrs;
  attrs.axis = n.axis(n.int_input(1, "axis"), n.input(0)->rank());
  attrs.exclusive = n.flag("exclusive", false);
  attrs.reverse = n.flag("reverse", false);
  return {n.emit(Op::CumSum, attrs, {n.input(0)})};
}

// Of the elements of an axis so far, as products of 1, 2, 4, ... neighbours: shifted by as many, ones come
// in.
Term products(Term x, int64_t axis, bool reverse, bool exclusive) {
  const int64_t extent = x.extent(axis);
  const auto shifted = [&](const Term& of, int64_t by) {
    const Term kept = slice(of, axis, reverse ? by : 0, extent - by);
    return pad(kept, axis, reverse ? 0 : by, reverse ? by : 0, 1);
  };
  if (exclusive && extent > 0) x = shifted(x, 1);
  for (int64_t by = 1; by < extent; by *= 2) x = x * shifted(x, by);
  return x;
}

// Elements beyond an extent are ones.
Results cum_prod(NodeImport& n) {
  const Term given(n, n.input(0));
  const int64_t axis = n.axis(n.int_input(1, "axis"), given.rank());
  Term x = at_bounds(given);
  if (const Operand extent = extent_of(given, axis))
    x = select(positions(n, DType::i64, x.extent(axis), axis, x.rank()) < Term(n, extent), x, 1);
  const Term result = products(x, axis, n.flag("reverse", false), n.flag("exclusive", false));
  return {n.bounded(result, extents_of(given))};
}

// Known ones are checked; others count as within the axis.
Term sequence_lengths(const Term& given, const Term& x, int64_t time) {
  NodeImport& n = given.node();
  const int64_t extent = n.least(x, time);
  const auto& constant = given.operand()->constant;
  for (int64_t i = 0; constant && i < constant->elements(); ++i)
    if (const int64_t length = element_as_int(*constant, i); length < 0 || length > extent)
      n.invalid(fmt::format("sequence length {} is not within 0 and {}", length, extent));
  const Term lengths = cast(given, DType::i64);
  return constant ? lengths : min(max(lengths, integer(n, 0)), length(x, time));
}

// The first elements of each sequence in the other direction.
Results reverse_sequence(NodeImport& n) {
  const Term x(n, n.input(0));
  const int64_t time = n.axis(n.int_attr("time_axis", 0), x.rank()),
                batch = n.axis(n.int_attr("batch_axis", 1), x.rank());
  if (time == batch || n.input(1)->shape() != Shape{x.extent(batch)})
    n.invalid("one length per element of batch_axis");
  const Term lengths = sequence_lengths({n, n.input(1)}, x, time);
  Shape along(x.shape().size(), 1);
  along[batch] = x.extent(batch);
  const Term length = reshape(lengths, along), at = positions_along(x, time, time, x.rank());
  const Term from = select(at < length, length - 1.0 - at, at);
  const Term result = gather_elements(x, expand_like(from, x), time);
  n.builder().note_meeting(n.length(x, batch), n.length(n.input(1), 0), n.origin(), {result});
  return {result};
}

}  // namespace

std::vector<RuleRow> indexing_rules() {
  return {
      {"Gather", gather, 1, 13},       {"GatherElements", gather_elements, 11, 13},
      {"GatherND", gather_nd, 11, 13}, {"TopK", top_k, 1, 24},
      {"OneHot", one_hot, 9, 28},      {"CumSum", cum_sum, 11, 14},
      {"CumProd", cum_prod, 26, 26},   {"ReverseSequence", reverse_sequence, 10, 28},
  };
}

}  // namespace korch::onnx
