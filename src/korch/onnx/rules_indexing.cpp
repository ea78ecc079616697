// Gather, scatter, top-k, one-hot, cumulative sum.
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

using Results = std::vector<Operand>;

Results gather(NodeImport& n) {
  const AxisAttrs attrs{n.axis(n.int_attr("axis", 0), n.input(0)->rank())};
  return {n.emit(Op::Gather, attrs, {n.input(0), n.input(1)})};
}

Results gather_elements(NodeImport& n) {
  const AxisAttrs attrs{n.axis(n.int_attr("axis", 0), n.input(0)->rank())};
  return {n.emit(Op::GatherElements, attrs, {n.input(0), n.input(1)})};
}

Results gather_nd(NodeImport& n) {
  return {n.emit(Op::GatherND, AxisAttrs{n.int_attr("batch_dims", 0)}, {n.input(0), n.input(1)})};
}

void require_no_reduction(NodeImport& n) {
  const std::string reduction = n.string_attr("reduction", "none");
  if (reduction != "none") n.unsupported("reduction " + quoted_name(reduction));
}

Results scatter_elements(NodeImport& n) {
  require_no_reduction(n);
  const AxisAttrs attrs{n.axis(n.int_attr("axis", 0), n.input(0)->rank())};
  return {n.emit(Op::ScatterElements, attrs, {n.input(0), n.input(1), n.input(2)})};
}

Results scatter_nd(NodeImport& n) {
  require_no_reduction(n);
  return {n.emit(Op::ScatterND, {n.input(0), n.input(1), n.input(2)})};
}

Results top_k(NodeImport& n) {
  TopKAttrs attrs;
  attrs.axis = n.axis(n.int_attr("axis", -1), n.input(0)->rank());
  attrs.k = n.opset() < 10 ? n.int_attr("k") : n.int_input(1, "number k");
  attrs.largest = n.flag("largest", true);
  attrs.sorted = n.flag("sorted", true);
  return n.emit_all(Op::TopK, attrs, {n.input(0)});
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

}  // namespace

const std::vector<RuleRow>& indexing_rules() {
  static const std::vector<RuleRow> rows = {
      {"Gather", gather},
      {"GatherElements", gather_elements, 11},
      {"GatherND", gather_nd, 11},
      {"Scatter", scatter_elements, 9, 10},  // ScatterElements until then
      {"ScatterElements", scatter_elements, 11},
      {"ScatterND", scatter_nd, 11},
      {"TopK", top_k},
      {"OneHot", one_hot, 9},
      {"CumSum", cum_sum, 11},
  };
  return rows;
}

}  // namespace korch::onnx
