#include "motifs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "operators.h"

namespace korch::fuzz {
namespace {

using Ints = std::vector<int64_t>;
const NoAttrs kNone;

ValueId activation(GraphMaker& m, ValueId x) {
  static const std::vector<Op> ops = {
      Op::Relu,      Op::Sigmoid, Op::Tanh, Op::Gelu, Op::HardSwish,   Op::Softplus, Op::Abs, Op::Mish,
      Op::LeakyRelu, Op::Elu,     Op::Neg,  Op::Erf,  Op::HardSigmoid, Op::Softsign, Op::Sin, Op::Selu};
  const Op op = m.random.of(ops);
  const bool scalar = info(op).attrs_index == Attrs(ScalarAttrs{}).index();
  return m.add(op, scalar ? Attrs(ScalarAttrs{0.2, 0.5}) : Attrs(kNone), {x}).value_or(x);
}

ValueId channels_of(GraphMaker& m, ValueId x, size_t axis) {  // a vector along one axis
  const Shape shape = m.shape_of(x);
  Shape vector(shape.size() - axis, 1);
  vector[0] = shape[axis];
  return m.constant({m.type(x).dtype, vector});
}

// What follows a linear operator: biases, residuals, factors, activations, rearrangements.
ValueId dressed(GraphMaker& m, ValueId x, int64_t most = 4) {
  for (int64_t count = m.random.between(0, most); count > 0; --count) {
    const Shape shape = m.shape_of(x);
    const auto rank = static_cast<int64_t>(shape.size());
    static const std::vector<Op> arithmetic = {Op::Add, Op::Add, Op::Mul, Op::Sub, Op::Max, Op::Min};
    const Op op = m.random.of(arithmetic);
    std::optional<ValueId> next;
    switch (m.random.below(8)) {
      case 0:
      case 1:
        next = activation(m, x);
        break;
      case 2:  // along features: the second axis of images, the last of rows
        if (rank > 0)
          next = m.add(
              op, kNone,
              {x, channels_of(m, x, static_cast<size_t>(rank >= 3 && m.random.one_in(2) ? 1 : rank - 1))});
        break;
      case 3:
      case 4:  // residual or factor of the same shape, on either side
        next = m.random.one_in(2) ? m.add(op, kNone, {x, m.operand(m.type(x))})
                                  : m.add(op, kNone, {m.operand(m.type(x)), x});
        break;
      case 5: {  // broadcast in some other way
        Shape other = shape;
        for (int64_t& extent : other)
          if (m.random.one_in(2)) extent = 1;
        next = m.add(op, kNone, {x, m.operand({m.type(x).dtype, other})});
        break;
      }
      case 6:
        next = grow(m, m.random.one_in(2) ? Op::Transpose : Op::Reshape);
        break;
      case 7:
        if (m.random.one_in(3) && rank > 0)
          next = m.add(Op::Softmax, AxisAttrs{rank - 1}, {x});
        else
          next = m.add(op, kNone, {x, m.constant({m.type(x).dtype, {}}, Contents::few)});
        break;
    }
    x = next.value_or(x);
  }
  return x;
}

// What stands before a linear operator.
ValueId prologue(GraphMaker& m, ValueId x) {
  if (m.random.one_in(2)) return x;
  if (m.random.one_in(2)) return activation(m, x);
  return dressed(m, x, 2);
}

int64_t few(GraphMaker& m) {
  return m.random.one_in(3) ? 1 : m.random.between(1, 3);
}
DType floats(GraphMaker& m) {
  return m.float_type;
}

ValueId image(GraphMaker& m, int64_t channels, int64_t most_extent) {
  const int64_t h = m.random.one_in(6) ? 1 : m.random.between(1, most_extent);
  const int64_t w = m.random.one_in(4) ? m.random.between(1, 3) : m.random.between(1, most_extent);
  const Shape shape = {few(m), channels, h, w};
  if (m.random.one_in(3))
    if (const auto x = m.pick({floats(m)}, 4, 4)) return *x;
  return prologue(m, m.input({floats(m), shape}));
}

int64_t channels(GraphMaker& m) {
  return m.extent(m.random.one_in(3) ? 65 : 33);
}

ValueId conv(GraphMaker& m, ValueId x, int64_t features, Ints kernel, ConvAttrs attrs) {
  Shape weights = {features, m.shape_of(x)[1] / attrs.group};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  std::vector<ValueId> inputs = {x, m.constant({m.type(x).dtype, weights})};
  if (m.random.one_in(3)) inputs.push_back(m.constant({m.type(x).dtype, {features}}));
  return m.must(Op::Conv, attrs, inputs);
}

ConvAttrs plain(int64_t stride, int64_t pad, int64_t group = 1) {
  return {{stride, stride}, {1, 1}, {pad, pad}, {pad, pad}, {0, 0}, group};
}

ValueId matmul(GraphMaker& m, ValueId x, int64_t columns) {
  return m.must(Op::MatMul, MatMulAttrs{},
                {x, m.constant({m.type(x).dtype, {m.shape_of(x).back(), columns}})});
}

ValueId transpose(GraphMaker& m, ValueId x, Ints perm) {
  return m.must(Op::Transpose, PermAttrs{perm}, {x});
}
ValueId reshape(GraphMaker& m, ValueId x, Shape shape) {
  return m.must(Op::Reshape, ShapeAttrs{shape}, {x});
}
ValueId sum_of(GraphMaker& m, ValueId x, Ints axes) {
  return m.must(Op::ReduceSum, ReduceAttrs{axes, true}, {x});
}
ValueId scalar(GraphMaker& m, ValueId x, double value) {
  const HostTensor one = HostTensor::of<double>(DType::f64, {}, {value});
  return m.constant(converted(one, m.type(x).dtype));
}
ValueId slice(GraphMaker& m, ValueId x, int64_t axis, int64_t start, int64_t size, int64_t step = 1) {
  SliceAttrs attrs{Shape(m.shape_of(x).size(), 0), m.shape_of(x), Shape(m.shape_of(x).size(), 1)};
  attrs.starts[axis] = start;
  attrs.sizes[axis] = size;
  attrs.steps[axis] = step;
  return m.must(Op::Slice, attrs, {x});
}

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
  const int64_t k = m.random.between(2, 5);
  const ValueId x = prologue(
      m, m.input({DType::f32,
                  {few(m), m.random.between(1, 33), m.random.between(6, 15), m.random.between(6, 15)}}));
  ValueId y = conv(m, x, m.random.between(1, 40), {k, m.random.one_in(3) ? m.random.between(2, 5) : k},
                   plain(1, m.random.below(k)));
  dressed(m, y);
}

void strassen(GraphMaker& m) {
  const int64_t in = m.random.of(Ints{128, 130, 144}), out = m.random.of(Ints{128, 132, 160});
  const ValueId x =
      prologue(m, m.input({DType::f32, {few(m), in, m.random.between(1, 5), m.random.between(1, 5)}}));
  dressed(m, conv(m, x, out, {1, 1}, plain(1, 0)));
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
// More keys than a kernel takes at once.
void long_attention(GraphMaker& m) {
  const int64_t t = m.random.between(20, 50), s = m.random.between(1500, 4500), d = m.random.between(1, 6),
                e = m.random.between(1, 6);
  m.enlarge(t * s);
  const ValueId q = m.input({DType::f32, {t, d}}), k = m.input({DType::f32, {s, d}}),
                v = m.input({DType::f32, {s, e}});
  std::vector<ValueId> inputs = {q, k, v};
  if (m.random.one_in(2))
    inputs.push_back(m.input({DType::f32, m.random.one_in(2) ? Shape{1, s} : Shape{t, s}}));
  m.must(Op::Attention, NoAttrs{}, inputs);
}

void small_attention(GraphMaker& m) {
  attention(m, 0);
}
void large_attention(GraphMaker& m) {
  attention(m, (1 << 18) + 1);
}

// More than the second cache is summed.
void large_normalization(GraphMaker& m) {
  const int64_t rows = m.random.between(1, 2);
  m.enlarge(1 << 20);
  const ValueId x = m.input({DType::f32, {rows, 263000 + m.random.below(40)}});
  const double n = static_cast<double>(m.shape_of(x)[1]);
  const ValueId mean = m.must(Op::Div, kNone, {sum_of(m, x, {1}), scalar(m, x, n)});
  const ValueId d = m.must(Op::Sub, kNone, {x, mean});
  const ValueId variance =
      m.must(Op::Div, kNone, {sum_of(m, m.must(Op::Mul, kNone, {d, d}), {1}), scalar(m, x, n)});
  const ValueId root = m.must(Op::Sqrt, kNone, {m.must(Op::Add, kNone, {variance, scalar(m, x, 1e-5)})});
  m.must(Op::Div, kNone, {d, root});
}

void normalization(GraphMaker& m) {
  static const std::vector<Op> ops = {Op::LayerNormalization,
                                      Op::LayerNormalization,
                                      Op::GroupNormalization,
                                      Op::InstanceNormalization,
                                      Op::BatchNormalization,
                                      Op::Softmax,
                                      Op::LogSoftmax,
                                      Op::LpNormalization,
                                      Op::MeanVarianceNormalization};
  const auto y = grow(m, m.random.of(ops));
  if (!y) throw GraphMaker::GaveUp{};
  const ValueId z = dressed(m, *y, 3);
  if (m.shape_of(z).size() >= 2 && m.random.one_in(2)) dressed(m, matmul(m, z, m.extent(33)), 3);
}

ValueId upsampled(GraphMaker& m, ValueId x) {
  const Shape s = m.shape_of(x);
  const int64_t a = m.random.between(1, 3), b = m.random.one_in(2) ? a : m.random.between(1, 3);
  const ValueId apart = reshape(m, x, {s[0], s[1], s[2], 1, s[3], 1});
  const ValueId repeated = m.must(Op::Expand, ShapeAttrs{{s[0], s[1], s[2], a, s[3], b}}, {apart});
  return reshape(m, repeated, {s[0], s[1], s[2] * a, s[3] * b});
}

void upsampling(GraphMaker& m) {
  const ValueId x = m.input(
      {DType::f32, {few(m), m.random.between(1, 20), m.random.between(1, 7), m.random.between(1, 7)}});
  ValueId up = upsampled(m, x);
  const Shape shape = m.shape_of(up);
  const int64_t k = m.random.of(Ints{1, 1, 3, 3, 5});
  if (k > 1 && m.random.one_in(3)) {
    PadAttrs pad{{0, 0, k / 2, k / 2},
                 {0, 0, k / 2, k / 2},
                 m.random.one_in(2) ? PadMode::edge : PadMode::constant,
                 0};
    dressed(m, conv(m, m.must(Op::Pad, pad, {up}), m.random.between(1, 20), {k, k}, plain(1, 0)), 2);
    return;
  }
  if (m.random.one_in(2)) {
    Shape other = shape;
    other[1] = m.random.between(1, 20);
    std::vector<ValueId> parts = {up, m.operand({DType::f32, other})};
    if (m.random.one_in(2)) std::swap(parts[0], parts[1]);
    up = m.must(Op::Concat, AxisAttrs{1}, parts);
  } else if (m.random.one_in(3)) {
    up = activation(m, up);
  }
  dressed(m, conv(m, up, m.random.between(1, 24), {k, k}, plain(1, k / 2)), 3);
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
  if (m.random.one_in(2)) m.must(Op::Concat, AxisAttrs{axis}, parts);
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

// Rearrangement, function, rearrangement back or another.
void layout_chain(GraphMaker& m) {
  ValueId x = m.pick_float(2, 5);
  const Shape start = m.shape_of(x);
  switch (m.random.below(5)) {
    case 0: {
      const Ints perm = random_permutation(m, start.size());
      Ints back(perm.size());
      for (size_t i = 0; i < perm.size(); ++i) back[perm[i]] = static_cast<int64_t>(i);
      dressed(m, transpose(m, activation(m, transpose(m, x, perm)), back), 2);
      return;
    }
    case 1: {
      const Shape to = random_factors(m, element_count(start), 3);
      dressed(m, reshape(m, activation(m, reshape(m, x, to)), start), 2);
      return;
    }
    case 2: {
      const int64_t axis = m.random.below(static_cast<int64_t>(start.size()));
      const ValueId both = activation(m, m.must(Op::Concat, AxisAttrs{axis}, {x, m.operand(m.type(x))}));
      const int64_t extent = m.shape_of(both)[axis];
      if (extent == 0) return;
      const int64_t first = m.random.below(extent);
      activation(m, slice(m, both, axis, first, m.random.between(1, extent - first)));
      return;
    }
    case 3: {
      const ValueId padded = activation(m, m.must(Op::Pad, random_pad(m, start), {x}));
      m.must(Op::Slice, random_slice(m, m.shape_of(padded)), {padded});
      return;
    }
    case 4:
      for (int64_t count = m.random.between(2, 5); count > 0; --count) {
        static const std::vector<Op> ops = {Op::Transpose, Op::Reshape, Op::Slice, Op::Pad, Op::Concat,
                                            Op::Gather,    Op::Expand,  Op::Relu,  Op::Add, Op::Tile};
        grow(m, m.random.of(ops));
      }
      return;
  }
}

void slices_concatenated(GraphMaker& m) {
  const ValueId x = m.input({floats(m), {few(m), m.random.between(2, 12), m.random.between(1, 9)}});
  const int64_t extent = m.shape_of(x)[1], cut = m.random.between(1, extent - 1);
  ValueId a = slice(m, x, 1, 0, cut), b = slice(m, x, 1, cut, extent - cut);
  const ValueId rope = m.must(Op::Concat, AxisAttrs{1}, {m.must(Op::Neg, kNone, {b}), a});
  dressed(m,
          m.random.one_in(2) ? m.must(Op::Concat, AxisAttrs{1}, {activation(m, a), activation(m, b)}) : rope,
          3);
}

void repetition(GraphMaker& m) {
  Shape from = m.shape(static_cast<int>(m.random.between(1, 4)), 200);
  for (int64_t& extent : from)
    if (m.random.one_in(2)) extent = 1;
  Shape to = from;
  for (int64_t& extent : to)
    if (extent == 1) extent = m.random.between(1, 7);
  ValueId x = m.must(Op::Expand, ShapeAttrs{to}, {m.input({floats(m), from})});
  for (int64_t count = m.random.between(1, 3); count > 0; --count) x = activation(m, x);
  if (m.random.one_in(2)) m.add(Op::Add, kNone, {x, m.operand(m.type(x))});
}

void pools(GraphMaker& m) {
  const ValueId x = image(m, m.random.between(1, 20), 14);
  const auto centred = [&](int64_t k) {
    return PoolAttrs{{k, k}, {1, 1}, {1, 1}, {k / 2, k / 2}, {k / 2, k / 2}, false};
  };
  const int64_t k = m.random.of(Ints{3, 5});
  const ValueId a = m.must(Op::WindowMax, centred(k), {x});
  if (m.random.one_in(2)) {  // of pools
    const ValueId b = m.must(Op::WindowMax, centred(k), {a});
    if (m.random.one_in(2)) m.must(Op::Concat, AxisAttrs{1}, {x, a, b});
  } else {
    const ValueId b = m.must(Op::WindowMax, centred(k + m.random.of(Ints{2, 4, 8})), {x});
    if (m.random.one_in(2)) m.must(Op::Concat, AxisAttrs{1}, {x, a, b});
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
  const int64_t k = m.random.of(Ints{6, 7, 7, 9}), in = m.random.of(Ints{1, 2, 16, 32}),
                out = m.random.of(Ints{1, 1, 3, 32});
  const ValueId x = m.input({DType::f32, {1, in, m.random.between(8, 14), m.random.between(8, 14)}});
  dressed(m, conv(m, x, out, {k, k}, plain(1, k / 2)), 3);
}

void strided(GraphMaker& m) {
  const int64_t k = m.random.of(Ints{3, 5, 6, 7}), s = 2;
  const ValueId x = m.input(
      {DType::f32, {1, m.random.of(Ints{1, 3, 8, 16}), m.random.between(48, 70), m.random.between(60, 70)}});
  dressed(m, conv(m, x, m.random.of(Ints{1, 4, 8, 17}), {k, k}, plain(s, k / 2)), 2);
}

void one_operator(GraphMaker& m) {
  static const std::vector<Op> ops = [] {
    std::vector<Op> all;
#define X(name, ...) all.push_back(Op::name);
    KORCH_OPS(X)
#undef X
    return all;
  }();
  for (int64_t count = m.random.between(1, 5); count > 0; --count)
    for (int tries = 0; tries < 5 && !grow(m, m.random.of(ops)); ++tries) {
    }
}

void elementwise(GraphMaker& m) {
  ValueId x = m.pick_float();
  x = dressed(m, x, 5);
  if (m.random.one_in(3)) m.add(Op::Tanh, kNone, {m.must(Op::Softplus, kNone, {x})});
}

void reductions(GraphMaker& m) {
  static const std::vector<Op> ops = {Op::ReduceSum,  Op::ReduceMax,       Op::ReduceMin,
                                      Op::ReduceMean, Op::ReduceProd,      Op::ReduceL2,
                                      Op::Softmax,    Op::ReduceLogSumExp, Op::ArgMax};
  const ValueId x = m.pick_float(1);
  const auto y = grow(m, m.random.of(ops));
  if (y && m.type(*y).dtype == m.type(x).dtype) m.add(Op::Sub, kNone, {x, *y});
}

}  // namespace

const std::vector<Motif>& motifs() {
  static const std::vector<Motif> table = {
      {"one_operator", 30, one_operator},
      {"rows_times_matrix", 12, rows_times_matrix},
      {"pointwise", 8, pointwise},
      {"convolution", 9, convolution},
      {"winograd", 5, winograd},
      {"strassen", 3, strassen},
      {"depthwise", 7, depthwise},
      {"small_attention", 5, small_attention},
      {"large_attention", 2, large_attention},
      {"long_attention", 2, long_attention},
      {"large_normalization", 2, large_normalization},
      {"normalization", 7, normalization},
      {"upsampling", 6, upsampling},
      {"merges", 6, merges},
      {"scaling", 7, scaling},
      {"factor_after", 3, factor_after},
      {"matmul_chain", 3, matmul_chain},
      {"sum_beside_matmul", 3, sum_beside_matmul},
      {"rows_as_images", 5, rows_as_images},
      {"layout_chain", 10, layout_chain},
      {"slices_concatenated", 3, slices_concatenated},
      {"repetition", 3, repetition},
      {"pools", 4, pools},
      {"patches", 3, patches},
      {"focus", 3, focus},
      {"transposed", 4, transposed},
      {"large_kernel", 3, large_kernel},
      {"strided", 3, strided},
      {"elementwise", 6, elementwise},
      {"reductions", 5, reductions},
  };
  return table;
}

Graph random_graph(uint64_t seed) {
  GraphMaker maker(seed);
  static const std::vector<DType> types = {DType::f32, DType::f32,  DType::f32, DType::f32,
                                           DType::f32, DType::f32,  DType::f32, DType::f32,
                                           DType::f16, DType::bf16, DType::f64};
  maker.float_type = maker.random.of(types);
  int total = 0;
  for (const Motif& motif : motifs()) total += motif.weight;
  const int64_t wanted = maker.random.between(1, 9);
  for (int tries = 0; tries < 12 && !maker.is_enlarged() && (tries == 0 || maker.computing_nodes() < wanted);
       ++tries) {
    int64_t at = maker.random.below(total);
    for (const Motif& motif : motifs()) {
      at -= motif.weight;
      if (at >= 0) continue;
      try {
        motif.add(maker);
      } catch (const GraphMaker::GaveUp&) {
        // What it has added so far stays.
      }
      break;
    }
  }
  return maker.finish();
}

}  // namespace korch::fuzz
