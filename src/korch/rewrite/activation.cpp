// Elementwise functions.
#include "korch/rewrite/rules.h"

namespace korch::rules {

void tanh_of_softplus(Rewriter& r, NodeId id) {
  const Node tanh = r.node(id);
  const std::optional<Node> softplus = r.producer(tanh.inputs[0], Op::Softplus);
  if (!softplus) return;
  r.covers({*softplus});
  r.equate(tanh.outputs[0], r.emit(Op::TanhSoftplus, {softplus->inputs[0]}));
}

}  // namespace korch::rules
