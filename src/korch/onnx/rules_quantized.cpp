// Quantized numbers: x stands for (x - zero_point) * scale. Products are of whole numbers, exact in int32;
// what is made of them is rounded once, half to even, and saturates.
#include <fmt/format.h>

#include <cmath>

#include "korch/base/ceil_div.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/narrow.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

struct NumberRange {
  double low, high;
};

NumberRange range_of(NodeImport& n, DType type) {
  if (type == DType::u8) return {0, 255};
  if (type == DType::i8) return {-128, 127};
  if (type == DType::u16) return {0, 65535};
  if (type == DType::i16) return {-32768, 32767};
  if (type == DType::i4) return {-8, 7};
  if (type == DType::u4) return {0, 15};
  if (type == DType::i2) return {-2, 1};
  if (type == DType::u2) return {0, 3};
  n.unsupported("quantized numbers of type " + std::string(name(type)));
}

// An input that may be left out, as `fitted` makes it.
template <typename F>
std::optional<Term> optional_input(NodeImport& n, size_t i, F&& fitted) {
  if (!n.has_input(i)) return std::nullopt;
  return fitted(Term(n, n.input(i)));
}

Term single(const Term& x) {
  if (element_count(x.shape()) != 1) x.node().invalid("more than one scale or zero point");
  return reshape(x, {});
}

// As float32. What is known of it at once is checked at once.
Term scale_input(NodeImport& n, size_t i) {
  const Operand& scale = n.input(i);
  if (!is_float(scale->dtype())) n.invalid("scales are floats");
  if (scale->constant)
    for (int64_t at = 0; at < scale->constant->elements(); ++at) {
      const double x = element_as_double(*scale->constant, at);
      if (std::isinf(x))  // as quantizers write it
        n.invalid(fmt::format(
            "scale {}, which makes NaN that no integer stands for; a mask of -infinity may have been "
            "quantized: export it with a large finite number, or leave it out of quantization",
            x));
      if (x == 0 || std::isnan(x)) n.invalid(fmt::format("scale {}", x));
    }
  return cast({n, scale}, DType::f32);
}

DType output_dtype(NodeImport& n, DType otherwise) {
  return n.has("output_dtype") && n.int_attr("output_dtype") != 0 ? n.dtype_attr("output_dtype", otherwise)
                                                                  : otherwise;
}

// A parameter as it is to be used with `of`: one number, one for each place of the axis, or, with a
// block_size, for each so many places of it.
Term spread(const Term& parameter, const Shape& of, int64_t axis, int64_t block) {
  NodeImport& n = parameter.node();
  if (element_count(parameter.shape()) == 1 && block == 0) return reshape(parameter, {});
  const auto rank = static_cast<int64_t>(of.size());
  axis = n.axis(axis, rank);
  if (block == 0) {
    if (parameter.shape() != Shape{of[axis]})
      n.invalid(fmt::format("scales or zero points {} do not fit axis {} of {}",
                            to_string(parameter.operand()->type), axis, to_string(of)));
    Shape shape(of.size(), 1);
    shape[axis] = of[axis];
    return reshape(parameter, shape);
  }
  n.bounded("block_size", {block}, 1, kMaxOffset);
  Shape blocks = of;
  blocks[axis] = (of[axis] + block - 1) / block;
  if (parameter.shape() != blocks)
    n.invalid(fmt::format("scales or zero points {} do not fit blocks of {} of {}",
                          to_string(parameter.operand()->type), block, to_string(of)));
  Shape repeated = blocks, whole = blocks;
  repeated.insert(repeated.begin() + axis + 1, block);
  whole[axis] *= block;
  return slice(reshape(expand(insert_axis(parameter, axis + 1), repeated), whole), axis, 0, of[axis]);
}

void require_same_type(const Term& numbers, const std::optional<Term>& zero_point) {
  if (zero_point && zero_point->dtype() != numbers.dtype())
    numbers.node().invalid(fmt::format("a zero point of type {} for numbers of type {}",
                                       name(zero_point->dtype()), name(numbers.dtype())));
}

// Differences of bytes are int16, whose products have the fastest sums; others are int32.
Term whole_numbers(const Term& x, const std::optional<Term>& zero_point) {
  range_of(x.node(), x.dtype());
  require_same_type(x, zero_point);
  const DType type = size_bytes(x.dtype()) == 1 ? DType::i16 : DType::i32;
  const Term wide = cast(x, type);
  return zero_point ? wide - cast(*zero_point, type) : wide;
}

// Two that are multiplied, as numbers of one type.
struct BothFactors {
  Term left, right;
};
BothFactors factors(const Term& left, const Term& right) {
  if (left.dtype() == right.dtype()) return {left, right};
  return {cast(left, DType::i32), cast(right, DType::i32)};
}

bool is_small_format(DType type) {
  return small_format(type).exponent_bits > 0;
}

// One known zero point, or none.
std::optional<double> known_zero_point(const std::optional<Term>& zero_point) {
  if (!zero_point) return 0;
  const auto& constant = zero_point->operand()->constant;
  if (!constant || constant->elements() != 1) return std::nullopt;
  return element_as_double(*constant, 0);
}

// Floats as numbers of the type, which saturate. Who only wants them back as floats need not make integers of
// them.
Term rounded(const Term& x, const std::optional<Term>& zero_point, DType type) {
  const NumberRange range = range_of(x.node(), type);
  const Term whole = apply(Op::Round, {x});
  if (const std::optional<double> zero = known_zero_point(zero_point)) {
    const Term centred = clamp(whole, range.low - *zero, range.high - *zero);
    const Term result = cast(*zero == 0 ? centred : centred + *zero, type);
    if (result.operand()->constant) return result;
    result.operand()->unquantized = centred;
    result.operand()->zero_point = *zero;
    return result;
  }
  return cast(clamp(whole + cast(*zero_point, x.dtype()), range.low, range.high), type);
}

// x / scale as float32 rounds it. A kernel may multiply by the inverse of what does not change while x does,
// which may be another whole number afterwards; quotients in float64 are exact enough to be rounded twice.
Term quotient(const Term& x, const Term& scale) {
  if (scale.operand()->constant && element_count(scale.shape()) == 1) return x / scale;
  return cast(cast(x, DType::f64) / cast(scale, DType::f64), DType::f32);
}

// Of data, with a block_size.
void require_known_blocks(NodeImport& n, int64_t axis, int64_t block) {
  if (block != 0) n.require_known(n.input(0), n.axis(axis, n.input(0)->rank()), "an axis in blocks");
}

Results quantize_linear(NodeImport& n) {
  const bool saturate = n.flag("saturate", true);  // to float8
  const int64_t axis = n.int_attr("axis", 1), block = n.int_attr("block_size", 0);
  if (const DType precision = n.dtype_attr("precision", DType::f32); precision != DType::f32)
    n.unsupported("precision other than float32");
  require_known_blocks(n, axis, block);
  const Shape& shape = n.input(0)->shape();
  const std::optional<Term> zero_point =
      optional_input(n, 2, [&](const Term& x) { return spread(x, shape, axis, block); });
  const DType type = output_dtype(n, zero_point ? zero_point->dtype() : DType::u8);
  if (zero_point && type != zero_point->dtype()) n.invalid("output_dtype is not the zero point's type");
  const Term scale = spread(scale_input(n, 1), shape, axis, block);
  if (is_small_format(type)) {  // rounded to the type itself
    Term x = quotient(cast({n, n.input(0)}, DType::f32), scale);
    if (zero_point) x = x + cast(*zero_point, DType::f32);
    return {n.emit(Op::Cast, CastAttrs{type, saturate}, {x})};
  }
  return {rounded(quotient(cast({n, n.input(0)}, DType::f32), scale), zero_point, type)};
}

Results times_factor(const Term& whole, const Term& factor, DType to) {
  const Term result = whole * factor;
  if (to != DType::f32) return {cast(result, to)};
  result.operand()->whole = whole;
  result.operand()->factor = factor;
  return {result};
}

// Constant matrices with constant scales and zero points stay narrow (narrow.h); null: others. What does not
// fit is left to the formula, whose parts say what is wrong.
Operand narrow_weights(NodeImport& n, const Term& x, int64_t axis, int64_t block) {
  const Operand &numbers = x.operand(), &scale = n.input(1);
  const bool has_zeros = n.has_input(2), is_byte = x.dtype() == DType::i8 || x.dtype() == DType::u8,
             is_real = is_small_format(x.dtype()),
             is_less = is_storage(x.dtype()) && !is_real && x.dtype() != DType::f8e8m0;
  if (!numbers->constant || !scale->constant || (has_zeros && !n.input(2)->constant) ||
      scale->dtype() != DType::f32 || x.rank() != 2 || !(is_byte || is_less || (is_real && !has_zeros)) ||
      block < 0)
    return nullptr;
  axis = n.axis(axis, 2);
  Shape blocks = x.shape();
  if (block > 0) blocks[axis] = ceil_div(blocks[axis], block);
  const Shape wanted = block > 0 ? blocks : Shape{blocks[axis]};
  const bool single = block == 0 && scale->constant->elements() == 1;
  if (element_count(x.shape()) == 0 || (!single && scale->shape() != wanted)) return nullptr;
  if (is_real)
    return narrow_floats(n, numbers, single ? scale->constant->reshaped({1}) : *scale->constant, axis, block);
  NarrowMatrix matrix;
  matrix.numbers = numbers->constant->retyped(is_less ? carrier(x.dtype()) : x.dtype());
  matrix.scales = single ? scale->constant->reshaped({1}) : *scale->constant;
  if (has_zeros) {
    const HostTensor& zeros = *n.input(2)->constant;
    if (zeros.dtype() != x.dtype() || zeros.elements() != matrix.scales.elements()) return nullptr;
    matrix.zeros = zeros.retyped(matrix.numbers.dtype()).reshaped(matrix.scales.shape());
  }
  matrix.axis = axis;
  matrix.block = block;
  matrix.bits = is_less ? 4 : 8;
  return narrow_operand(n, std::move(matrix));
}

Results dequantize_linear(NodeImport& n) {
  const int64_t axis = n.int_attr("axis", 1), block = n.int_attr("block_size", 0);
  require_known_blocks(n, axis, block);
  const Term x(n, n.input(0));
  const DType to = output_dtype(n, n.input(1)->dtype());
  const bool is_real = is_small_format(x.dtype());
  if (x.dtype() != DType::i32 && !is_real) range_of(n, x.dtype());
  const DType wide = is_real ? DType::f32 : DType::i32;
  const Operand narrow = to == DType::f32 ? narrow_weights(n, x, axis, block) : nullptr;
  if (narrow && (block != 0 || is_real)) {
    scale_input(n, 1);
    return {narrow};
  }
  const Term factor = spread(scale_input(n, 1), x.shape(), axis, block);
  const auto zero_point = optional_input(n, 2, [](const Term& zero) { return zero; });
  require_same_type(x, zero_point);
  if (const Operand centred = x.operand()->unquantized) {
    if (known_zero_point(zero_point) == x.operand()->zero_point)
      return times_factor({n, centred}, factor, to);
  }
  if (narrow) {
    narrow->whole = whole_operand(n, *narrow->narrow);
    narrow->factor = factor;
    return {narrow};
  }
  Term difference = cast(x, wide);
  if (zero_point) difference = difference - spread(cast(*zero_point, wide), x.shape(), axis, block);
  const Results result = times_factor(cast(difference, DType::f32), factor, to);
  if (x.operand()->constant) n.builder().note_floats(result[0], x.operand()->type.bytes());
  return result;
}

// The range of x with 0 in it, on 0 ... 255.
struct Dynamic {
  Term scale, zero_point, numbers;
};
Dynamic dynamically(const Term& x) {
  NodeImport& n = x.node();
  if (x.dtype() != DType::f32) n.invalid("needs float32");
  std::vector<int64_t> all;
  for (int64_t i = 0; i < x.rank(); ++i) all.push_back(i);
  const Term zero(n, DType::f32, 0);
  const Term low = min(reduce(Op::ReduceMin, x, all, false), zero);
  const Term high = max(reduce(Op::ReduceMax, x, all, false), zero);
  const Term step = (high - low) / 255.0;
  const Term scale = select(step == 0.0, number_like(step, 1), step);
  const Term zero_point = cast(apply(Op::Round, {clamp(quotient(-low, scale), 0, 255)}), DType::u8);
  return {scale, zero_point, rounded(quotient(x, scale), zero_point, DType::u8)};
}

Results dynamic_quantize_linear(NodeImport& n) {
  const Dynamic result = dynamically({n, n.input(0)});
  return {result.numbers, result.scale, result.zero_point};
}

// Of matrices [..., M, K] and [..., K, N]: of the whole, or one for each row of the left, column of the
// right.
Term for_rows(const Term& parameter) {
  return parameter.rank() == 1 && parameter.extent(0) > 1 ? reshape(parameter, {parameter.extent(0), 1})
         : parameter.rank() <= 1                          ? reshape(parameter, {})
                                                          : parameter;
}
Term for_columns(const Term& parameter) {
  return parameter.rank() == 1 && parameter.extent(0) == 1 ? reshape(parameter, {}) : parameter;
}
// Of inputs: the numbers and their zero points.
Term integer_product(NodeImport& n, size_t a, size_t b, size_t a_zero, size_t b_zero) {
  const Term left = whole_numbers({n, n.input(a)}, optional_input(n, a_zero, for_rows));
  const Term right = whole_numbers({n, n.input(b)}, optional_input(n, b_zero, for_columns));
  const BothFactors both = factors(left, right);
  return {n, matrix_product(n, both.left, both.right)};
}

Results matmul_integer(NodeImport& n) {
  return {integer_product(n, 0, 1, 2, 3)};
}

// The product of a scale for each row and one for each column, in float32.
Term product_scale(NodeImport& n, size_t a, size_t b) {
  return for_rows(scale_input(n, a)) * for_columns(scale_input(n, b));
}

Results qlinear_matmul(NodeImport& n) {
  const Term product = cast(integer_product(n, 0, 3, 2, 5), DType::f32);
  const Term scale = product_scale(n, 1, 4) / for_rows(scale_input(n, 6));
  const Term zero_point(n, n.input(7));
  return {rounded(product * scale, for_rows(zero_point), zero_point.dtype())};
}

// For each output channel of a convolution of this rank.
Term for_channels(const Term& parameter, int64_t rank) {
  if (element_count(parameter.shape()) == 1) return reshape(parameter, {});
  if (parameter.rank() != 1) parameter.node().invalid("scales or zero points of more than one axis");
  Shape shape(static_cast<size_t>(rank), 1);
  shape[0] = parameter.extent(0);
  return reshape(parameter, shape);
}

// Padding is the zero point, which stands for 0.
Term integer_convolution(NodeImport& n, size_t x, size_t w, size_t x_zero, size_t w_zero) {
  const std::optional<Term> data_zero = optional_input(n, x_zero, single);
  const std::optional<Term> weight_zero =
      optional_input(n, w_zero, [&](const Term& zero) { return for_channels(zero, n.input(w)->rank()); });
  const Term data = whole_numbers({n, n.input(x)}, data_zero);
  const Term weights = whole_numbers({n, n.input(w)}, weight_zero);
  const BothFactors both = factors(data, weights);
  return {n, convolution(n, {both.left, both.right})};
}

Results conv_integer(NodeImport& n) {
  return {integer_convolution(n, 0, 1, 2, 3)};
}

Results qlinear_conv(NodeImport& n) {
  Term sum = integer_convolution(n, 0, 3, 2, 5);
  const int64_t spatial = sum.rank() - 1;  // with the channels
  if (n.has_input(8)) sum = sum + for_channels({n, n.input(8)}, spatial);
  const Term scale =
      single(scale_input(n, 1)) * for_channels(scale_input(n, 4), spatial) / single(scale_input(n, 6));
  const Term zero_point(n, n.input(7));
  return {rounded(cast(sum, DType::f32) * scale, single(zero_point), zero_point.dtype())};
}

// Of ONNX Runtime.

// The floats that inputs i, i + 1, i + 2 stand for.
Term real(NodeImport& n, size_t i) {
  return quantized_input(n, i, i + 1, i + 2);
}
// With the scale of input i and the zero point of i + 1, of the type of `like` where there is none.
Operand quantized(NodeImport& n, const Term& x, size_t i, const Operand& like) {
  return quantized_result(n, x, i, i + 1, like);
}

Results qlinear_add(NodeImport& n) {
  return {quantized(n, real(n, 0) + real(n, 3), 6, n.input(0))};
}
Results qlinear_mul(NodeImport& n) {
  return {quantized(n, real(n, 0) * real(n, 3), 6, n.input(0))};
}
Results qlinear_sigmoid(NodeImport& n) {
  return {quantized(n, sigmoid(real(n, 0)), 3, n.input(0))};
}
Results qlinear_leaky_relu(NodeImport& n) {
  const double alpha = n.float_attr("alpha", 0.01f);
  const Term x = real(n, 0);
  return {quantized(n, select(x < 0.0, x * alpha, x), 3, n.input(0))};
}
Results qlinear_softmax(NodeImport& n) {
  const int64_t opset = n.int_attr("opset"), rank = n.input(0)->rank();
  const int64_t axis = n.axis(n.int_attr("axis", opset < 13 ? 1 : -1), rank);
  if (opset < 13 && axis != rank - 1) n.unsupported("several axes at once, as before opset 13");
  return {quantized(n, softmax(real(n, 0), axis), 3, n.input(0))};
}
Results qlinear_global_average_pool(NodeImport& n) {
  const bool last = n.flag("channels_last", false);
  const Term x = real(n, 0);
  if (x.rank() < 3) n.invalid("the data need rank 3 or more");
  std::vector<int64_t> axes;
  for (int64_t i = last ? 1 : 2; i < (last ? x.rank() - 1 : x.rank()); ++i) axes.push_back(i);
  return {quantized(n, reduce(Op::ReduceMean, x, axes), 3, n.input(0))};
}
Results qlinear_concat(NodeImport& n) {
  if (n.input_count() < 5 || n.input_count() % 3 != 2)
    n.invalid("its inputs are not scale, zero point and triples");
  std::vector<Term> parts;
  for (size_t i = 2; i < n.input_count(); i += 3) parts.push_back(real(n, i));
  return {quantized(n, concat(parts, n.axis(n.int_attr("axis"), parts[0].rank())), 0, n.input(2))};
}

// alpha * A B + C, the bias in the scale of the product; floats where no output scale is given.
Results qgemm(NodeImport& n) {
  const double alpha = n.float_attr("alpha", 1);
  const auto side = [&](size_t i, const char* flag) {
    const Term x = whole_numbers({n, n.input(i)}, std::nullopt);
    if (x.rank() != 2) n.invalid("operands need rank 2");
    const Term turned = n.flag(flag, false) ? transpose(x, {1, 0}) : x;
    if (!n.has_input(i + 2)) return turned;
    return turned - cast(for_columns({n, n.input(i + 2)}), turned.dtype());
  };
  const BothFactors both = factors(side(0, "transA"), side(3, "transB"));
  Term sum(n, matrix_product(n, both.left, both.right));
  if (n.has_input(6)) sum = sum + Term(n, n.input(6));
  const Term result = cast(sum, DType::f32) * (product_scale(n, 1, 4) * alpha);
  if (!n.has_input(7)) return {result};
  return {quantized(n, result, 7, n.input(0))};
}

Results matmul_integer_to_float(NodeImport& n) {
  Term result = quantized_product(n, {0, 2, 4}, {1, 3, 5});
  if (n.has_input(6)) result = result + Term(n, n.input(6));
  return {result};
}

Results dynamic_quantize_matmul(NodeImport& n) {
  const Dynamic data = dynamically({n, n.input(0)});
  const Term right = whole_numbers({n, n.input(1)}, optional_input(n, 3, for_columns));
  const BothFactors both = factors(whole_numbers(data.numbers, data.zero_point), right);
  const Term product(n, matrix_product(n, both.left, both.right));
  Term result = cast(product, DType::f32) * (data.scale * for_columns(scale_input(n, 2)));
  if (n.has_input(4)) result = result + Term(n, n.input(4));
  return {result};
}

// Number i of those packed from the lowest bits of each byte on.
int64_t unpacked(const uint8_t* bytes, int64_t i, int64_t bits) {
  const int64_t at = i * bits;
  const int64_t two = bytes[at / 8] | (at % 8 + bits > 8 ? bytes[at / 8 + 1] << 8 : 0);
  return (two >> (at % 8)) & ((1 << bits) - 1);
}

struct Blocks {
  int64_t bits, size, columns, rows;  // the weights are [rows, columns], a row's columns in blocks
  int64_t count() const { return (columns + size - 1) / size; }
  int64_t bytes() const { return (size * bits + 7) / 8; }
};

void require_fit(NodeImport& n, const Blocks& b) {
  const HostTensor &packed = n.constant_input(1, "weights"), &scales = n.constant_input(2, "scales");
  if (packed.dtype() != DType::u8 || packed.elements() != b.rows * b.count() * b.bytes() ||
      scales.elements() != b.rows * b.count())
    n.invalid(fmt::format("weights {} and scales {} do not fit K, N, bits and block_size",
                          to_string(packed.type()), to_string(scales.type())));
  if (!n.has_input(3)) return;
  const HostTensor& zeros = n.constant_input(3, "zero points");
  const int64_t zero_bytes = (b.count() * b.bits + 7) / 8;
  if (zeros.elements() != b.rows * (zeros.dtype() == DType::u8 ? zero_bytes : b.count()))
    n.invalid(fmt::format("zero points {} do not fit K, N, bits and block_size", to_string(zeros.type())));
}

// The weights [columns, rows] as floats; `zero_points` are packed like weights, or floats.
Operand unpacked_weights(NodeImport& n, const Blocks& b) {
  const HostTensor &packed = n.constant_input(1, "weights"), &scales = n.constant_input(2, "scales");
  const int64_t zero_bytes = (b.count() * b.bits + 7) / 8;
  const HostTensor* zeros = n.has_input(3) ? &n.constant_input(3, "zero points") : nullptr;
  const bool packed_zeros = zeros != nullptr && zeros->dtype() == DType::u8;
  const TensorType type{DType::f32, {b.columns, b.rows}};
  require_fits_memory(type);
  HostTensor weights(type);
  auto* to = weights.mutable_data<float>();
  for (int64_t row = 0; row < b.rows; ++row)
    for (int64_t block = 0; block < b.count(); ++block) {
      const int64_t at = row * b.count() + block;
      const double zero =
          zeros == nullptr ? std::ldexp(1.0, static_cast<int>(b.bits) - 1)
          : packed_zeros
              ? static_cast<double>(unpacked(zeros->data<uint8_t>() + row * zero_bytes, block, b.bits))
              : element_as_double(*zeros, at);
      const double scale = element_as_double(scales, at);
      const uint8_t* bytes = packed.data<uint8_t>() + at * b.bytes();
      for (int64_t i = 0; i < std::min(b.size, b.columns - block * b.size); ++i)
        to[(block * b.size + i) * b.rows + row] =
            static_cast<float>((static_cast<double>(unpacked(bytes, i, b.bits)) - zero) * scale);
    }
  return n.constant(std::move(weights));
}

// The same as they are packed, or null: with zero points that are no whole numbers of a byte.
Operand packed_weights(NodeImport& n, const Blocks& b) {
  const HostTensor &packed = n.constant_input(1, "weights"), &scales = n.constant_input(2, "scales");
  const HostTensor* zeros = n.has_input(3) ? &n.constant_input(3, "zero points") : nullptr;
  const int64_t zero_bytes = (b.count() * b.bits + 7) / 8;
  NarrowMatrix m;
  m.numbers = HostTensor(TensorType{DType::u8, {b.rows, b.columns}});
  m.scales = converted(scales, DType::f32).reshaped({b.rows, b.count()});
  m.zeros = HostTensor(TensorType{DType::u8, {b.rows, b.count()}});
  m.axis = 1;
  m.block = b.size;
  m.bits = b.bits <= 4 ? 4 : 8;
  m.is_transposed = true;
  for (int64_t row = 0; row < b.rows; ++row)
    for (int64_t block = 0; block < b.count(); ++block) {
      const int64_t at = row * b.count() + block;
      double zero = std::ldexp(1.0, static_cast<int>(b.bits) - 1);
      if (zeros != nullptr && zeros->dtype() == DType::u8)
        zero = static_cast<double>(unpacked(zeros->data<uint8_t>() + row * zero_bytes, block, b.bits));
      else if (zeros != nullptr)
        zero = element_as_double(*zeros, at);
      if (std::nearbyint(zero) != zero || zero < 0 || zero > 255) return nullptr;
      m.zeros->mutable_data<uint8_t>()[at] = static_cast<uint8_t>(zero);
      const uint8_t* bytes = packed.data<uint8_t>() + at * b.bytes();
      uint8_t* to = m.numbers.mutable_data<uint8_t>() + row * b.columns + block * b.size;
      for (int64_t i = 0; i < std::min(b.size, b.columns - block * b.size); ++i)
        to[i] = static_cast<uint8_t>(unpacked(bytes, i, b.bits));
    }
  return narrow_operand(n, std::move(m));
}

Results matmul_nbits(NodeImport& n) {
  n.ignore("accuracy_level");
  Blocks blocks{n.int_attr("bits", 4), n.int_attr("block_size"), n.int_attr("K"), n.int_attr("N")};
  n.bounded("bits", {blocks.bits}, 1, 8);
  n.bounded("block_size", {blocks.size}, 1, kMaxStep);
  n.bounded("extent", {blocks.columns, blocks.rows}, 1, kMaxStep);
  if (n.has_input(4)) n.unsupported("g_idx");
  const Term x(n, n.input(0));
  require_fit(n, blocks);
  const Operand packed = packed_weights(n, blocks);
  const Operand narrow = packed ? narrow_product(n, widened(x), packed) : nullptr;
  Term result(n, narrow ? narrow : matrix_product(n, widened(x), unpacked_weights(n, blocks)));
  if (n.has_input(5)) result = result + widened({n, n.input(5)});
  return {cast(result, x.dtype())};
}

}  // namespace

Term quantized_input(NodeImport& n, size_t numbers, size_t scale, size_t zero_point) {
  const Term whole = whole_numbers({n, n.input(numbers)}, optional_input(n, zero_point, single));
  return cast(whole, DType::f32) * single(scale_input(n, scale));
}

Operand quantized_result(NodeImport& n, const Term& x, size_t scale, size_t zero_point, const Operand& like) {
  const std::optional<Term> zero = optional_input(n, zero_point, single);
  return rounded(quotient(x, single(scale_input(n, scale))), zero, zero ? zero->dtype() : like->dtype());
}

Term quantized_product(NodeImport& n, const QuantizedSide& left, const QuantizedSide& right) {
  const Term product = integer_product(n, left.numbers, right.numbers, left.zero_point, right.zero_point);
  return cast(product, DType::f32) * product_scale(n, left.scale, right.scale);
}

std::vector<RuleRow> quantized_rules() {
  return {
      {"QuantizeLinear", quantize_linear, 10, 28},
      {"DequantizeLinear", dequantize_linear, 10, 28},
      {"DynamicQuantizeLinear", dynamic_quantize_linear, 11, 11},
      {"MatMulInteger", matmul_integer, 10, 10},
      {"QLinearMatMul", qlinear_matmul, 10, 21},
      {"ConvInteger", conv_integer, 10, 10},
      {"QLinearConv", qlinear_conv, 10, 10},
  };
}

std::vector<RuleRow> runtime_quantized_rules() {
  return {
      {"QuantizeLinear", quantize_linear},
      {"DequantizeLinear", dequantize_linear},
      {"QLinearAdd", qlinear_add},
      {"QLinearMul", qlinear_mul},
      {"QLinearSigmoid", qlinear_sigmoid},
      {"QLinearLeakyRelu", qlinear_leaky_relu},
      {"QLinearSoftmax", qlinear_softmax},
      {"QLinearGlobalAveragePool", qlinear_global_average_pool},
      {"QLinearConcat", qlinear_concat},
      {"QGemm", qgemm},
      {"MatMulIntegerToFloat", matmul_integer_to_float},
      {"DynamicQuantizeMatMul", dynamic_quantize_matmul},
      {"MatMulNBits", matmul_nbits},
  };
}

}  // namespace korch::onnx
