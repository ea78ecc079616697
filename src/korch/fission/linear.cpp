// Linear operators: what they add to their product becomes elementwise primitives.
#include "korch/fission/rules.h"

namespace korch::rules {

ValueId convolution_with_bias(Emitter& e, const Node& node, const Inputs& in) {
  const ValueId product = e.emit(node.op, node.attrs, {in[0], in[1]});
  return e.add(product, e.along_axis(in[2], 1, e.rank(product)));
}

ValueId gemm(Emitter& e, const Node& node, const Inputs& in) {
  const GemmAttrs& attrs = std::get<GemmAttrs>(node.attrs);
  const MatMulAttrs flags{attrs.transpose_a, attrs.transpose_b};
  const ValueId product = e.scaled(e.emit(Op::MatMul, flags, {in[0], in[1]}), attrs.alpha);
  if (in.size() < 3 || attrs.beta == 0) return product;
  return e.add(product, e.scaled(in[2], attrs.beta));
}

}  // namespace korch::rules
