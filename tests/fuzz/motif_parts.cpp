#include "motif_parts.h"

#include "operators.h"

namespace korch::fuzz::motif {

ValueId activation(GraphMaker& m, ValueId x) {
  static const std::vector<Op> ops = {
      Op::Relu,      Op::Sigmoid, Op::Tanh, Op::Gelu, Op::HardSwish,   Op::Softplus, Op::Abs, Op::Mish,
      Op::LeakyRelu, Op::Elu,     Op::Neg,  Op::Erf,  Op::HardSigmoid, Op::Softsign, Op::Sin, Op::Selu};
  const Op op = m.random.of(ops);
  const bool scalar = info(op).attrs_index == Attrs(ScalarAttrs{}).index();
  return m.add(op, scalar ? Attrs(ScalarAttrs{0.2F, 0.5F}) : Attrs(kNone), {x}).value_or(x);
}

ValueId channels_of(GraphMaker& m, ValueId x, size_t axis) {  // a vector along one axis
  const Shape shape = m.shape_of(x);
  Shape vector(shape.size() - axis, 1);
  vector[0] = shape[axis];
  return m.constant({m.type(x).dtype, vector});
}

// What follows a linear operator: biases, residuals, factors, activations, rearrangements.
ValueId dressed(GraphMaker& m, ValueId x, int64_t most) {
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
  const ValueId x = prologue(m, m.input({floats(m), shape}));
  if (m.shape_of(x).size() != 4) throw GraphMaker::GaveUp{};  // it was reshaped
  return x;
}

int64_t channels(GraphMaker& m) {
  return m.extent(m.random.one_in(3) ? 65 : 33);
}

ValueId conv(GraphMaker& m, ValueId x, int64_t features, Ints kernel, ConvAttrs attrs) {
  if (m.shape_of(x).size() != kernel.size() + 2) throw GraphMaker::GaveUp{};  // a prologue reshaped it
  Shape weights = {features, m.shape_of(x)[1] / attrs.group};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  std::vector<ValueId> inputs = {x, m.constant({m.type(x).dtype, weights})};
  if (m.random.one_in(3)) inputs.push_back(m.constant({m.type(x).dtype, {features}}));
  return m.must(Op::Conv, attrs, inputs);
}

ConvAttrs plain(int64_t stride, int64_t pad, int64_t group) {
  return {{stride, stride}, {1, 1}, {pad, pad}, {pad, pad}, {0, 0}, group};
}

ValueId matmul(GraphMaker& m, ValueId x, int64_t columns) {
  if (m.shape_of(x).empty()) throw GraphMaker::GaveUp{};
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
ValueId slice(GraphMaker& m, ValueId x, int64_t axis, int64_t start, int64_t size, int64_t step) {
  SliceAttrs attrs{Shape(m.shape_of(x).size(), 0), m.shape_of(x), Shape(m.shape_of(x).size(), 1)};
  attrs.starts[axis] = start;
  attrs.sizes[axis] = size;
  attrs.steps[axis] = step;
  return m.must(Op::Slice, attrs, {x});
}

}  // namespace korch::fuzz::motif
