// Narrow weights for targets whose kernels read floats alone.
#include "korch/rewrite/rules.h"

namespace korch::rules {
namespace {

// [blocks, N], each row for `block` terms, as [terms, N] of float32.
ValueId for_terms(Rewriter& r, ValueId shared, int64_t block, int64_t terms) {
  const int64_t blocks = r.shape(shared)[0], columns = r.shape(shared)[1];
  if (!r.is_float32(shared)) shared = r.emit(Op::Cast, CastAttrs{DType::f32}, {shared});
  if (blocks == 1) return shared;
  const ValueId rows = r.reshape(shared, {blocks, 1, columns});
  const ValueId repeated = r.emit(Op::Expand, ShapeAttrs{{blocks, block, columns}}, {rows});
  return r.slice(r.reshape(repeated, {blocks * block, columns}), 0, 0, terms);
}

}  // namespace

void narrow_weights_as_floats(Rewriter& r, NodeId id) {
  const Node node = r.node(id);
  const int64_t block = std::get<NarrowAttrs>(node.attrs).block, terms = r.shape(node.inputs[1])[0];
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (!r.is_constant(node.inputs[i])) return;
  ValueId weights = r.emit(Op::Cast, CastAttrs{DType::f32}, {node.inputs[1]});
  if (node.inputs.size() > 3)
    weights = r.emit(Op::Sub, {weights, for_terms(r, node.inputs[3], block, terms)});
  weights = r.emit(Op::Mul, {weights, for_terms(r, node.inputs[2], block, terms)});
  r.equate(node.outputs[0], r.emit(Op::MatMul, MatMulAttrs{}, {node.inputs[0], weights}));
}

}  // namespace korch::rules
