#include <algorithm>

#include "korch/interp/evaluate.h"
#include "korch/interp/strided.h"
#include "korch/ir/scalar_functions.h"
#include "korch/tensor/element.h"

namespace korch {
namespace {

constexpr int64_t kBlockElements = 1024;  // a term's values stay in the first-level cache

// The type an expression is computed in: double if a double takes part or a float meets integers that float
// cannot hold; else float; else 64-bit integers, whose results wrap when narrowed to the declared type.
DType compute_type(const std::vector<HostTensor>& inputs) {
  bool any_double = false, any_float = false, any_integer = false, any_u64 = false;
  for (const HostTensor& input : inputs) {
    any_double |= input.dtype() == DType::f64;
    any_float |= is_float(input.dtype());
    any_integer |= is_integer(input.dtype());
    any_u64 |= input.dtype() == DType::u64;
  }
  if (any_double || (any_float && any_integer)) return DType::f64;
  if (any_float) return DType::f32;
  return any_u64 ? DType::u64 : DType::i64;
}

// One operand, read in blocks of C in the order of the output.
template <typename C>
class Operand {
 public:
  Operand(const HostTensor& tensor, const Shape& shape)
      : tensor_(tensor), space_(shape, broadcast_strides(tensor.shape(), shape)) {}

  void read(int64_t begin, int64_t count, C* out) const {
    with_element_type(tensor_.dtype(), [&](auto tag) {
      const auto* data = tensor_.data<typename decltype(tag)::type>();
      space_.for_each_run(begin, count, [&](int64_t offset, int64_t stride, int64_t position, int64_t run) {
        C* to = out + (position - begin);
        if (stride == 1) {
          for (int64_t i = 0; i < run; ++i) to[i] = convert_element<C>(data[offset + i]);
        } else {
          for (int64_t i = 0; i < run; ++i) to[i] = convert_element<C>(data[offset + i * stride]);
        }
      });
    });
  }

 private:
  const HostTensor& tensor_;
  StridedSpace space_;
};

template <typename C>
void write_block(const C* values, int64_t begin, int64_t count, HostTensor& out) {
  with_element_type(out.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    S* data = out.mutable_data<S>() + begin;
    for (int64_t i = 0; i < count; ++i) data[i] = convert_element<S>(values[i]);
  });
}

// Term by term over blocks, so that the expression is interpreted once per block and not per element.
template <typename C>
class BlockEvaluator {
 public:
  BlockEvaluator(const ScalarExpr& expr, const ScalarAttrs& scalars, const std::vector<HostTensor>& inputs,
                 const Shape& shape)
      : expr_(expr),
        total_(element_count(shape)),
        values_(expr.terms.size(), std::vector<C>(kBlockElements)) {
    for (const HostTensor& input : inputs) operands_.emplace_back(input, shape);
    for (size_t t = 0; t < expr.terms.size(); ++t) {
      const ScalarFn fn = expr.terms[t].fn;
      const double value = fn == ScalarFn::alpha  ? scalars.alpha
                           : fn == ScalarFn::beta ? scalars.beta
                                                  : expr.terms[t].value;
      if (fn == ScalarFn::alpha || fn == ScalarFn::beta || fn == ScalarFn::constant)
        std::fill(values_[t].begin(), values_[t].end(), convert_element<C>(value));
    }
  }

  template <typename Take>
  void for_each_block(StopCheck& stop, const Take& take) {
    for (int64_t begin = 0; begin < total_; begin += kBlockElements) {
      const int64_t count = std::min(kBlockElements, total_ - begin);
      stop.after(count);
      take(begin, count, evaluate(begin, count));
    }
  }

 private:
  const C* evaluate(int64_t begin, int64_t count) {
    for (size_t t = 0; t < expr_.terms.size(); ++t) {
      const ScalarExpr::Term& term = expr_.terms[t];
      if (term.fn == ScalarFn::alpha || term.fn == ScalarFn::beta || term.fn == ScalarFn::constant) continue;
      if (term.fn == ScalarFn::arg0 || term.fn == ScalarFn::arg1 || term.fn == ScalarFn::arg2) {
        const int index = term.fn == ScalarFn::arg0 ? 0 : term.fn == ScalarFn::arg1 ? 1 : 2;
        operands_[index].read(begin, count, values_[t].data());
      } else {
        apply_block(term.fn, count, block(term.a), block(term.b), block(term.c), values_[t].data());
      }
    }
    return values_.back().data();
  }

  const C* block(int term) const { return term < 0 ? nullptr : values_[term].data(); }

  const ScalarExpr& expr_;
  const int64_t total_;  // elements
  std::vector<std::vector<C>> values_;
  std::vector<Operand<C>> operands_;
};

template <typename C>
HostTensor evaluate_as(Op op, const ScalarAttrs& scalars, const std::vector<HostTensor>& inputs,
                       const TensorType& type, StopCheck& stop) {
  HostTensor result = HostTensor::unfilled(type);
  BlockEvaluator<C>(scalar_semantics(op), scalars, inputs, type.shape)
      .for_each_block(stop, [&](int64_t begin, int64_t count, const C* values) {
        write_block(values, begin, count, result);
      });
  return result;
}

}  // namespace

HostTensor evaluate_scalar(Op op, const ScalarAttrs& scalars, const std::vector<HostTensor>& inputs,
                           const TensorType& type, StopCheck& stop) {
  const DType compute = compute_type(inputs);
  if (compute == DType::f64) return evaluate_as<double>(op, scalars, inputs, type, stop);
  if (compute == DType::f32) return evaluate_as<float>(op, scalars, inputs, type, stop);
  if (compute == DType::u64) return evaluate_as<uint64_t>(op, scalars, inputs, type, stop);
  return evaluate_as<int64_t>(op, scalars, inputs, type, stop);
}

void evaluate_scalar_in_blocks(Op op, const ScalarAttrs& scalars, const std::vector<HostTensor>& inputs,
                               const Shape& shape, StopCheck& stop,
                               const std::function<void(int64_t, int64_t, const double*)>& take) {
  BlockEvaluator<double>(scalar_semantics(op), scalars, inputs, shape).for_each_block(stop, take);
}

Results evaluate_elementwise(const Evaluation& e) {
  const bool stored = is_storage(e.inputs[0].dtype()) || is_storage(e.types[0].dtype);
  if (e.node.op == Op::Cast && stored)
    return {converted(e.inputs[0], e.types[0].dtype, e.attrs<CastAttrs>().saturate)};
  const auto* scalars = std::get_if<ScalarAttrs>(&e.node.attrs);
  return {evaluate_scalar(e.node.op, scalars == nullptr ? ScalarAttrs{} : *scalars, e.inputs, e.types[0],
                          e.stop)};
}

}  // namespace korch
