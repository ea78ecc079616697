// Motifs around linear operators.
#include <algorithm>

#include "motif_parts.h"
#include "operators.h"

namespace korch::fuzz::motif {

// Rows in any arrangement, sequence-first with one sequence included, times a matrix.
void rows_times_matrix(GraphMaker& m) {
  Shape batch = m.shape(static_cast<int>(m.random.between(1, 3)), 80);
  for (int64_t& extent : batch)
    if (m.random.one_in(3)) extent = 1;
  batch.push_back(m.extent(65));
  const ValueId x = m.random.one_in(3) ? m.pick_float(2, 4) : prologue(m, m.input({floats(m), batch}));
  ValueId y = matmul(m, x, m.extent(65));
  y = dressed(m, y);
  if (m.random.one_in(3) && m.shape_of(y).size() >= 2) dressed(m, matmul(m, y, m.extent(40)));
}

void pointwise(GraphMaker& m) {
  const ValueId x = image(m, channels(m), 12);
  dressed(m, conv(m, x, channels(m), {1, 1}, plain(m.random.one_in(4) ? 2 : 1, 0)));
}

void convolution(GraphMaker& m) {
  const ValueId x = image(m, channels(m), 14);
  const int64_t k = m.random.between(1, 5);
  const Shape all = m.shape_of(x), spatial(all.begin() + 2, all.end());
  const Ints kernel = {k, m.random.one_in(4) ? m.random.between(1, 5) : k};
  dressed(m, conv(m, x, channels(m), kernel, random_conv(m, spatial, kernel)));
}

// Enough channels and pixels for Winograd's kernels.
void winograd(GraphMaker& m) {
  const bool blocks = m.random.one_in(2);  // of channels, as the library takes them
  const int64_t k = blocks ? 3 : m.random.between(2, 5);
  const auto channels = [&](int64_t most) {
    return blocks ? m.random.of(Ints{16, 32, 48}) : m.random.between(1, most);
  };
  const ValueId x = prologue(
      m, m.input({DType::f32, {few(m), channels(33), m.random.between(6, 15), m.random.between(6, 15)}}));
  ValueId y = conv(m, x, channels(40), {k, !blocks && m.random.one_in(3) ? m.random.between(2, 5) : k},
                   plain(1, m.random.below(k)));
  dressed(m, y);
}

void strassen(GraphMaker& m) {
  const int64_t in = m.random.of(Ints{128, 130, 144}), out = m.random.of(Ints{128, 132, 160});
  const ValueId x =
      prologue(m, m.input({DType::f32, {few(m), in, m.random.between(1, 5), m.random.between(1, 5)}}));
  dressed(m, conv(m, x, out, {1, 1}, plain(1, 0)));
}

void grouped(GraphMaker& m) {
  const int64_t group = m.random.between(2, 5), k = m.random.of(Ints{1, 1, 3, 2});
  const int64_t in = group * m.random.between(2, 17), out = group * m.random.between(1, 20);
  const ValueId x =
      prologue(m, m.input({floats(m), {few(m), in, m.random.between(1, 9), m.random.between(1, 9)}}));
  const Shape shape = m.shape_of(x);
  if (shape.size() != 4 || shape[1] % group != 0) throw GraphMaker::GaveUp{};
  ConvAttrs attrs = random_conv(m, {shape[2], shape[3]}, {k, k});
  attrs.group = group;
  dressed(m, conv(m, x, out, {k, k}, attrs), 3);
}

namespace {

ValueId number(GraphMaker& m, double value) {
  HostTensor number(TensorType{DType::f64, {}});
  number.mutable_data<double>()[0] = value;
  return m.constant(converted(number, DType::f32));
}

// Of f32: floats rounded to 256 numbers or a few more; else bytes less their zero point.
ValueId quantized(GraphMaker& m, DType type, const Shape& shape) {
  if (type != DType::f32) {
    const DType bytes = m.random.one_in(2) ? DType::u8 : DType::i8;
    const ValueId x = m.must(Op::Cast, CastAttrs{type}, {m.input({bytes, shape})});
    return m.random.one_in(3) ? x : m.must(Op::Sub, NoAttrs{}, {x, m.constant({type, {}})});
  }
  const ValueId scaled = m.must(Op::Mul, NoAttrs{}, {m.input({type, shape}), number(m, 50)});
  const auto low = static_cast<double>(-m.random.between(0, 255));
  const ValueId above = m.must(Op::Max, NoAttrs{}, {m.must(Op::Round, NoAttrs{}, {scaled}), number(m, low)});
  return m.must(Op::Min, NoAttrs{}, {above, number(m, low + (m.random.one_in(8) ? 300 : 255))});
}

ValueId whole_weights(GraphMaker& m, DType type, const Shape& shape) {
  HostTensor numbers(TensorType{DType::i64, shape});
  const int64_t most = m.random.one_in(8) ? 130 : 127;
  for (int64_t i = 0; i < numbers.elements(); ++i)
    numbers.mutable_data<int64_t>()[i] = m.random.between(-128, most);
  return m.constant(converted(numbers, type));
}

}  // namespace

// Whole numbers times whole weights, in float32, int16 or int32, and the floats that the sums stand for.
void quantized_product(GraphMaker& m) {
  const DType type = m.random.of(std::vector<DType>{DType::f32, DType::f32, DType::i16, DType::i32});
  const bool is_conv = m.random.one_in(2);
  const int64_t k = m.random.of(Ints{1, 3, 2}), group = m.random.one_in(4) ? m.random.between(2, 4) : 1;
  const Shape shape = is_conv ? Shape{few(m), group * m.random.between(1, 20), m.random.between(k, 10),
                                      m.random.between(k, 10)}
                              : m.shape(static_cast<int>(m.random.between(2, 3)), 400);
  const ValueId x = quantized(m, type, shape);
  if (shape.back() == 0) throw GraphMaker::GaveUp{};
  ValueId y = kNoId;
  if (is_conv) {
    ConvAttrs attrs = random_conv(m, {shape[2], shape[3]}, {k, k});
    attrs.group = group;
    y = m.must(Op::Conv, attrs,
               {x, whole_weights(m, type, {group * m.random.between(1, 20), shape[1] / group, k, k})});
  } else {
    y = m.must(Op::MatMul, MatMulAttrs{}, {x, whole_weights(m, type, {shape.back(), m.extent(40)})});
  }
  if (type != DType::f32) y = m.must(Op::Cast, CastAttrs{DType::f32}, {y});
  y = m.must(Op::Mul, NoAttrs{}, {y, number(m, 1e-3)});
  dressed(m, y);
}

// Weights of 4, 8 or 16 bits with scales, and maybe zero points, by block.
ValueId narrow_product(GraphMaker& m) {
  const Shape shape = m.shape(static_cast<int>(m.random.between(2, 3)), 300);
  const int64_t terms = shape.back(), columns = m.extent(40);
  if (terms == 0 || columns == 0) throw GraphMaker::GaveUp{};
  NarrowAttrs attrs;
  const bool is_float = m.random.one_in(4);
  attrs.bits = is_float ? 16 : m.random.one_in(3) ? 8 : 4;
  attrs.block = m.random.of(Ints{1, 3, 8, 16, 32, 128, terms});
  const DType type = m.random.one_in(2) ? DType::i8 : DType::u8;
  const int64_t least = type == DType::i8 ? -(1 << (attrs.bits - 1)) : 0;
  const auto bytes = [&](const Shape& of) {
    HostTensor numbers(TensorType{DType::i64, of});
    for (int64_t i = 0; i < numbers.elements(); ++i)
      numbers.mutable_data<int64_t>()[i] = m.random.between(least, least + (1 << attrs.bits) - 1);
    return m.constant(converted(numbers, type));
  };
  const Shape blocks = {(terms + attrs.block - 1) / attrs.block, columns};
  const ValueId x = m.input({DType::f32, shape});
  const ValueId numbers = is_float
                              ? m.constant({m.random.one_in(2) ? DType::f16 : DType::bf16, {terms, columns}})
                              : bytes({terms, columns});
  std::vector<ValueId> operands = {m.random.one_in(3) ? prologue(m, x) : x, numbers,
                                   m.constant({DType::f32, blocks})};
  if (!is_float && m.random.one_in(2)) operands.push_back(bytes(blocks));
  if (m.shape_of(operands[0]).back() != terms) operands[0] = x;
  const ValueId y = m.must(Op::NarrowMatMul, attrs, operands);
  return dressed(m, m.must(Op::Mul, kNone, {y, number(m, 0.02)}));
}

void depthwise(GraphMaker& m) {
  const ValueId x = image(m, channels(m), 12);
  const int64_t c = m.shape_of(x)[1], k = m.random.of(Ints{3, 3, 5, 7, 2});
  if (c == 0) throw GraphMaker::GaveUp{};
  const int64_t each = m.random.one_in(5) ? 2 : 1;
  const Shape all = m.shape_of(x), spatial(all.begin() + 2, all.end());
  ConvAttrs attrs = random_conv(m, spatial, {k, k});
  attrs.group = c;
  ValueId y = m.must(Op::Conv, attrs, {x, m.constant({m.type(x).dtype, {c * each, 1, k, k}})});
  y = m.random.one_in(2) ? activation(m, y) : dressed(m, y, 2);
  if (m.shape_of(y).size() == 4 && !m.random.one_in(4))
    dressed(m, conv(m, y, channels(m), {1, 1}, plain(1, 0)));
}

namespace {

// softmax(q k^T c + mask) v, from rows split into heads or as it is.
void attention(GraphMaker& m, int64_t least_scores) {
  const int64_t b = few(m), h = m.random.of(Ints{1, 2, 3, 4}), d = m.random.of(Ints{1, 4, 8, 16, 17});
  int64_t t = m.random.between(1, 20), s = m.random.one_in(2) ? t : m.random.between(1, 40);
  if (least_scores > 0) {
    m.enlarge(4 * least_scores);
    t = m.random.between(130, 300);
    s = (least_scores + b * h * t - 1) / (b * h * t);
  }
  const auto heads = [&](int64_t rows) {
    if (m.random.one_in(3)) return m.operand({floats(m), {b, h, rows, d}});
    const bool first = m.random.one_in(3);  // sequence first
    const ValueId x = m.input({floats(m), first ? Shape{rows, b, h * d} : Shape{b, rows, h * d}});
    ValueId y = least_scores > 0 ? x : matmul(m, x, h * d);
    y = reshape(m, y, first ? Shape{rows, b, h, d} : Shape{b, rows, h, d});
    return transpose(m, y, first ? Ints{1, 2, 0, 3} : Ints{0, 2, 1, 3});
  };
  const ValueId q = heads(t), k = heads(s), v = heads(s);
  ValueId scores = m.random.one_in(2) ? m.must(Op::MatMul, MatMulAttrs{false, true}, {q, k})
                                      : m.must(Op::MatMul, MatMulAttrs{}, {q, transpose(m, k, {0, 1, 3, 2})});
  if (!m.random.one_in(3))
    scores = m.must(m.random.one_in(2) ? Op::Mul : Op::Div, kNone, {scores, scalar(m, scores, 0.3)});
  if (m.random.one_in(2)) {
    Shape mask = m.random.one_in(2) ? Shape{t, s} : Shape{b, 1, m.random.one_in(2) ? 1 : t, s};
    scores = m.must(Op::Add, kNone, {scores, m.operand({floats(m), mask})});
  }
  const ValueId weights = m.must(Op::Softmax, AxisAttrs{3}, {scores});
  ValueId y = m.must(Op::MatMul, MatMulAttrs{}, {weights, v});
  if (m.random.one_in(2)) y = reshape(m, transpose(m, y, {0, 2, 1, 3}), {b, t, h * d});
  if (least_scores == 0) dressed(m, y, 3);
}

}  // namespace

// Keys in several blocks.
void long_attention(GraphMaker& m) {
  const int64_t t = m.random.between(20, 50), s = m.random.between(1500, 4500), d = m.random.between(1, 6),
                e = m.random.between(1, 6);
  m.enlarge(t * s);
  const ValueId q = m.input({DType::f32, {t, d}}), k = m.input({DType::f32, {s, d}}),
                v = m.input({DType::f32, {s, e}});
  ValueId scores = m.must(Op::MatMul, MatMulAttrs{false, true}, {q, k});
  if (m.random.one_in(2)) {
    const ValueId mask = m.input({DType::f32, m.random.one_in(2) ? Shape{1, s} : Shape{t, s}});
    scores = m.must(Op::Add, kNone, {scores, mask});
  }
  m.must(Op::MatMul, MatMulAttrs{}, {m.must(Op::Softmax, AxisAttrs{1}, {scores}), v});
}

void small_attention(GraphMaker& m) {
  attention(m, 0);
}

void large_attention(GraphMaker& m) {
  attention(m, (1 << 18) + 1);
}

// Several linear operators of one Value; slices of what is wide, and their concatenation.
void merges(GraphMaker& m) {
  const bool images = m.random.one_in(2);
  const ValueId x = images ? image(m, channels(m), 6)
                           : prologue(m, m.input({floats(m), {m.random.between(1, 20), m.extent(40)}}));
  const auto linear = [&](int64_t features) {
    return images ? conv(m, x, features, {1, 1}, plain(1, 0)) : matmul(m, x, features);
  };
  const int64_t axis = images ? 1 : static_cast<int64_t>(m.shape_of(x).size()) - 1;
  if (m.random.one_in(2)) {
    for (int64_t count = m.random.between(2, 3); count > 0; --count) {
      const ValueId y = linear(m.random.between(1, 24));
      if (m.random.one_in(2)) activation(m, y);
    }
    return;
  }
  ValueId y = linear(48);
  if (m.random.one_in(2)) y = activation(m, y);
  std::vector<ValueId> parts;
  for (int64_t count = m.random.between(1, 3); count > 0; --count)
    parts.push_back(slice(m, y, axis, m.random.between(0, 16), m.random.between(16, 32)));
  if (!m.random.one_in(4)) m.must(Op::Concat, AxisAttrs{axis}, parts);
}

// Factors and vectors before and after linear operators, constants together.
void scaling(GraphMaker& m) {
  static const std::vector<Op> ops = {Op::Mul, Op::Mul, Op::Div, Op::Add, Op::Sub};
  const bool images = m.random.one_in(2);
  ValueId x =
      images ? m.input({floats(m), {few(m), m.extent(33), m.random.between(1, 8), m.random.between(1, 8)}})
             : m.input({floats(m), {m.random.between(1, 20), m.extent(40)}});
  const auto vectors = [&](ValueId y, int64_t most) {
    for (int64_t count = m.random.between(0, most); count > 0; --count) {
      const size_t axis = images ? 1 : m.shape_of(y).size() - 1;
      Shape shape(m.shape_of(y).size() - axis, 1);
      shape[0] = m.shape_of(y)[axis];
      const ValueId c = m.random.one_in(3) ? scalar(m, y, m.random.of(std::vector<double>{0.125, 3, -0.7}))
                                           : m.constant({m.type(y).dtype, shape}, Contents::positive);
      y = m.add(m.random.of(ops), kNone, {y, c}).value_or(y);
    }
    return y;
  };
  x = vectors(x, 2);
  ValueId y = images ? conv(m, x, channels(m), m.random.one_in(2) ? Ints{1, 1} : Ints{3, 3},
                            plain(1, m.random.one_in(2) ? 1 : 0))
                     : matmul(m, x, m.extent(40));
  y = vectors(y, 3);
  if (m.random.one_in(2)) activation(m, y);
}

void factor_after(GraphMaker& m) {
  const int64_t rows = m.random.between(1, 30), inner = m.random.between(17, 60),
                columns = m.random.between(1, inner / 2);
  const ValueId x = m.input({floats(m), {rows, inner}});
  const ValueId factor = m.operand({floats(m), {rows, 1}});
  const ValueId scaled =
      m.must(m.random.one_in(2) ? Op::Mul : Op::Div, kNone, {x, m.must(Op::Sigmoid, kNone, {factor})});
  dressed(m, matmul(m, scaled, columns), 2);
}

void matmul_chain(GraphMaker& m) {
  const int64_t inner = m.random.between(2, 20), wide = m.random.between(20, 60);
  ValueId y = matmul(m, m.input({floats(m), {m.random.between(1, 30), inner}}), wide);
  if (m.random.one_in(2)) y = m.must(Op::Add, kNone, {y, channels_of(m, y, 1)});
  dressed(m, matmul(m, y, m.random.between(1, 20)), 2);
}

void sum_beside_matmul(GraphMaker& m) {
  const int64_t inner = m.extent(33);
  const Shape batch = m.random.one_in(2) ? Shape{} : Shape{few(m)};
  Shape a = batch, b = batch;
  a.insert(a.end(), {m.random.between(1, 20), inner});
  b.insert(b.end(), {inner, m.random.of(Ints{1, 7, 17, 31, 33})});
  ValueId x = m.input({DType::f32, a});
  if (m.random.one_in(2)) x = activation(m, x);
  const ValueId total = sum_of(m, x, {static_cast<int64_t>(a.size()) - 1});
  const ValueId y = m.must(Op::MatMul, MatMulAttrs{}, {x, m.input({DType::f32, b})});
  if (m.random.one_in(2)) m.add(Op::Mul, kNone, {y, m.must(Op::Sigmoid, kNone, {total})});
}

// Rows as images, through a pointwise convolution.
void rows_as_images(GraphMaker& m) {
  const int64_t n = few(m), h = m.random.between(1, 6), w = m.random.between(1, 6), c = m.extent(33);
  ValueId x = m.input({floats(m), {n, h * w, c}});
  if (m.random.one_in(2)) x = matmul(m, x, c);
  x = m.random.one_in(2) ? reshape(m, transpose(m, x, {0, 2, 1}), {n, c, h, w})
                         : transpose(m, reshape(m, x, {n, h, w, c}), {0, 3, 1, 2});
  if (m.random.one_in(2)) x = activation(m, x);
  const ValueId y = conv(m, x, m.extent(40), {1, 1}, plain(1, 0));
  const int64_t features = m.shape_of(y)[1];
  if (m.random.one_in(2)) {
    dressed(m, transpose(m, reshape(m, y, {n, features, h * w}), {0, 2, 1}), 3);
  } else {
    dressed(m, transpose(m, y, {0, 2, 3, 1}), 3);
  }
}

void patches(GraphMaker& m) {
  const int64_t k = m.random.between(2, 4), h = m.random.between(1, 4), w = m.random.between(1, 4);
  const ValueId x = m.input({floats(m), {few(m), m.random.between(1, 8), h * k + m.random.below(2), w * k}});
  const ValueId y = conv(m, x, channels(m), {k, k}, plain(k, 0));
  const Shape s = m.shape_of(y);
  if (m.random.one_in(2)) dressed(m, transpose(m, reshape(m, y, {s[0], s[1], s[2] * s[3]}), {0, 2, 1}), 3);
}

void focus(GraphMaker& m) {
  const int64_t s = 2, h = m.random.between(1, 7), w = m.random.between(1, 7);
  const ValueId x = m.input({DType::f32, {few(m), m.random.between(1, 5), h * s, w * s}});
  std::vector<ValueId> parts;
  for (int64_t i = 0; i < s * s; ++i) parts.push_back(slice(m, slice(m, x, 2, i % s, h, s), 3, i / s, w, s));
  if (m.random.one_in(4)) std::swap(parts[0], parts[1]);
  const int64_t k = m.random.of(Ints{1, 3});
  dressed(m, conv(m, m.must(Op::Concat, AxisAttrs{1}, parts), channels(m), {k, k}, plain(1, k / 2)), 3);
}

void transposed(GraphMaker& m) {
  const ValueId x =
      m.input({floats(m), {few(m), m.extent(33), m.random.between(1, 7), m.random.between(1, 7)}});
  const int64_t stride = m.random.between(1, 3), k = m.random.between(1, 4), features = m.extent(24);
  const int64_t pad = m.random.below(k);
  ConvAttrs attrs{{stride, stride}, {1, 1}, {pad, pad}, {m.random.below(k), m.random.below(k)}, {0, 0}, 1};
  if (stride > 1 && m.random.one_in(3)) attrs.output_padding = {1, 1};
  std::vector<ValueId> inputs = {x, m.constant({m.type(x).dtype, {m.shape_of(x)[1], features, k, k}})};
  if (m.random.one_in(2)) inputs.push_back(m.constant({m.type(x).dtype, {features}}));
  dressed(m, m.must(Op::ConvTranspose, attrs, inputs), 3);
}

void large_kernel(GraphMaker& m) {
  const int64_t k = m.random.of(Ints{6, 7, 7, 9});
  int64_t in = m.random.of(Ints{1, 2, 3}), out = m.random.of(Ints{1, 16, 32});
  if (m.random.one_in(2)) std::swap(in, out);
  const ValueId x = m.input({DType::f32, {1, in, m.random.between(8, 14), m.random.between(8, 14)}});
  dressed(m, conv(m, x, out, {k, k}, plain(1, k / 2)), 3);
}

void strided(GraphMaker& m) {
  const int64_t k = m.random.of(Ints{3, 5, 6, 7}), s = 2;
  const ValueId x = m.input(
      {DType::f32, {1, m.random.of(Ints{1, 3, 8, 16}), m.random.between(56, 80), m.random.between(62, 80)}});
  dressed(m, conv(m, x, m.random.of(Ints{1, 4, 8, 17}), {k, k}, plain(s, m.random.one_in(2) ? k / 2 : 0)), 2);
}

// What a library fuses into its call, and what comes near it: a difference instead of a sum, a residual that
// is broadcast.
void library_chain(GraphMaker& m) {
  ValueId y;
  if (m.random.one_in(4)) {
    Shape rows = {m.random.between(1, 40), m.random.between(1, 40)};
    if (m.random.one_in(3)) rows.insert(rows.begin(), few(m));
    y = matmul(m, m.input({DType::f32, rows}), m.random.between(1, 40));
  } else {  // half of them less wide than their padding
    const int64_t k = m.random.of(Ints{1, 3, 5, 7, 9}), group = m.random.of(Ints{1, 1, 1, 2, 4});
    const int64_t width = m.random.one_in(2) ? m.random.between(1, k / 2 + 1) : m.random.between(k, k + 9);
    const Shape x = {few(m), group * m.random.between(1, 20), m.random.between(k, k + 5), width};
    y = conv(m, m.input({DType::f32, x}), group * m.random.between(1, 20), {k, k}, plain(1, k / 2, group));
  }
  const bool rows = m.shape_of(y).size() < 4;
  if (m.random.one_in(2))
    y = m.must(Op::Add, kNone, {y, channels_of(m, y, rows ? m.shape_of(y).size() - 1 : 1)});
  for (int64_t count = m.random.between(1, 3); count > 0; --count) {
    static const std::vector<Op> unary = {Op::Relu, Op::Sigmoid, Op::Tanh, Op::HardSwish};
    switch (m.random.below(4)) {
      case 0:
        y = m.must(m.random.of(unary), kNone, {y});
        break;
      case 1:
        y = m.must(Op::Min, kNone, {m.must(Op::Max, kNone, {y, scalar(m, y, -0.5)}), scalar(m, y, 0.75)});
        break;
      default: {
        Shape other = m.shape_of(y);
        if (m.random.one_in(4))
          other[static_cast<size_t>(m.random.below(static_cast<int64_t>(other.size())))] = 1;
        std::vector<ValueId> pair = {y, m.input({DType::f32, other})};
        if (m.random.one_in(2)) std::swap(pair[0], pair[1]);
        y = m.must(m.random.of(std::vector<Op>{Op::Add, Op::Add, Op::Sub}), kNone, pair);
      }
    }
  }
}

}  // namespace korch::fuzz::motif
