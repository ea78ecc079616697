// Operators on the bits of integers.

#include <cmath>
#include <cstring>

#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// 2^0, 2^1, ... up to `last`, at the counts.
Term power_of_two(const Term& counts, int64_t last) {
  NodeImport& n = counts.node();
  std::vector<double> powers;
  for (int64_t i = 0; i <= last; ++i) powers.push_back(std::ldexp(1.0, static_cast<int>(i)));
  const Term table = constant(n, counts.dtype(), {last + 1}, powers);
  return apply(Op::Gather, {table, cast(counts, DType::i64)}, AxisAttrs{0});
}

// A product with a power of two, which wraps, or the quotient rounded down. Shifts by all bits or more, or by
// less than none, leave the sign alone to the right and nothing to the left.
Results bit_shift(NodeImport& n) {
  const Term x(n, n.input(0)), y(n, n.input(1));
  if (!is_integer(x.dtype()) || x.dtype() != y.dtype()) n.invalid("needs integers of one type");
  const std::string direction = n.string_attr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") n.invalid("direction " + quoted_name(direction));
  const bool left = direction == "LEFT", has_sign = is_signed(x.dtype());
  // The largest power that is a positive number of the type.
  const int64_t last = static_cast<int64_t>(8 * size_bytes(x.dtype())) - (has_sign ? 2 : 1);
  const Term near = 0.0 <= y && y <= number_like(y, static_cast<double>(last));
  const Term factor = power_of_two(select(near, y, 0), last);
  if (left) {
    Term beyond = x * 0.0;
    if (has_sign) {  // by all bits but one
      const Term top = x * std::ldexp(1.0, static_cast<int>(last)) * 2.0;
      beyond = select(y == static_cast<double>(last + 1), top, beyond);
    }
    return {select(near, x * factor, beyond)};
  }
  const Term rounded = has_sign ? x - apply(Op::Mod, {x, factor}) : x;
  const Term beyond = has_sign ? select(x < 0, number_like(x, -1), 0) : x * 0.0;
  return {select(near, rounded / factor, beyond)};
}

DType unsigned_of(DType type) {
  switch (size_bytes(type)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

// The bits that both have, byte after byte from a table of all pairs of bytes.
Term common_bits(const Term& x, const Term& y) {
  constexpr int64_t kBytes = 256;
  NodeImport& n = x.node();
  HostTensor table(TensorType{DType::u8, {kBytes * kBytes}});
  for (int64_t a = 0; a < kBytes; ++a)
    for (int64_t b = 0; b < kBytes; ++b)
      table.mutable_data<uint8_t>()[a * kBytes + b] = static_cast<uint8_t>(a & b);
  const Term pairs(n, n.constant(std::move(table)));
  const auto byte = [](const Term& of, double unit) {
    const Term above = unit == 1 ? of : of / unit;
    return cast(size_bytes(of.dtype()) == 1 ? above : apply(Op::Mod, {above, number_like(above, kBytes)}),
                DType::i64);
  };
  std::optional<Term> sum;
  double unit = 1;
  for (size_t i = 0; i < size_bytes(x.dtype()); ++i, unit *= kBytes) {
    const Term place = byte(x, unit) * static_cast<double>(kBytes) + byte(y, unit);
    const Term common = cast(apply(Op::Gather, {pairs, place}, AxisAttrs{0}), x.dtype());
    sum = sum ? *sum + common * unit : common;
  }
  return *sum;
}

// Or is x + y - common, exclusive or leaves those out of both; integers wrap.
Results bitwise(NodeImport& n) {
  const DType type = n.input(0)->dtype();
  if (!is_integer(type) || n.input(1)->dtype() != type) n.invalid("needs integers of one type");
  const Term x = cast({n, n.input(0)}, unsigned_of(type)), y = cast({n, n.input(1)}, unsigned_of(type));
  const Term common = common_bits(x, y);
  if (n.op_type() == "BitwiseAnd") return {cast(common, type)};
  const Term either = x + y - common;
  return {cast(n.op_type() == "BitwiseOr" ? either : either - common, type)};
}

Results bitwise_not(NodeImport& n) {
  const Term x(n, n.input(0));
  if (!is_integer(x.dtype())) n.invalid("needs integers");
  return {number_like(x, 0) - x - 1.0};
}

// The same bytes as another type of their size: of integers a conversion that wraps, of constants a copy.
Results bit_cast(NodeImport& n) {
  const Operand& x = n.input(0);
  if (!n.has("to")) n.invalid("attribute to is missing");
  const DType to = n.dtype_attr("to", DType::f32);
  if (size_bytes(x->dtype()) != size_bytes(to)) n.invalid("types of different size");
  if (x->dtype() == to) return {x};
  if (x->constant) {
    HostTensor bytes(TensorType{to, x->shape()});
    std::memcpy(bytes.mutable_data<std::byte>(), x->constant->raw(), x->constant->bytes());
    return {n.constant(std::move(bytes))};
  }
  const auto plain = [](DType type) { return is_integer(type) || type == DType::bool_; };
  if (!plain(x->dtype()) || !plain(to)) n.unsupported("between floats and integers");
  return {n.cast(x, to)};
}

}  // namespace

std::vector<RuleRow> bit_rules() {
  return {
      {"BitShift", bit_shift, 11, 28}, {"BitwiseAnd", bitwise, 18, 18},     {"BitwiseOr", bitwise, 18, 18},
      {"BitwiseXor", bitwise, 18, 18}, {"BitwiseNot", bitwise_not, 18, 18}, {"BitCast", bit_cast, 26, 26},
  };
}

}  // namespace korch::onnx
