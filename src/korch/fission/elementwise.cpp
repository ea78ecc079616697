// Activations made of primitives, and operators over any number of operands.
#include <cmath>

#include "korch/fission/rules.h"

namespace korch::rules {
namespace {

ValueId chain(Emitter& e, Op op, const Inputs& in) {
  ValueId result = in[0];
  for (size_t i = 1; i < in.size(); ++i) result = e.emit(op, {result, in[i]});
  return result;
}

}  // namespace

ValueId sum(Emitter& e, const Node&, const Inputs& in) {
  return chain(e, Op::Add, in);
}

ValueId mean(Emitter& e, const Node&, const Inputs& in) {
  return e.divided_by_count(chain(e, Op::Add, in), static_cast<int64_t>(in.size()));
}

ValueId variadic_max(Emitter& e, const Node&, const Inputs& in) {
  return chain(e, Op::Max, in);
}

ValueId variadic_min(Emitter& e, const Node&, const Inputs& in) {
  return chain(e, Op::Min, in);
}

ValueId gelu(Emitter& e, const Node&, const Inputs& in) {
  const ValueId erf = e.emit(Op::Erf, {e.scaled(in[0], 1 / std::sqrt(2.0))});
  const ValueId factor = e.shifted(erf, 1);
  return e.mul(e.scaled(in[0], 0.5), factor);
}

ValueId mish(Emitter& e, const Node&, const Inputs& in) {
  return e.mul(in[0], e.emit(Op::Tanh, {e.emit(Op::Softplus, {in[0]})}));
}

}  // namespace korch::rules
