// Operators that work element by element.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "korch/onnx/bounded.h"
#include "korch/onnx/narrow.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

Op op_named(const std::string& op_type) {
  const std::optional<Op> op = parse_op(op_type);
  KORCH_ASSERT(op.has_value(), "no operator " + op_type);
  return *op;
}

// Operators that the table knows under ONNX's name, without attributes.
Results unary(NodeImport& n) {
  return {n.emit(op_named(n.op_type()), {n.input(0)})};
}
// Until opset 6, the second operand is laid along the first one's axes from `axis` on (by default the last
// ones).
Operand legacy_broadcast(NodeImport& n, const Operand& a, const Operand& b) {
  if (n.opset() >= 7) return b;
  const int64_t axis = n.int_attr("axis", a->rank() - b->rank());
  if (!n.flag("broadcast", false)) return b;
  if (axis < 0 || axis > a->rank() - b->rank())
    n.invalid(fmt::format("axis {} does not align the operands", axis));
  Shape shape = b->shape();
  shape.resize(static_cast<size_t>(a->rank() - axis), 1);
  return n.reshape(b, shape);
}

Results binary(NodeImport& n) {
  const Operand& a = n.input(0);
  return {n.emit(op_named(n.op_type()), {a, legacy_broadcast(n, a, n.input(1))})};
}

Results where(NodeImport& n) {
  return {n.emit(Op::Where, {n.input(0), n.input(1), n.input(2)})};
}

// What it computes with where ONNX has it of a type for which there is no primitive: integers of float
// operators, and floats that are stored and cast alone.
Operand as_float(NodeImport& n, const Operand& x) {
  if (is_storage(x->dtype())) return n.cast(x, DType::f32);
  return is_float(x->dtype()) ? x : n.cast(x, DType::f64);
}

// Float operators with up to two float attributes, in the table's order alpha, beta.
struct Scalars {
  const char* op_type;
  const char* alpha;
  double default_alpha;
  const char* beta;
  double default_beta;
};
constexpr Scalars kScalars[] = {
    {"LeakyRelu", "alpha", 0.01f, nullptr, 0},
    {"Elu", "alpha", 1, nullptr, 0},
    {"Celu", "alpha", 1, nullptr, 0},
    {"Selu", "alpha", 1.67326319217681884765625, "gamma", 1.05070102214813232421875},
    {"HardSigmoid", "alpha", 0.2f, "beta", 0.5},
    {"ThresholdedRelu", "alpha", 1, nullptr, 0},
    {"Shrink", "lambd", 0.5, "bias", 0},
};

Results with_scalars(NodeImport& n) {
  for (const Scalars& row : kScalars) {
    if (n.op_type() != row.op_type) continue;
    ScalarAttrs attrs;
    attrs.alpha = n.float_attr(row.alpha, row.default_alpha);
    if (n.op_type() == "Celu" && attrs.alpha == 0)
      n.invalid("alpha is 0, and what is computed is divided by it");
    if (row.beta != nullptr) attrs.beta = n.float_attr(row.beta, row.default_beta);
    const Operand& x = n.input(0);
    return {n.cast(n.emit(op_named(n.op_type()), attrs, {as_float(n, x)}), x->dtype())};
  }
  KORCH_ASSERT(false, "no row for " + n.op_type());
  return {};
}

Results is_inf(NodeImport& n) {
  ScalarAttrs attrs;
  attrs.alpha = n.flag("detect_negative", true) ? 1 : 0;
  attrs.beta = n.flag("detect_positive", true) ? 1 : 0;
  return {n.emit(Op::IsInf, attrs, {as_float(n, n.input(0))})};
}

Results is_nan(NodeImport& n) {
  return {n.emit(Op::IsNaN, {as_float(n, n.input(0))})};
}

// `saturate` is about float8 only, `round_mode` about FLOAT8E8M0.
Operand cast_to(NodeImport& n, DType to) {
  const bool saturate = n.flag("saturate", true);
  const std::string rounding = n.word_attr("round_mode", {"up", "down", "nearest"});
  const Operand& x = n.input(0);
  if (to == DType::f8e8m0 && x->dtype() != to && (!saturate || rounding != "up"))
    n.unsupported("to FLOAT8E8M0 other than rounding up and saturating, its defaults");
  if (to == DType::f32)
    if (const Operand narrow = float32_of(n, x)) return narrow;
  const Operand result = saturate || !is_storage(to) || x->dtype() == to
                             ? n.cast(x, to)
                             : n.emit(Op::Cast, CastAttrs{to, false}, {x});
  if (to == DType::f32 && x->constant && size_bytes(x->dtype()) < 4)
    n.builder().note_floats(result, x->type.bytes());
  return result;
}

Results cast(NodeImport& n) {
  if (!n.has("to")) n.invalid("attribute to is missing");
  return {cast_to(n, n.dtype_attr("to", DType::f32))};
}

Results cast_like(NodeImport& n) {
  return {cast_to(n, n.input(1)->dtype())};
}

// The exponent may have another type than the base; the result has the base's.
Results pow(NodeImport& n) {
  const Operand& base = n.input(0);
  const Operand exponent = legacy_broadcast(n, base, n.input(1));
  if (is_integer(base->dtype()) && is_integer(exponent->dtype()) && base->dtype() != exponent->dtype()) {
    // In 64 bits: the exponent may not fit the base's type, and the low bits of a power depend on low bits
    // alone.
    const DType wide = exponent->dtype() == DType::u64 ? DType::u64 : DType::i64;
    return {n.cast(n.emit(Op::Pow, {n.cast(base, wide), n.cast(exponent, wide)}), base->dtype())};
  }
  if (base->dtype() == exponent->dtype() || !is_float(exponent->dtype()) || is_float(base->dtype()))
    return {n.emit(Op::Pow, {base, n.cast(exponent, base->dtype())})};
  const Operand real = n.emit(Op::Pow, {n.cast(base, DType::f64), n.cast(exponent, DType::f64)});
  return {n.cast(real, base->dtype())};
}

// The remainder has the sign of the divisor, with fmod of the dividend; a float one of 0 too, and one by
// infinity is the divisor itself where the signs differ.
Results mod(NodeImport& n) {
  const Term x(n, n.input(0)), y(n, n.input(1));
  const bool fmod = n.flag("fmod", false);
  if (!fmod && !is_float(x.dtype())) return {apply(Op::Mod, {x, y})};
  const Term rest = apply(Op::Fmod, {x, y});
  if (fmod) return {rest};
  if (n.opset() < 28) n.invalid("float operands need fmod = 1");
  const Term crosses = !(rest == 0) && !((rest < 0) == (y < 0));
  const Term shifted = select(crosses, rest + y, rest);
  return {select(rest == 0, select(y < 0, -abs(rest), abs(rest)), shifted)};
}

// The slope broadcasts to the data; until opset 6 it is one number, or one per channel.
Results prelu(NodeImport& n) {
  const Operand& x = n.input(0);
  Operand slope = n.input(1);
  if (n.opset() < 7 && slope->rank() == 1 && slope->shape()[0] != 1 && x->rank() > 2) {
    Shape per_channel(static_cast<size_t>(x->rank() - 1), 1);
    per_channel[0] = slope->shape()[0];
    slope = n.reshape(slope, per_channel);
  }
  if (broadcast(x->shape(), slope->shape()) != x->shape())
    n.invalid(fmt::format("the slope {} does not broadcast to the data {}", to_string(slope->type),
                          to_string(x->type)));
  return {n.emit(Op::PRelu, {x, slope})};
}

// One operand is itself, two are the elementwise operator, more the variadic one.
Results variadic(NodeImport& n, Op two, Op more) {
  const std::vector<Operand> operands = n.all_inputs();
  if (operands.size() == 1) return {operands[0]};
  return {n.emit(operands.size() == 2 ? two : more, operands)};
}
Results max(NodeImport& n) {
  return variadic(n, Op::Max, Op::VariadicMax);
}
Results min(NodeImport& n) {
  return variadic(n, Op::Min, Op::VariadicMin);
}
Results sum(NodeImport& n) {
  return variadic(n, Op::Add, Op::Sum);
}
Results mean(NodeImport& n) {
  return variadic(n, Op::Mean, Op::Mean);
}

double largest_finite(DType dtype) {
  if (dtype == DType::f64) return std::numeric_limits<double>::max();
  if (dtype == DType::f16) return 65504;
  if (dtype == DType::bf16) return bfloat16_to_float(0x7f7f);
  return std::numeric_limits<float>::max();
}

// max(x, low), then min(., high): the upper bound wins, and NaN passes through both. A missing bound is the
// type's extreme number, so infinities become finite.
Results clip(NodeImport& n) {
  Operand x = n.input(0);
  std::optional<Operand> low, high;
  if (n.opset() < 11) {
    if (n.has("min")) low = n.scalar(x->dtype(), n.float_attr("min", 0));
    if (n.has("max")) high = n.scalar(x->dtype(), n.float_attr("max", 0));
  } else {
    if (n.has_input(1)) low = n.reshape(n.input(1), {});
    if (n.has_input(2)) high = n.reshape(n.input(2), {});
  }
  if (is_float(x->dtype())) {
    const double most = largest_finite(x->dtype());
    if (!low) low = n.scalar(x->dtype(), -most);
    if (!high) high = n.scalar(x->dtype(), most);
  }
  if (low) x = n.emit(Op::Max, {x, *low});
  if (high) x = n.emit(Op::Min, {x, *high});
  return {x};
}

Results identity(NodeImport& n) {
  return {n.input(0)};
}

// Inference, or nothing to drop: the data unchanged, and a mask of ones.
Results dropout(NodeImport& n) {
  n.ignore("seed");
  std::optional<double> ratio;  // of what is dropped
  if (n.opset() < 7) n.ignore("is_test");
  if (n.opset() < 12) {
    n.ignore("ratio");
  } else {
    n.ignore_input(1);
    if (n.has_input(2) && n.scalar_input(2, "training_mode") != 0)
      ratio = n.has_input(1) ? n.scalar_input(1, "ratio") : 0.5;
  }
  if (ratio && (*ratio < 0 || *ratio >= 1)) n.invalid(fmt::format("ratio {}", *ratio));
  if (ratio && *ratio > 0) {
    const Term x(n, n.input(0)), numbers(n, n.bounded(uniform_numbers(n, x.shape()), extents_of(x)));
    const Term kept = *ratio <= numbers;
    return {select(kept, x / (1 - *ratio), 0), kept};
  }
  std::vector<Operand> outputs = {n.input(0)};
  if (n.output_used(1)) {
    const DType dtype = n.opset() < 10 ? n.input(0)->dtype() : DType::bool_;
    const Operand ones = n.emit(Op::Expand, ShapeAttrs{n.input(0)->shape()}, {n.scalar(dtype, 1)});
    outputs.push_back(n.bounded(ones, n.input(0)->extents));
  }
  return outputs;
}

Results gelu(NodeImport& n) {
  const std::string approximate = n.string_attr("approximate", "none");
  if (approximate == "tanh") return {gelu_by_tanh(n, n.input(0))};
  if (approximate != "none") n.invalid("approximate is neither \"none\" nor \"tanh\"");
  return {gelu_by_erf(n, n.input(0))};
}

// x sigmoid(alpha x).
Results swish(NodeImport& n) {
  const Term x(n, n.input(0));
  return {x * sigmoid(x * n.float_attr("alpha", 1))};
}

Results swiglu(NodeImport& n) {
  if (n.input(0)->shape() != n.input(1)->shape()) n.invalid("its operands differ in shape");
  return {Term(n, swish(n)[0]) * Term(n, n.input(1))};
}

}  // namespace

Operand gelu_by_erf(NodeImport& n, const Operand& x) {
  return n.emit(Op::Gelu, {x});
}

// 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), as x sigmoid(2 u): the same function, which
// does not cancel where tanh(u) is near -1.
Operand gelu_by_tanh(NodeImport& n, const Operand& x) {
  const double linear = 2 * std::sqrt(2 / M_PI), cubic = linear * 0.044715;
  const Operand square = n.emit(Op::Mul, {x, x});
  const Operand slope =
      n.emit(Op::Add, {n.emit(Op::Mul, {square, n.scalar(x->dtype(), cubic)}), n.scalar(x->dtype(), linear)});
  return n.emit(Op::Mul, {x, n.emit(Op::Sigmoid, {n.emit(Op::Mul, {x, slope})})});
}

Operand power(NodeImport& n, const Operand& x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return n.emit(Op::Mul, {x, x});
  if (exponent == 0.5) return n.emit(Op::Sqrt, {x});
  return n.emit(Op::Pow, {x, n.scalar(x->dtype(), exponent)});
}

std::vector<RuleRow> elementwise_rules() {
  return {
      {"Neg", unary, 1, 13},
      {"Abs", unary, 1, 13},
      {"Exp", unary, 1, 13},
      {"Log", unary, 1, 13},
      {"Sqrt", unary, 1, 13},
      {"Reciprocal", unary, 1, 13},
      {"Tanh", unary, 1, 13},
      {"Sigmoid", unary, 1, 13},
      {"Erf", unary, 9, 13},
      {"Relu", unary, 1, 14},
      {"Softplus", unary, 1, 22},
      {"Softsign", unary, 1, 22},
      {"Sin", unary, 7, 22},
      {"Cos", unary, 7, 22},
      {"Tan", unary, 7, 22},
      {"Asin", unary, 7, 22},
      {"Acos", unary, 7, 22},
      {"Atan", unary, 7, 22},
      {"Sinh", unary, 9, 22},
      {"Cosh", unary, 9, 22},
      {"Asinh", unary, 9, 22},
      {"Acosh", unary, 9, 22},
      {"Atanh", unary, 9, 22},
      {"Floor", unary, 1, 13},
      {"Ceil", unary, 1, 13},
      {"Round", unary, 11, 22},
      {"Sign", unary, 9, 13},
      {"Not", unary, 1, 1},
      {"IsNaN", is_nan, 9, 20},
      {"HardSwish", unary, 14, 22},
      {"Mish", unary, 18, 22},
      {"IsInf", is_inf, 10, 20},
      {"LeakyRelu", with_scalars, 1, 16},
      {"Elu", with_scalars, 1, 22},
      {"Celu", with_scalars, 12, 28},
      {"Selu", with_scalars, 1, 22},
      {"HardSigmoid", with_scalars, 1, 22},
      {"ThresholdedRelu", with_scalars, 10, 22},
      {"Shrink", with_scalars, 9, 9},
      {"Cast", cast, 1, 28},
      {"CastLike", cast_like, 15, 25},
      {"Add", binary, 1, 14},
      {"Sub", binary, 1, 14},
      {"Mul", binary, 1, 14},
      {"Div", binary, 1, 14},
      {"Pow", pow, 1, 15},
      {"Mod", mod, 10, 28},
      {"PRelu", prelu, 1, 16},
      {"And", binary, 1, 7},
      {"Or", binary, 1, 7},
      {"Xor", binary, 1, 7},
      {"Equal", binary, 1, 19},
      {"Less", binary, 1, 13},
      {"LessOrEqual", binary, 12, 16},
      {"Greater", binary, 1, 13},
      {"GreaterOrEqual", binary, 12, 16},
      {"Where", where, 9, 16},
      {"Max", max, 1, 13},
      {"Min", min, 1, 13},
      {"Sum", sum, 1, 13},
      {"Mean", mean, 1, 13},
      {"Clip", clip, 1, 13},
      {"Identity", identity, 1, 25},
      {"Dropout", dropout, 1, 22},
      {"Gelu", gelu, 20, 20},
      {"Swish", swish, 24, 24},
      {"SwiGLU", swiglu, 28, 28},
  };
}

}  // namespace korch::onnx
