#include "korch/ir/narrow.h"

#include <fmt/format.h>

#include "korch/base/ceil_div.h"
#include "korch/ir/infer.h"
#include "korch/tensor/element.h"

namespace korch {

TensorType narrow_product_type(const InferArgs& args) {
  const auto& attrs = args.get<NarrowAttrs>();
  const TensorType &x = args.inputs[0], &numbers = args.inputs[1];
  infer_require(args, x.dtype == DType::f32 && args.inputs[2].dtype == DType::f32,
                "data and scales must be float32");
  const bool whole = numbers.dtype == DType::i8 || numbers.dtype == DType::u8;
  infer_require(args, whole || is_small_float(numbers.dtype), "weights must be bytes or floats in 16 bits");
  infer_require(
      args, attrs.bits == 8 * static_cast<int64_t>(size_bytes(numbers.dtype)) || (whole && attrs.bits == 4),
      "weights have as many bits as their type, or 4 of a byte");
  infer_require(args, x.shape.size() >= 2 && numbers.shape.size() == 2,
                "data need rank 2 or more, and weights rank 2");
  const int64_t terms = numbers.shape[0], columns = numbers.shape[1];
  if (x.shape.back() != terms)
    infer_fail(args, fmt::format("inner extents {} and {} differ", x.shape.back(), terms));
  infer_require(args, attrs.block >= 1, "blocks need a term or more");
  const Shape blocks = {ceil_div(terms, attrs.block), columns};
  infer_require(args, args.shape(2) == blocks, "scales must be one per block and column");
  if (args.inputs.size() > 3)
    infer_require(args, whole && args.inputs[3] == TensorType{numbers.dtype, blocks},
                  "zero points must be of the weights' type, one per block and column");
  Shape shape = x.shape;
  shape.back() = columns;
  return {DType::f32, shape};
}

namespace {

template <typename T>
HostTensor weights_in(DType type, const NarrowAttrs& attrs, const std::vector<HostTensor>& inputs) {
  const HostTensor numbers = converted(inputs[1], type), scales = converted(inputs[2], type);
  const HostTensor zeros = inputs.size() > 3 ? converted(inputs[3], type) : HostTensor();
  const int64_t terms = numbers.shape()[0], columns = numbers.shape()[1];
  HostTensor result(numbers.type());
  const T* number = numbers.data<T>();
  T* to = result.mutable_data<T>();
  for (int64_t k = 0; k < terms; ++k) {
    const int64_t row = k / attrs.block * columns;
    const T* scale = scales.data<T>() + row;
    const T* zero = inputs.size() > 3 ? zeros.data<T>() + row : nullptr;
    for (int64_t n = 0; n < columns; ++n)
      *to++ = (*number++ - (zero == nullptr ? 0 : zero[n])) * scale[n];  // differences are exact
  }
  return result;
}

}  // namespace

HostTensor widened_weights(const NarrowAttrs& attrs, const std::vector<HostTensor>& inputs) {
  return inputs[2].dtype() == DType::f64 ? weights_in<double>(DType::f64, attrs, inputs)
                                         : weights_in<float>(DType::f32, attrs, inputs);
}

Node as_matmul(const Node& node) {
  Node result = node;
  result.op = Op::MatMul;
  result.attrs = MatMulAttrs{};
  result.inputs.resize(2);
  return result;
}

}  // namespace korch
