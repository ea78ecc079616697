#include "korch/interp/random_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "korch/interp/evaluate.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/narrow.h"
#include "korch/tensor/element.h"

namespace korch {
namespace {

// SplitMix64: one addition and a few multiplications per number.
uint64_t draw(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Two random bits at a time.
class Coins {
 public:
  explicit Coins(uint64_t& state) : state_(state) {}
  // f(0, a toss), f(1, the next one) ...
  template <typename F>
  void toss(int64_t count, const F& f) {
    for (int64_t i = 0; i < count;) {
      if (left_ == 0) {
        bits_ = draw(state_);
        left_ = 32;
      }
      const int64_t end = std::min(count, i + left_);
      left_ -= static_cast<int>(end - i);
      for (; i < end; ++i, bits_ >>= 2) f(i, static_cast<unsigned>(bits_ & 3));
    }
  }

 private:
  uint64_t& state_;
  uint64_t bits_ = 0;
  int left_ = 0;
};

double uniform(uint64_t& state) {  // in [-1, 1)
  return static_cast<double>(static_cast<int64_t>(draw(state))) * 0x1p-63;
}

template <size_t bytes>
struct Bits;
template <>
struct Bits<2> {
  using type = uint16_t;
};
template <>
struct Bits<4> {
  using type = uint32_t;
};
template <>
struct Bits<8> {
  using type = uint64_t;
};

// The next float of larger magnitude (1) or smaller (-1), or the same (0): floats of one sign are ordered as
// their bits are. There is no branch, since processors cannot foresee random ones.
template <typename S>
S stepped(S value, int away_from_zero) {
  typename Bits<sizeof(S)>::type bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = static_cast<decltype(bits)>(bits + static_cast<decltype(bits)>(away_from_zero));
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

int plus_or_minus(bool plus) {
  return 2 * static_cast<int>(plus) - 1;
}

// Without a call: between numbers of the second magnitude there are no fractions.
bool is_whole(double value) {
  constexpr double kWhole = 0x1p52, kRounds = 0x1.8p52;
  return (std::fabs(value) >= kWhole) | ((value + kRounds) - kRounds == value);
}

template <typename F>
void with_float_type(DType dtype, F&& f) {
  with_element_type(dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<S> || std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>)
      f(tag);
  });
}

// One ulp up or down, a quarter of the time each.
HostTensor moved(const HostTensor& tensor, uint64_t& state) {
  if (!is_float(tensor.dtype())) return tensor;
  HostTensor result = HostTensor::unfilled(tensor.type());
  with_float_type(tensor.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    const S* from = tensor.data<S>();
    S* to = result.mutable_data<S>();
    Coins(state).toss(result.elements(), [&](int64_t i, unsigned toss) {
      const auto value = convert_element<double>(from[i]);
      const bool moves = (toss >= 2) & !is_whole(value) & (value - value == 0);
      to[i] = stepped(from[i], static_cast<int>(moves) * plus_or_minus(toss == 2));
    });
  });
  return result;
}

// Of float32: to either of the two neighbours of the type.
HostTensor rounded_for_products(const HostTensor& tensor, ProductType type, uint64_t& state) {
  if (tensor.dtype() != DType::f32) return tensor;
  const double step = type == ProductType::bf16 ? 0x1p-8 : 0x1p-11;  // half of a step, at least
  HostTensor result(tensor.type());
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    const float value = tensor.data<float>()[i];
    const bool stays = !std::isfinite(value) || rounded_to(type, value) == value;
    const double beside = value + uniform(state) * step * value;
    result.mutable_data<float>()[i] = stays ? value : rounded_to(type, static_cast<float>(beside));
  }
  return result;
}

// What is computed in more digits, where the type has it; else the nearest number or, half of the time, the
// one on the other side. Numbers that a processor may take for 0 vanish half of the time, if they may.
HostTensor elementwise_at_random(const Node& node, const std::vector<HostTensor>& inputs,
                                 const TensorType& type, bool may_vanish, StopCheck& stop, uint64_t& state) {
  constexpr double kSmallest = 0x1p-126;  // normal float32, which kernels compute in
  HostTensor result = HostTensor::unfilled(type);
  const auto* scalars = std::get_if<ScalarAttrs>(&node.attrs);
  with_float_type(type.dtype, [&](auto tag) {
    using S = typename decltype(tag)::type;
    Coins coins(state);
    const auto round = [&](int64_t begin, int64_t count, const double* wanted) {
      S* values = result.mutable_data<S>() + begin;
      coins.toss(count, [&](int64_t i, unsigned toss) {
        const S nearest = convert_element<S>(wanted[i]);
        const auto value = convert_element<double>(nearest);
        const bool other = toss < 2;
        const bool moves = other & (value != wanted[i]) & (value != 0) & (value - value == 0);
        values[i] = stepped(nearest,
                            static_cast<int>(moves) * plus_or_minus(std::fabs(wanted[i]) > std::fabs(value)));
        if (may_vanish && other && std::fabs(value) < kSmallest) values[i] = S{};
      });
    };
    evaluate_scalar_in_blocks(node.op, scalars == nullptr ? ScalarAttrs{} : *scalars, inputs, type.shape,
                              stop, round);
  });
  return result;
}

double half_ulp_of_one(DType dtype) {
  if (dtype == DType::f64) return 0x1p-53;
  return 0x1p-24;  // sums of the 16-bit types are float32 sums
}

HostTensor magnitudes(const HostTensor& tensor) {
  HostTensor result = HostTensor(TensorType{DType::f64, tensor.shape()});
  const HostTensor wide = converted(tensor, DType::f64);
  const double* from = wide.data<double>();
  double* to = result.mutable_data<double>();
  for (int64_t i = 0, count = result.elements(); i < count; ++i) to[i] = std::fabs(from[i]);
  return result;
}

bool is_sum(Op op) {
  return op == Op::ReduceSum || op == Op::WindowSum || op == Op::WindowDot || op == Op::CumSum;
}

// Terms up to which the walk of the roundings is short. Sums are made by vectors of 16 lanes, in four sums
// each; a sum of products is one chain.
constexpr double kLongSum = 4096, kLongChain = 64;

// Sums of products, but for the linear operators.
bool has_products(Op op) {
  return op == Op::WinogradInput || op == Op::WinogradOutput || op == Op::Recurrence;
}

// Off by random parts of half an ulp of what was added up.
void disturb_sum(HostTensor& sum, const HostTensor& magnitude, double walk, uint64_t& state) {
  const double part = half_ulp_of_one(sum.dtype()) * std::max(1.0, std::sqrt(walk));
  with_float_type(sum.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    S* values = sum.mutable_data<S>();
    const double* terms_sum = magnitude.data<double>();
    for (int64_t i = 0, count = sum.elements(); i < count; ++i)
      values[i] =
          convert_element<S>(convert_element<double>(values[i]) + uniform(state) * part * terms_sum[i]);
  });
}

// Terms of each element of a product; 0 of what is not a sum of products alone.
double chain_length(const Node& node, const std::vector<HostTensor>& inputs) {
  const auto per = [&](size_t axis) {  // weights of each element of the result
    return static_cast<double>(inputs[1].elements()) /
           static_cast<double>(std::max<int64_t>(1, inputs[1].shape()[axis]));
  };
  if (node.op == Op::MatMul) {
    const Shape& a = inputs[0].shape();
    return static_cast<double>(a[a.size() - (std::get<MatMulAttrs>(node.attrs).transpose_a ? 2 : 1)]);
  }
  if (node.op == Op::Conv) return per(0);
  if (node.op == Op::ConvTranspose) return per(1);
  return node.op == Op::WinogradProduct ? static_cast<double>(inputs[1].shape()[1]) : 0;
}

HostTensor shaken(const HostTensor& tensor, const HostTensor& offsets, uint64_t& state) {
  HostTensor result(tensor.type());
  with_float_type(tensor.dtype(), [&](auto tag) {
    using S = typename decltype(tag)::type;
    for (int64_t i = 0, count = result.elements(); i < count; ++i)
      result.mutable_data<S>()[i] = convert_element<S>(convert_element<double>(tensor.data<S>()[i]) +
                                                       uniform(state) * offsets.data<double>()[i]);
  });
  return result;
}

}  // namespace

bool is_choice(Op op) {
  return op == Op::ArgMax || op == Op::ArgMin || op == Op::TopK || op == Op::NonMaxSuppression;
}

// What is chosen may move; what TopK returns of it is as it was.
std::vector<HostTensor> RandomRounding::choose(const Node& node, const std::vector<HostTensor>& inputs,
                                               const std::vector<TensorType>& types) {
  std::vector<HostTensor> operands = inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto found = offsets_.find(node.inputs[i]);
        found != offsets_.end() && found->second.shape() == inputs[i].shape())
      operands[i] = shaken(inputs[i], found->second, state_);
  std::vector<HostTensor> results = evaluate_node(node, operands, types, Precision::native, stop_);
  if (node.op == Op::TopK) {
    Node gather;
    gather.op = Op::GatherElements;
    gather.attrs = AxisAttrs{std::get<TopKAttrs>(node.attrs).axis};
    results[0] = evaluate_node(gather, {inputs[0], results[1]}, {types[0]}, Precision::native, stop_)[0];
  }
  return results;
}

std::vector<HostTensor> RandomRounding::mostly(const std::vector<HostTensor>& own,
                                               const std::vector<HostTensor>& others) {
  std::vector<HostTensor> operands = own;
  for (size_t i = 0; i < own.size(); ++i)
    if (const bool takes_other = draw(state_) % 4 == 0;
        own[i].raw() == nullptr || (takes_other && others[i].raw() != nullptr))
      operands[i] = others[i];
  return operands;
}

std::vector<HostTensor> RandomRounding::product(const Node& node, const std::vector<HostTensor>& inputs,
                                                const std::vector<TensorType>& types) {
  if (node.op == Op::NarrowMatMul)
    return product(as_matmul(node), {inputs[0], widened_weights(std::get<NarrowAttrs>(node.attrs), inputs)},
                   types);
  std::vector<HostTensor> operands = inputs;
  // With a wide result: products are exact in float32, and sums are rounded there.
  if (is_small_float(inputs[0].dtype()) && types[0].dtype == DType::f32)
    for (HostTensor& operand : operands) operand = converted(operand, DType::f32);
  if (products_ != ProductType::f32)
    for (HostTensor& operand : operands) operand = rounded_for_products(operand, products_, state_);
  operands[0] = moved(operands[0], state_);
  std::vector<HostTensor> results = evaluate_node(node, operands, types, Precision::native, stop_);
  const double terms = chain_length(node, inputs);
  if (roundings_ == Roundings::of_operators || terms == 0) return results;
  for (HostTensor& operand : operands) operand = magnitudes(operand);
  disturb_sum(results[0], evaluate_node(node, operands, types, Precision::float64, stop_)[0],
              terms / kLongChain, state_);
  return results;
}

std::vector<HostTensor> RandomRounding::evaluate(const Node& node, const std::vector<HostTensor>& inputs,
                                                 const std::vector<TensorType>& types) {
  const Category category = info(node.op).category;
  if (is_choice(node.op) && !offsets_.empty()) return choose(node, inputs, types);
  if (!is_float(types[0].dtype)) return evaluate_node(node, inputs, types, Precision::native, stop_);
  if (category == Category::linear || has_products(node.op)) return product(node, inputs, types);
  if (category == Category::elementwise && types[0].dtype != DType::f64) {
    std::vector<HostTensor> operands = inputs;
    for (HostTensor& operand : operands)
      if (is_storage(operand.dtype())) operand = converted(operand, DType::f64);
    const bool may_vanish = roundings_ == Roundings::of_kernels && types[0].dtype != DType::f16;
    return {elementwise_at_random(node, operands, types[0], may_vanish, stop_, state_)};
  }
  std::vector<HostTensor> results = evaluate_node(node, inputs, types, Precision::native, stop_);
  if (is_sum(node.op)) {
    std::vector<HostTensor> operands;
    for (const HostTensor& input : inputs) operands.push_back(magnitudes(input));
    const double terms = static_cast<double>(inputs[0].elements()) /
                         static_cast<double>(std::max<int64_t>(1, results[0].elements()));
    disturb_sum(results[0], evaluate_node(node, operands, types, Precision::float64, stop_)[0],
                terms / kLongSum, state_);
  } else if (category == Category::elementwise || node.op == Op::ReduceProd) {
    results[0] = moved(results[0], state_);
  }
  return results;
}

}  // namespace korch
