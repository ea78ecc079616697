// Operators that are small compositions of elementwise ones.
#include <cmath>

#include "korch/interp/evaluate.h"

namespace korch {
namespace {

HostTensor fold(const Evaluation& e, Op op) {
  HostTensor result = broadcast_to(e.inputs[0], e.output_shape(), e.stop);
  const TensorType type{e.inputs[0].dtype(), e.output_shape()};
  for (size_t i = 1; i < e.inputs.size(); ++i)
    result = evaluate_scalar(op, {}, {result, e.inputs[i]}, type, e.stop);
  return result;
}

template <typename F>
Results per_element(const Evaluation& e, F f) {
  const HostTensor input = converted(e.inputs[0], DType::f64);
  HostTensor out = doubles(input.shape());
  for (int64_t i = 0; i < out.elements(); ++i) {
    out.mutable_data<double>()[i] = f(input.data<double>()[i]);
    e.stop.after(1);
  }
  return {out};
}

}  // namespace

Results evaluate_sum(const Evaluation& e) {
  return {fold(e, Op::Add)};
}
Results evaluate_variadic_max(const Evaluation& e) {
  return {fold(e, Op::Max)};
}
Results evaluate_variadic_min(const Evaluation& e) {
  return {fold(e, Op::Min)};
}

Results evaluate_mean(const Evaluation& e) {
  const HostTensor sum = fold(e, Op::Add);
  const HostTensor count = HostTensor::of<double>(DType::f64, {}, {static_cast<double>(e.inputs.size())});
  return {evaluate_scalar(Op::Div, {}, {sum, converted(count, sum.dtype())}, sum.type(), e.stop)};
}

Results evaluate_gelu(const Evaluation& e) {
  return per_element(e, [](double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); });
}

// x * tanh(softplus(x)); softplus in the form that cannot overflow.
Results evaluate_mish(const Evaluation& e) {
  return per_element(e, [](double x) {
    const double softplus = (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
    return x * std::tanh(softplus);
  });
}

}  // namespace korch
