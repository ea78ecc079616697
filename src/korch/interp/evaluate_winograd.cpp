#include "korch/interp/evaluate.h"
#include "korch/interp/winograd.h"

namespace korch {

Results evaluate_winograd_input(const Evaluation& e) {
  const HostTensor x = converted(e.inputs[0], DType::f64);
  HostTensor v = doubles(e.output_shape());
  winograd_input(e.attrs<WinogradAttrs>(), x.shape(), x.data<double>(), v.mutable_data<double>(), Doubles());
  return {v};
}

Results evaluate_winograd_product(const Evaluation& e) {
  const HostTensor v = converted(e.inputs[0], DType::f64), w = converted(e.inputs[1], DType::f64);
  HostTensor p = doubles(e.output_shape());
  winograd_product(e.attrs<WinogradAttrs>(), v.shape(), v.data<double>(), p.shape()[2], w.data<double>(),
                   p.mutable_data<double>(), Doubles());
  return {p};
}

Results evaluate_winograd_output(const Evaluation& e) {
  const HostTensor p = converted(e.inputs[0], DType::f64);
  HostTensor y = doubles(e.output_shape());
  winograd_output(e.attrs<WinogradAttrs>(), p.data<double>(), y.mutable_data<double>(), Doubles());
  return {y};
}

}  // namespace korch
