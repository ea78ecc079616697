#include "korch/interp/evaluate.h"

namespace korch {

DType wide_type(DType type) {
  if (is_float(type) || is_storage(type)) return DType::f64;
  return type == DType::u64 ? DType::u64 : DType::i64;
}

HostTensor widened(const HostTensor& tensor) {
  return converted(tensor, wide_type(tensor.dtype()));
}

HostTensor doubles(const Shape& shape) {
  return HostTensor(TensorType{DType::f64, shape});
}

Results evaluate_constant(const Evaluation& e) {
  return {e.attrs<ConstantAttrs>().value};
}

}  // namespace korch
