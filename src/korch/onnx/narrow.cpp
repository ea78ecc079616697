#include "korch/onnx/narrow.h"

#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/ir/narrow.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

// What NarrowMatMul reads.
struct NarrowOperands {
  NarrowAttrs attrs;
  HostTensor numbers, scales;
  std::optional<HostTensor> zeros;
};

template <typename T>
HostTensor transposed_bytes(const HostTensor& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  HostTensor result(TensorType{matrix.dtype(), {columns, rows}});
  const T* from = matrix.data<T>();
  T* to = result.mutable_data<T>();
  constexpr int64_t kSquare = 64;  // whose lines stay in cache
  for (int64_t r0 = 0; r0 < rows; r0 += kSquare)
    for (int64_t c0 = 0; c0 < columns; c0 += kSquare)
      for (int64_t r = r0; r < std::min(rows, r0 + kSquare); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + kSquare); ++c)
          to[c * rows + r] = from[r * columns + c];
  return result;
}

HostTensor transposed(const HostTensor& matrix) {
  if (size_bytes(matrix.dtype()) == 4) return transposed_bytes<float>(matrix);
  return size_bytes(matrix.dtype()) == 2 ? transposed_bytes<uint16_t>(matrix)
                                         : transposed_bytes<uint8_t>(matrix);
}

// One that is the same for all columns, once for each.
template <typename T>
HostTensor for_all_columns(const HostTensor& one, int64_t columns) {
  HostTensor result(TensorType{one.dtype(), {1, columns}});
  std::fill_n(result.mutable_data<T>(), columns, *one.data<T>());
  return result;
}

// Per block of terms and column, as [blocks, N].
HostTensor by_blocks(const HostTensor& parameter, int64_t columns, bool transpose) {
  if (parameter.elements() == 1) {
    if (parameter.dtype() == DType::f32) return for_all_columns<float>(parameter, columns);
    return parameter.dtype() == DType::i8 ? for_all_columns<int8_t>(parameter, columns)
                                          : for_all_columns<uint8_t>(parameter, columns);
  }
  if (parameter.shape().size() == 2) return transpose ? transposed(parameter) : parameter;
  return parameter.reshaped({1, columns});
}

Shape shape_of(const NarrowMatrix& m) {
  Shape shape = m.numbers.shape();
  if (m.is_transposed) std::swap(shape[0], shape[1]);
  return shape;
}

// Whether the transpose of `numbers` has its terms along the first axis, of blocks that share a scale, or of
// columns with scales of their own.
bool turns_to_columns(const NarrowMatrix& m) {
  return m.axis == (m.block == 0 ? 0 : 1) && !(m.block == 0 && m.scales.elements() == 1);
}

std::optional<NarrowOperands> operands_of(const NarrowMatrix& m, bool transpose) {
  const bool turned = m.is_transposed != transpose;
  const int64_t terms = m.numbers.shape()[turned ? 1 : 0], columns = m.numbers.shape()[turned ? 0 : 1];
  const int64_t terms_axis = turned ? 1 : 0;
  if (terms == 0 || columns == 0) return std::nullopt;
  const bool single = m.block == 0 && m.scales.elements() == 1;
  if (!single && (m.axis == terms_axis) != (m.block != 0)) return std::nullopt;
  NarrowOperands result;
  result.attrs.block = m.block == 0 ? terms : std::min(m.block, terms);
  result.attrs.bits = m.bits;
  result.numbers = turned ? transposed(m.numbers) : m.numbers;
  result.scales = by_blocks(m.scales, columns, turned);
  if (m.zeros) result.zeros = by_blocks(*m.zeros, columns, turned);
  return result;
}

// Two numbers of 4 bits in a byte, each plus `zero`, the first one in the lower half.
HostTensor in_halves(const HostTensor& numbers, int zero) {
  const Shape& shape = numbers.shape();
  HostTensor result(TensorType{DType::u8, {shape[0], shape[1] / 2}});
  const auto* from = static_cast<const uint8_t*>(numbers.raw());
  auto* to = result.mutable_data<uint8_t>();
  const auto half = [&](int64_t i) { return (from[i] + zero) & 15; };
  for (int64_t i = 0; i < result.elements(); ++i)
    to[i] = static_cast<uint8_t>(half(2 * i) | half(2 * i + 1) << 4);
  return result;
}

// The differences, if `bits` hold all of them as signed numbers.
template <typename T>
std::optional<HostTensor> differences(const NarrowOperands& o, int bits) {
  const int64_t terms = o.numbers.shape()[0], columns = o.numbers.shape()[1];
  const int least = bits == 4 ? -8 : -128, most = -least - 1;
  HostTensor result(TensorType{DType::i8, o.numbers.shape()});
  const T* number = o.numbers.data<T>();
  int8_t* to = result.mutable_data<int8_t>();
  for (int64_t k = 0; k < terms; ++k) {
    const T* zeros = o.zeros->data<T>() + k / o.attrs.block * columns;
    for (int64_t column = 0; column < columns; ++column) {
      const int difference = *number++ - zeros[column];
      if (difference < least || difference > most) return std::nullopt;
      *to++ = static_cast<int8_t>(difference);
    }
  }
  return result;
}

// Whole numbers that are the same without zero points.
void leave_out_zeros(NarrowMatrix& m) {
  const bool turned = turns_to_columns(m);
  const std::optional<NarrowOperands> parts = operands_of(m, turned != m.is_transposed);
  if (!parts) return;
  const std::optional<HostTensor> numbers = m.numbers.dtype() == DType::i8
                                                ? differences<int8_t>(*parts, m.bits)
                                                : differences<uint8_t>(*parts, m.bits);
  if (!numbers) return;
  m.zeros.reset();
  m.numbers = turned ? transposed(*numbers) : *numbers;
}

HostTensor floats_of(const NarrowMatrix& m) {
  const bool turned = turns_to_columns(m);
  const std::optional<NarrowOperands> parts = operands_of(m, turned != m.is_transposed);
  if (!parts) return HostTensor(TensorType{DType::f32, shape_of(m)});
  std::vector<HostTensor> inputs = {HostTensor(), parts->numbers, parts->scales};
  if (parts->zeros) inputs.push_back(*parts->zeros);
  const HostTensor floats = widened_weights(parts->attrs, inputs);
  return turned == m.is_transposed ? floats : transposed(floats);
}

}  // namespace

Operand narrow_floats(NodeImport& n, const Operand& numbers, const HostTensor& scales, int64_t axis,
                      int64_t block) {
  const DType type = numbers->dtype();
  const bool is_real = is_small_float(type) || small_format(type).exponent_bits > 0;
  if (!numbers->constant || !is_real || numbers->rank() != 2 || element_count(numbers->shape()) == 0)
    return nullptr;
  NarrowMatrix matrix;
  const HostTensor& floats = *numbers->constant;
  matrix.numbers = is_small_float(type) ? floats : converted(floats, DType::f16);
  matrix.scales = scales;
  matrix.axis = axis;
  matrix.block = block;
  matrix.bits = 16;
  return narrow_operand(n, std::move(matrix));
}

Operand float32_of(NodeImport& n, const Operand& numbers) {
  if (!numbers->float32)
    numbers->float32 = narrow_floats(n, numbers, HostTensor::of<float>(DType::f32, {1}, {1}), 0, 0);
  return numbers->float32;
}

Operand narrow_operand(NodeImport& n, NarrowMatrix matrix) {
  if (matrix.zeros) leave_out_zeros(matrix);
  const auto narrow = std::make_shared<const NarrowMatrix>(std::move(matrix));
  const TensorType type{DType::f32, shape_of(*narrow)};
  const Operand result = n.known_by(type, [narrow, type, &builder = n.builder()] {
    require_fits_memory(type);
    builder.note_widened(narrow->numbers.elements() * narrow->bits / 8 + narrow->scales.bytes() +
                             (narrow->zeros ? narrow->zeros->elements() * narrow->bits / 8 : 0),
                         type.bytes());
    return floats_of(*narrow);
  });
  result->narrow = narrow;
  return result;
}

Operand whole_operand(NodeImport& n, const NarrowMatrix& matrix) {
  NarrowMatrix whole = matrix;
  whole.operands = {};
  HostTensor ones(TensorType{DType::f32, matrix.scales.shape()});
  std::fill_n(ones.mutable_data<float>(), ones.elements(), 1.0f);
  whole.scales = std::move(ones);
  return n.known_by({DType::f32, shape_of(whole)}, [whole] { return floats_of(whole); });
}

Operand transposed_narrow(NodeImport& n, const NarrowMatrix& matrix) {
  NarrowMatrix result = matrix;
  result.is_transposed = !matrix.is_transposed;
  std::swap(result.operands[0], result.operands[1]);
  return narrow_operand(n, std::move(result));
}

Operand narrow_product(NodeImport& n, const Operand& x, const Operand& weights, bool transpose) {
  if (const DType type = x->dtype(); is_small_float(type) && weights->dtype() == type) {
    const Operand floats = float32_of(n, weights);
    const Operand product = floats ? narrow_product(n, n.cast(x, DType::f32), floats, transpose) : nullptr;
    return product ? n.cast(product, type) : nullptr;
  }
  if (!weights->narrow || x->dtype() != DType::f32 || x->rank() == 0) return nullptr;
  NarrowMatrix::Operands& known = weights->narrow->operands[transpose ? 1 : 0];
  if (known.constants.empty()) {
    const std::optional<NarrowOperands> narrow = operands_of(*weights->narrow, transpose);
    if (!narrow) return nullptr;
    known = {narrow->attrs, {n.constant(narrow->numbers), n.constant(narrow->scales)}};
    if (narrow->zeros) known.constants.push_back(n.constant(*narrow->zeros));
  }
  const bool row = x->rank() == 1;
  std::vector<Operand> operands = {row ? n.reshape(x, {1, x->shape()[0]}) : x};
  operands.insert(operands.end(), known.constants.begin(), known.constants.end());
  const Operand product = n.emit(Op::NarrowMatMul, known.attrs, operands);
  return row ? n.reshape(product, {product->shape()[1]}) : product;
}

Term unpacked_rows(const Term& x, bool two_in_a_byte) {
  const Term whole = cast(x, DType::i32);
  if (!two_in_a_byte) return whole;
  const Term low = apply(Op::Mod, {whole, number_like(whole, 16)}), high = (whole - low) / 16.0;
  const int64_t last = x.rank();
  Shape shape = x.shape();
  shape.back() *= 2;
  return reshape(concat({insert_axis(low, last), insert_axis(high, last)}, last), shape);
}

Term spread_blocks(const Term& x, int64_t block, int64_t width) {
  const int64_t last = x.rank() - 1;
  Shape repeated = x.shape(), whole = x.shape();
  repeated.push_back(block);
  whole.back() *= block;
  return slice(reshape(expand(insert_axis(x, last + 1), repeated), whole), last, 0, width);
}

Operand narrow_rows(NodeImport& n, const NarrowMatrix& m, const Term& indices) {
  const int64_t width = m.numbers.shape()[1];
  if (m.is_transposed || (m.block != 0 && m.axis != 1)) return nullptr;
  const auto rows = [&](const HostTensor& table) {
    return apply(Op::Gather, {{n, n.constant(table)}, indices}, AxisAttrs{0});
  };
  const auto shared = [&](const HostTensor& parameter) {
    if (m.block != 0) return spread_blocks(rows(parameter), m.block, width);
    if (parameter.elements() == 1) return Term(n, n.constant(parameter.reshaped({})));
    if (m.axis == 1) return Term(n, n.constant(parameter));
    const Term one = rows(parameter);
    return insert_axis(one, one.rank());
  };
  if (is_small_float(m.numbers.dtype())) return cast(rows(m.numbers), DType::f32) * shared(m.scales);
  const bool two_in_a_byte = m.bits == 4 && width % 2 == 0;
  const int zero = m.numbers.dtype() == DType::i8 ? 8 : 0;  // of the halves of bytes
  Term numbers = two_in_a_byte ? unpacked_rows(rows(in_halves(m.numbers, zero)), true)
                               : cast(rows(m.numbers), DType::i32);
  if (two_in_a_byte && zero != 0) numbers = numbers - static_cast<double>(zero);
  if (m.zeros) numbers = numbers - cast(shared(*m.zeros), DType::i32);
  return cast(numbers, DType::f32) * shared(m.scales);
}

}  // namespace korch::onnx
