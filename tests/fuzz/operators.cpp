#include <algorithm>
#include <cmath>
#include <map>

#include "korch/ir/recurrence.h"
#include "korch/ir/winograd.h"
#include "motif_parts.h"
#include "operator_parts.h"

namespace korch::fuzz {
namespace {

const std::vector<DType>& numbers() {
  static const std::vector<DType> types = {DType::f32, DType::f32, DType::f32, DType::i64, DType::i32,
                                           DType::f16, DType::f64, DType::i8,  DType::u8,  DType::bf16};
  return types;
}

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypeCount; ++i) types.push_back(static_cast<DType>(i));
  return types;
}

}  // namespace

// Any Value, of whatever type and rank.
ValueId anything(GraphMaker& m, int least_rank, int most_rank) {
  if (!m.random.one_in(8))
    if (const auto value = m.pick(all_types(), least_rank, most_rank)) return *value;
  const int rank =
      static_cast<int>(m.random.between(least_rank, std::min(most_rank, std::max(least_rank, 4))));
  return m.input({m.random.one_in(3) ? m.random.of(numbers()) : m.float_type, m.shape(rank, 1500)});
}

namespace {

ValueId boolean(GraphMaker& m) {
  if (const auto value = m.pick({DType::bool_}); value && !m.random.one_in(6)) return *value;
  if (const ValueId x = m.pick_float(); m.random.one_in(2))
    if (const auto value = m.add(Op::Greater, NoAttrs{}, {x, m.constant({m.float_type, {}}, Contents::few)}))
      return *value;
  return m.input({DType::bool_, m.shape(static_cast<int>(m.random.below(4)), 500)});
}

}  // namespace

// A shape that broadcasts with this one: ones where there was more, fewer axes, or more.
Shape partner(GraphMaker& m, Shape shape) {
  if (m.random.one_in(3)) return shape;
  for (int64_t& extent : shape)
    if (m.random.one_in(2)) extent = extent == 1 && m.random.one_in(2) ? m.extent(9) : 1;
  while (!shape.empty() && shape[0] == 1 && m.random.one_in(2)) shape.erase(shape.begin());
  if (shape.size() < 4 && m.random.one_in(8)) shape.insert(shape.begin(), m.extent(4));
  return shape;
}

namespace {

Attrs scalars(GraphMaker& m, Op op) {
  static const std::vector<double> values = {0.1F, 0.2F, 0.5F, 1, 1.7F, 0.01F};  // as a file holds them
  if (op == Op::IsInf)
    return ScalarAttrs{static_cast<double>(m.random.below(2)), static_cast<double>(m.random.below(2))};
  return ScalarAttrs{m.random.of(values), m.random.of(values)};
}

}  // namespace

Grown unary(GraphMaker& m, Op op) {
  const auto attrs_index = info(op).attrs_index;
  if (op == Op::Cast) {
    static const std::vector<DType> to = {DType::f32,   DType::f32,  DType::i64, DType::i32,
                                          DType::bool_, DType::f16,  DType::i8,  DType::u8,
                                          DType::f64,   DType::bf16, DType::u32, DType::i16};
    return m.add(op, CastAttrs{m.random.of(to)}, {anything(m)});
  }
  if (op == Op::Not) return m.add(op, NoAttrs{}, {boolean(m)});
  ValueId x = m.random.one_in(8) ? anything(m) : m.pick_float();
  const Attrs attrs = Attrs(ScalarAttrs{}).index() == attrs_index ? scalars(m, op) : Attrs(NoAttrs{});
  if (const Grown result = m.add(op, attrs, {x})) return result;
  // Into the domain: of logarithms and roots, of inverse functions.
  const Grown sigmoid = m.add(Op::Sigmoid, NoAttrs{}, {m.pick_float()});
  if (!sigmoid) return std::nullopt;
  if (op != Op::Acosh) return m.add(op, attrs, {*sigmoid});
  const Grown more =
      m.add(Op::Add, NoAttrs{}, {*sigmoid, m.constant({m.type(*sigmoid).dtype, {}}, Contents::ones)});
  return more ? m.add(op, attrs, {*more}) : std::nullopt;
}

namespace {

bool broadcasts_to(const Shape& from, const Shape& to) {
  return from.size() <= to.size() && std::equal(from.rbegin(), from.rend(), to.rbegin(),
                                                [](int64_t a, int64_t b) { return a == b || a == 1; });
}

Grown binary(GraphMaker& m, Op op) {
  if (op == Op::And || op == Op::Or || op == Op::Xor) {
    const ValueId a = boolean(m);
    return m.add(op, NoAttrs{}, {a, m.operand({DType::bool_, partner(m, m.shape_of(a))})});
  }
  const ValueId a = m.random.one_in(5) ? anything(m) : m.pick_float();
  if (op == Op::Mod && is_float(m.type(a).dtype)) {  // of floats there is only the other remainder
    const ValueId b = m.input({m.random.one_in(2) ? DType::i64 : DType::i32, m.shape_of(a)});
    return m.add(op, NoAttrs{},
                 {b, m.constant({m.type(b).dtype, partner(m, m.shape_of(a))}, Contents::positive)});
  }
  // ONNX broadcasts a slope to the data, not the data to the slope.
  const auto other_shape = [&](const Shape& shape) {
    const Shape other = partner(m, shape);
    return op == Op::PRelu && !broadcasts_to(other, shape) ? shape : other;
  };
  const bool divides = op == Op::Div || op == Op::Mod || op == Op::Fmod || op == Op::Pow;
  const TensorType other{m.type(a).dtype, other_shape(m.shape_of(a))};
  const ValueId b = divides && !m.random.one_in(3) ? m.constant(other, Contents::positive) : m.operand(other);
  if (m.random.one_in(4) && op != Op::PRelu)
    if (const Grown swapped = m.add(op, NoAttrs{}, {b, a})) return swapped;
  if (const Grown result = m.add(op, NoAttrs{}, {a, b})) return result;
  if (op == Op::Mod) return std::nullopt;
  const Grown positive = m.add(Op::Sigmoid, NoAttrs{}, {m.pick_float()});
  if (!positive) return std::nullopt;
  return m.add(op, NoAttrs{},
               {*positive, m.constant({m.type(*positive).dtype, other_shape(m.shape_of(*positive))},
                                      Contents::positive)});
}

Grown where(GraphMaker& m) {
  const ValueId condition = boolean(m);
  const DType dtype = m.random.one_in(4) ? m.random.of(numbers()) : m.float_type;
  const ValueId a = m.operand({dtype, partner(m, m.shape_of(condition))});
  return m.add(Op::Where, NoAttrs{}, {condition, a, m.operand({dtype, partner(m, m.shape_of(condition))})});
}

std::vector<int64_t> some_axes(GraphMaker& m, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (m.random.one_in(2)) axes.push_back(axis);
  if (axes.empty() && rank > 0) axes.push_back(m.random.below(rank));
  return axes;
}

}  // namespace

Grown reduce(GraphMaker& m, Op op) {
  const bool is_any = op != Op::MeanVarianceNormalization && m.random.one_in(6);
  const ValueId x = is_any ? anything(m, 1) : m.pick_float(1);
  const auto rank = static_cast<int64_t>(m.shape_of(x).size());
  if (op == Op::ArgMax || op == Op::ArgMin)
    return m.add(op, ArgReduceAttrs{m.random.below(rank), !m.random.one_in(3), m.random.one_in(3)}, {x});
  return m.add(
      op, ReduceAttrs{some_axes(m, rank), op == Op::MeanVarianceNormalization || !m.random.one_in(3)}, {x});
}

Grown window(GraphMaker& m, Op op) {
  const int rank = m.random.one_in(4) ? static_cast<int>(m.random.between(3, 5)) : 4;
  const ValueId x = m.pick_float(rank, rank);
  const Shape shape = m.shape_of(x);
  const PoolAttrs pool = random_pool(m, Shape(shape.begin() + 2, shape.end()), op != Op::MaxPoolIndices);
  if (op != Op::WindowDot) return m.add(op, pool, {x});
  Shape weights = pool.kernel;
  weights.push_back(shape[1]);
  return m.add(op, pool, {x, m.constant({m.type(x).dtype, weights})});
}

namespace {

// The three primitives of Winograd and Strassen, by the definition in ir/winograd.h.
WinogradAttrs random_winograd(GraphMaker& m) {
  WinogradAttrs attrs;
  static const std::vector<std::pair<int64_t, int64_t>> sizes = {{4, 3}, {2, 3}, {2, 5},
                                                                 {3, 4}, {5, 2}, {3, 2}};
  std::tie(attrs.tile, attrs.taps) = m.random.of(sizes);
  return attrs;
}

Grown winograd(GraphMaker& m, Op op) {
  if (m.float_type == DType::f64) return std::nullopt;  // no rule makes them, so they have no kernel
  WinogradAttrs attrs = random_winograd(m);
  if (op == Op::WinogradInput) {
    const ValueId x = m.pick_float(4, 4);
    for (int i = 0; i < 2; ++i) {
      attrs.pads_before[i] = m.random.below(attrs.taps);
      attrs.pads_after[i] = m.random.below(attrs.taps);
    }
    return m.add(op, attrs, {x});
  }
  const Shape result = {m.random.between(1, 2), m.extent(20), m.random.between(1, 9), m.random.between(1, 9)};
  const int64_t tiles = WinogradTiles(attrs, result).count();
  if (op == Op::WinogradOutput) {
    attrs.shape = result;
    return m.add(op, attrs, {m.input({m.float_type, {tile_elements(attrs), tiles, result[1]}})});
  }
  const int64_t channels = m.extent(20);
  const ValueId x = m.input({m.float_type, {tile_elements(attrs), tiles, channels}});
  return m.add(op, attrs, {x, m.constant({m.float_type, {result[1], channels, attrs.taps, attrs.taps}})});
}

Grown layout(GraphMaker& m, Op op) {
  const ValueId x = m.random.one_in(6) ? anything(m) : m.pick_float();
  const Shape shape = m.shape_of(x);
  const auto rank = static_cast<int64_t>(shape.size());
  switch (op) {
    case Op::Transpose:
      return m.add(op, PermAttrs{random_permutation(m, shape.size())}, {x});
    case Op::Reshape: {
      // Splits or joins neighbours as views do, or anything.
      Shape to = shape;
      if (rank >= 2 && m.random.one_in(3)) {
        const int64_t axis = m.random.below(rank - 1);
        to[axis] *= to[axis + 1];
        to.erase(to.begin() + axis + 1);
      } else if (m.random.one_in(2)) {
        to.insert(to.begin() + m.random.below(rank + 1), 1);
      } else {
        to = random_factors(m, element_count(shape), static_cast<size_t>(m.random.between(1, 5)));
      }
      return m.add(op, ShapeAttrs{to}, {x});
    }
    case Op::Slice:
      return m.add(op, random_slice(m, shape), {x});
    case Op::Pad:
      return m.add(op, random_pad(m, shape), {x});
    case Op::Concat: {
      if (rank == 0) return std::nullopt;
      const int64_t axis = m.random.below(rank);
      std::vector<ValueId> inputs = {x};
      for (int64_t more = m.random.between(0, 3); more > 0; --more) {
        Shape other = shape;
        if (m.random.one_in(2)) other[axis] = m.extent(20);
        inputs.push_back(m.operand({m.type(x).dtype, other}));
      }
      std::swap(inputs[0], inputs[m.random.below(static_cast<int64_t>(inputs.size()))]);
      return m.add(op, AxisAttrs{axis}, inputs);
    }
    case Op::Expand: {
      Shape to = shape;
      for (int64_t& extent : to)
        if (extent == 1) extent = m.extent(12);
      if (m.random.one_in(3)) to.insert(to.begin(), m.extent(4));
      return m.add(op, ShapeAttrs{to}, {x});
    }
    case Op::Gather: {
      if (rank == 0) return std::nullopt;
      const int64_t axis = m.random.below(rank), extent = shape[axis];
      if (extent == 0) return std::nullopt;
      const DType dtype = m.random.one_in(3) ? DType::i32 : DType::i64;
      const Shape of = m.shape(static_cast<int>(m.random.below(3)), 20);
      if (m.random.one_in(3)) return m.add(op, AxisAttrs{axis}, {x, m.input({dtype, of})});
      HostTensor indices(TensorType{DType::i64, of});
      for (int64_t i = 0; i < indices.elements(); ++i)
        indices.mutable_data<int64_t>()[i] = m.random.between(-extent, extent - 1);
      return m.add(op, AxisAttrs{axis}, {x, m.constant(converted(indices, dtype))});
    }
    default:
      return std::nullopt;
  }
}

Grown matmul(GraphMaker& m) {
  const ValueId x = m.pick_float(2, 5);
  const Shape a = m.shape_of(x);
  const MatMulAttrs attrs{m.random.one_in(5), m.random.one_in(4)};
  const int64_t inner = a[a.size() - (attrs.transpose_a ? 2 : 1)];
  Shape b(a.begin(), a.end() - 2);
  for (int64_t& extent : b)
    if (m.random.one_in(3)) extent = extent == 1 ? m.extent(4) : 1;
  if (m.random.one_in(2)) b.clear();
  b.push_back(attrs.transpose_b ? m.extent(40) : inner);
  b.push_back(attrs.transpose_b ? inner : m.extent(40));
  const ValueId y = m.random.one_in(2) ? m.constant({m.type(x).dtype, b}) : m.operand({m.type(x).dtype, b});
  if (!m.random.one_in(4) || attrs.transpose_a != attrs.transpose_b) return m.add(Op::MatMul, attrs, {x, y});
  const MatMulAttrs swapped{true, true};  // y^T x^T
  return m.add(Op::MatMul, attrs.transpose_a ? MatMulAttrs{} : swapped, {y, x});
}

Grown conv(GraphMaker& m, Op op) {
  const int rank = m.random.one_in(4) ? static_cast<int>(m.random.between(3, 5)) : 4;
  const ValueId x = m.pick_float(rank, rank);
  const Shape shape = m.shape_of(x);
  const Shape spatial(shape.begin() + 2, shape.end());
  std::vector<int64_t> kernel;
  const int64_t square = m.random.of(std::vector<int64_t>{1, 1, 3, 3, 5, 7, 2});
  for (size_t i = 0; i < spatial.size(); ++i)
    kernel.push_back(m.random.one_in(5) ? m.random.between(1, 4) : square);
  ConvAttrs attrs = random_conv(m, spatial, kernel);
  const int64_t channels = shape[1];
  if (channels > 1 && m.random.one_in(3)) {
    std::vector<int64_t> groups;
    for (int64_t g = 1; g <= channels; ++g)
      if (channels % g == 0) groups.push_back(g);
    attrs.group = m.random.one_in(2) ? channels : m.random.of(groups);
  }
  const int64_t features = attrs.group * m.extent(std::max<int64_t>(1, 40 / attrs.group));
  Shape weights =
      op == Op::Conv ? Shape{features, channels / attrs.group} : Shape{channels, features / attrs.group};
  for (const int64_t extent : kernel) weights.push_back(extent);
  if (op == Op::ConvTranspose)
    for (size_t i = 0; i < spatial.size(); ++i) {
      attrs.pads_before[i] = std::min(attrs.pads_before[i], kernel[i] - 1);
      attrs.pads_after[i] = std::min(attrs.pads_after[i], kernel[i] - 1);
      if (m.random.one_in(3))
        attrs.output_padding[i] = m.random.below(std::max(attrs.strides[i], attrs.dilations[i]));
    }
  const DType dtype = m.type(x).dtype;
  std::vector<ValueId> inputs = {
      x, m.random.one_in(8) ? m.operand({dtype, weights}) : m.constant({dtype, weights})};
  if (m.random.one_in(3)) inputs.push_back(m.operand({dtype, {features}}));
  return m.add(op, attrs, inputs);
}

// Indices into an axis, positive and negative: constants, or (0 and 1) inputs.
ValueId indices_into(GraphMaker& m, const Shape& shape, int64_t extent, bool distinct_along_axis,
                     int64_t axis) {
  HostTensor indices(TensorType{DType::i64, shape});
  const Shape strides = row_major_strides(shape);
  for (int64_t i = 0; i < indices.elements(); ++i) {
    const int64_t along = shape.empty() ? 0 : i / strides[axis] % shape[axis];
    int64_t index = distinct_along_axis ? (along * 7 + 3) % extent : m.random.below(extent);
    if (m.random.one_in(3)) index -= extent;
    indices.mutable_data<int64_t>()[i] = index;
  }
  return m.constant(converted(indices, m.random.one_in(3) ? DType::i32 : DType::i64));
}

// Of few and short steps: what rounding does grows with each.
Grown recurrence(GraphMaker& m) {
  Random& random = m.random;
  RecurrenceAttrs attrs;
  attrs.cell = random.of<std::string>({"lstm", "gru", "rnn"});
  const size_t activations = attrs.cell == "lstm" ? 3 : attrs.cell == "gru" ? 2 : 1;
  attrs.activations = activations == 3 ? "Sigmoid Tanh Tanh" : activations == 2 ? "Sigmoid Tanh" : "Tanh";
  attrs.alphas.assign(activations, 0);
  attrs.betas.assign(activations, 0);
  attrs.reverse = random.one_in(2);
  attrs.clip = random.one_in(4) ? 0.5 : 0;
  attrs.input_forget = attrs.cell == "lstm" && random.one_in(4);
  attrs.linear_before_reset = attrs.cell == "gru" && random.one_in(2);
  attrs.peepholes = attrs.cell == "lstm" && random.one_in(4);
  attrs.masked = random.one_in(4);
  const RecurrenceOperands operands = *recurrence_operands(attrs);
  ValueId gates = m.pick_float(3, 3);
  if (Shape shape = m.shape_of(gates); shape[0] > 6 || shape[2] == 0 || shape[2] % operands.gates != 0)
    gates = m.input({m.float_type, {random.between(1, 6), m.extent(5), operands.gates * m.extent(24)}});
  const DType type = m.type(gates).dtype;
  const int64_t steps = m.shape_of(gates)[0], batch = m.shape_of(gates)[1];
  const int64_t hidden = m.shape_of(gates)[2] / operands.gates;
  const ValueId weights = m.operand({type, {operands.gates, hidden, hidden}});
  const ValueId scale = m.constant(
      converted(HostTensor::of<double>(DType::f64, {}, {1 / std::sqrt(static_cast<double>(hidden))}), type));
  std::vector<ValueId> inputs = {gates, m.must(Op::Mul, NoAttrs{}, {weights, scale}),
                                 m.operand({type, {operands.states, batch, hidden}})};
  if (operands.bias >= 0) inputs.push_back(m.operand({type, {hidden}}));
  if (operands.peepholes >= 0) inputs.push_back(m.operand({type, {3, hidden}}));
  if (operands.mask >= 0) inputs.push_back(m.operand({DType::bool_, {steps, batch}}));
  return m.add(Op::Recurrence, attrs, inputs);
}

// x = some primitives of x, all of which keep its type, and of what is there.
ValueId next_state(GraphMaker& m, ValueId x) {
  Random& random = m.random;
  const TensorType type = m.type(x);
  for (int64_t left = random.between(1, 3); left > 0; --left) {
    const auto rank = static_cast<int64_t>(type.shape.size());
    switch (random.below(6)) {
      case 0:
        x = m.must(Op::Add, NoAttrs{}, {x, m.operand(type)});
        break;
      case 1:
        if (rank < 1 || type.shape[0] == 0) break;
        x = m.must(Op::Sub, NoAttrs{}, {x, m.must(Op::ReduceMax, ReduceAttrs{{0}, true}, {x})});
        break;
      case 2:
        if (rank < 2 || type.shape[rank - 2] == 0) break;
        x = m.must(Op::MatMul, MatMulAttrs{},
                   {m.operand({type.dtype, {type.shape[rank - 2], type.shape[rank - 2]}}), x});
        break;
      case 3: {
        if (rank < 1) break;
        std::vector<int64_t> back = random_permutation(m, static_cast<size_t>(rank)), perm = back;
        for (int64_t i = 0; i < rank; ++i) back[perm[i]] = i;
        x = m.must(Op::Transpose, PermAttrs{back},
                   {m.must(Op::Neg, NoAttrs{}, {m.must(Op::Transpose, PermAttrs{perm}, {x})})});
        break;
      }
      case 4:
        x = m.must(Op::Mul, NoAttrs{}, {x, m.operand(type)});
        break;
      default:
        x = m.must(random.of<Op>({Op::Sigmoid, Op::Abs, Op::Sin}), NoAttrs{}, {x});
    }
  }
  return m.must(Op::Tanh, NoAttrs{}, {x});
}

// Its steps end at a number, or where the data say.
Grown loop(GraphMaker& m, int depth = 0) {
  Random& random = m.random;
  std::vector<ValueId> states = {m.pick_float(0, 3)};
  if (random.one_in(2))
    states.push_back(random.one_in(2) ? m.operand(m.type(states[0])) : m.pick_float(0, 3));
  for (ValueId state : states)
    if (m.type(state).elements() > 2000) return std::nullopt;
  const size_t rows = random.below(static_cast<int64_t>(states.size()) + 1);
  return m.loop(random.between(0, 4), states, rows, [&](ValueId number, const std::vector<ValueId>& before) {
    std::vector<ValueId> after;
    for (ValueId state : before) after.push_back(next_state(m, state));
    if (after.size() == 2 && m.type(after[0]) == m.type(after[1]) && random.one_in(2))
      std::swap(after[0], after[1]);
    if (depth == 0 && random.one_in(4)) {
      const auto inner =
          m.loop(random.between(0, 3), {after[0]}, 0, [&](ValueId, const std::vector<ValueId>& x) {
            return std::vector<ValueId>{m.constant(HostTensor::of<bool>(DType::bool_, {}, {true})),
                                        next_state(m, x[0])};
          });
      if (!inner) throw GraphMaker::GaveUp{};
      after[0] = *inner;
    }
    const ValueId limit = m.constant(HostTensor::of<int64_t>(DType::i64, {}, {random.between(1, 3)}));
    std::vector<ValueId> made = {m.must(Op::Less, NoAttrs{}, {number, limit})};
    made.insert(made.end(), after.begin(), after.end());
    made.insert(made.end(), after.begin(), after.begin() + static_cast<std::ptrdiff_t>(rows));
    return made;
  });
}

Grown suppression(GraphMaker& m) {
  const int64_t images = m.extent(2), classes = m.extent(3), boxes = m.extent(40);
  return m.add(
      Op::NonMaxSuppression,
      SuppressionAttrs{m.random.below(boxes + 1), m.random.of<double>({0, 0.25, 0.5, 1})},
      {m.operand({DType::f32, {images, boxes, 4}}), m.operand({DType::f32, {images, classes, boxes}})});
}

Grown opaque(GraphMaker& m, Op op) {
  const ValueId x = m.random.one_in(5) ? anything(m, 1) : m.pick_float(1);
  const Shape shape = m.shape_of(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = m.random.below(rank), extent = shape[axis];
  switch (op) {
    case Op::CumSum:
      return m.add(op, ScanAttrs{axis, m.random.one_in(2), m.random.one_in(2)}, {x});
    case Op::TopK:
      return m.add(op, TopKAttrs{axis, m.random.between(0, extent), m.random.one_in(2), true}, {x});
    case Op::GatherElements:
    case Op::ScatterElements: {
      if (extent == 0) return std::nullopt;
      Shape of = shape;
      for (int64_t i = 0; i < rank; ++i)
        if (of[i] > 0)
          of[i] = i == axis && op == Op::GatherElements ? m.extent(20) : m.random.between(1, of[i]);
      // Which of two writes to one place is the last is not defined: 7 is prime to most extents.
      const bool scatters = op == Op::ScatterElements;
      if (scatters && extent % 7 == 0) return std::nullopt;
      const ValueId indices = indices_into(m, of, extent, scatters, axis);
      if (!scatters) return m.add(op, AxisAttrs{axis}, {x, indices});
      return m.add(op, AxisAttrs{axis}, {x, indices, m.operand({m.type(x).dtype, of})});
    }
    case Op::GatherND: {
      const int64_t batch = m.random.below(rank);
      const int64_t depth = m.random.between(1, rank - batch);
      Shape of(shape.begin(), shape.begin() + batch);
      of.push_back(m.extent(8));
      of.push_back(depth);
      int64_t least = INT64_MAX;
      for (int64_t i = 0; i < depth; ++i) least = std::min(least, shape[batch + i]);
      if (least <= 0) return std::nullopt;
      return m.add(op, AxisAttrs{batch}, {x, indices_into(m, of, least, false, 0)});
    }
    case Op::ScatterND: {
      if (extent == 0 || shape[0] % 7 == 0) return std::nullopt;
      const Shape of = {m.random.between(1, shape[0]), 1};
      Shape updates(shape.begin() + 1, shape.end());
      updates.insert(updates.begin(), of[0]);
      return m.add(op, NoAttrs{},
                   {x, indices_into(m, of, shape[0], true, 0), m.operand({m.type(x).dtype, updates})});
    }
    case Op::Append: {
      Shape rows = shape;
      rows[axis] = m.extent(8);
      const int64_t capacity = extent + rows[axis] + m.random.below(4);
      const ValueId added = m.operand({m.type(x).dtype, rows});
      const auto number = [&](int64_t n) { return m.constant(HostTensor::of<int64_t>(DType::i64, {}, {n})); };
      const auto up_to = [&](int64_t most) { return number(m.random.between(0, most)); };
      const int64_t length = m.random.between(0, extent);
      return m.add(op, AppendAttrs{axis, capacity},
                   {x, added, number(length), up_to(rows[axis]), up_to(length)});
    }
    default:
      return std::nullopt;
  }
}

std::optional<ValueId> narrow_product(GraphMaker& maker) {
  try {
    return motif::narrow_product(maker);
  } catch (const GraphMaker::GaveUp&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<ValueId> grow(GraphMaker& maker, Op op) {
  const OpInfo& row = info(op);
  switch (row.category) {
    case Category::constant:
      return maker.constant({maker.random.of(numbers()), maker.shape(2, 100)});
    case Category::elementwise:
      return row.max_inputs == 1 ? unary(maker, op) : row.max_inputs == 2 ? binary(maker, op) : where(maker);
    case Category::reduce:
      return reduce(maker, op);
    case Category::window:
      return op == Op::WinogradInput || op == Op::WinogradOutput ? winograd(maker, op) : window(maker, op);
    case Category::layout:
      // Indices as those of ScatterElements.
      return op == Op::GatherElements ? opaque(maker, op) : layout(maker, op);
    case Category::linear:
      if (op == Op::NarrowMatMul) return narrow_product(maker);
      return op == Op::MatMul            ? matmul(maker)
             : op == Op::WinogradProduct ? winograd(maker, op)
                                         : conv(maker, op);
    case Category::opaque:
      return op == Op::MaxPoolIndices      ? window(maker, op)
             : op == Op::Recurrence        ? recurrence(maker)
             : op == Op::NonMaxSuppression ? suppression(maker)
             : is_loop_end(op)             ? loop(maker)
                                           : opaque(maker, op);
    case Category::composite:
      return composite(maker, op);
  }
  return std::nullopt;
}

}  // namespace korch::fuzz
