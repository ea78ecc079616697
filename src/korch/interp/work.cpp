#include "korch/interp/work.h"

#include <algorithm>

namespace korch {
namespace {

double elements(const TensorType& type) {
  return static_cast<double>(type.elements());
}

// Elements that one element of the result is computed from.
double reads_per_result(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs) {
  const Shape& x = inputs[0].shape;
  if (const auto* pool = std::get_if<PoolAttrs>(&attrs)) {
    double taps = 1;
    for (size_t i = 0; i < pool->kernel.size(); ++i)
      taps *= static_cast<double>(std::min(pool->kernel[i], x[i + 2]));
    return taps;
  }
  // Each result channel of a convolution, and each input channel of a transposed one, has weights of its own.
  if (op == Op::Conv || op == Op::ConvTranspose)
    return elements(inputs[1]) / static_cast<double>(std::max<int64_t>(inputs[1].shape[0], 1));
  if (const auto* matmul = std::get_if<MatMulAttrs>(&attrs))
    return static_cast<double>(x[x.size() - (matmul->transpose_a ? 2 : 1)]);
  if (op == Op::NarrowMatMul) return static_cast<double>(x.back());
  if (const auto* gemm = std::get_if<GemmAttrs>(&attrs))
    return static_cast<double>(x[gemm->transpose_a ? 0 : 1]);
  if (const auto* lrn = std::get_if<LrnAttrs>(&attrs)) return static_cast<double>(std::min(lrn->size, x[1]));
  if (op == Op::WinogradProduct) return static_cast<double>(x.back());
  if (op == Op::Recurrence) return elements(inputs[1]) / static_cast<double>(inputs[1].shape[1]);
  if (op == Op::TopK) return 32;                                      // comparisons per element of a sort
  if (op == Op::NonMaxSuppression) return static_cast<double>(x[1]);  // boxes that each may overlap
  return 1;
}

}  // namespace

double evaluation_work(Op op, const Attrs& attrs, const std::vector<TensorType>& inputs,
                       const std::vector<TensorType>& outputs) {
  double read = 0, written = 0, product = 1;
  for (const TensorType& type : inputs) {
    read += elements(type);
    product *= elements(type);
  }
  for (const TensorType& type : outputs) written += elements(type);
  if (inputs.empty()) return written;
  if (op == Op::Einsum) return product;
  const double results = op == Op::ConvTranspose || op == Op::TopK ? elements(inputs[0]) : written;
  return read + results * reads_per_result(op, attrs, inputs);
}

}  // namespace korch
