#include "korch/rewrite/field_evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "korch/base/interrupt.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/reduce_rows.h"
#include "korch/interp/strided.h"
#include "korch/interp/window.h"
#include "korch/interp/winograd.h"

namespace korch::field {
namespace {

HostTensor elements(const Shape& shape) {
  return HostTensor(TensorType{DType::i64, shape});
}

const uint64_t* read(const HostTensor& tensor) {
  return tensor.data<uint64_t>();
}
uint64_t* write(HostTensor& tensor) {
  return tensor.mutable_data<uint64_t>();
}

template <typename Field>
HostTensor embedded(const HostTensor& floats) {
  HostTensor out = elements(floats.shape());
  for (int64_t i = 0; i < floats.elements(); ++i) {
    const double value = element_as_double(floats, i);
    if (!std::isfinite(value)) throw Undecidable{"a constant that is not finite"};
    write(out)[i] = Field::of(value);
  }
  return out;
}

// What a term of a scalar expression holds: an element of the field, or (comparisons, conditions, integers) a
// number.
struct Scalar {
  bool is_number = false;
  uint64_t element = 0;
  int64_t number = 0;
};

// One elementwise node. Exponents of powers are looked up among constants, as the field does not know them
// any more.
template <typename Field>
class Elementwise {
 public:
  Elementwise(const Graph& graph, const Node& node, const std::vector<HostTensor>& inputs, const Field& field)
      : expr_(scalar_semantics(node.op)), field_(field) {
    if (const auto* scalars = std::get_if<ScalarAttrs>(&node.attrs)) scalars_ = *scalars;
    to_ = graph.value(node.outputs[0]).type.dtype;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& type = graph.value(node.inputs[i]).type;
      if (!is_float(type.dtype)) {
        numbers_.push_back(converted(inputs[i], DType::i64));
      } else {
        numbers_.push_back(inputs[i]);
        if (type.dtype != to_ && (to_ == DType::f16 || to_ == DType::bf16))
          throw Undecidable{"rounding to " + std::string(name(to_))};
      }
      is_number_.push_back(!is_float(type.dtype));
      constants_.push_back(graph.constant(node.inputs[i]));
    }
  }

  HostTensor run(const Shape& shape) {
    std::vector<StridedSpace> spaces;
    for (const HostTensor& input : numbers_)
      spaces.emplace_back(shape, broadcast_strides(input.shape(), shape));
    HostTensor out = elements(shape);
    std::vector<Scalar> terms(expr_.terms.size());
    for (int64_t i = 0; i < out.elements(); ++i) {
      for (size_t k = 0; k < spaces.size(); ++k)
        spaces[k].for_each_run(i, 1, [&](int64_t offset, int64_t, int64_t, int64_t) { at_[k] = offset; });
      for (size_t t = 0; t < terms.size(); ++t) terms[t] = term(expr_.terms[t], terms);
      const Scalar& result = terms.back();
      write(out)[i] = is_float(to_) ? element(result) : static_cast<uint64_t>(number(result));
    }
    return is_float(to_) ? out : converted(out, to_);
  }

 private:
  static uint64_t element(const Scalar& s) { return s.is_number ? Field::of(s.number) : s.element; }
  static int64_t number(const Scalar& s) {
    if (!s.is_number) throw Undecidable{"a float taken as an integer"};
    return s.number;
  }
  static bool truth(const Scalar& s) { return s.is_number ? s.number != 0 : !Field::equal(s.element, 0); }
  static Scalar of(uint64_t element) { return {false, element, 0}; }
  static Scalar of_number(int64_t number) { return {true, 0, number}; }

  Scalar operand(size_t k) const {
    const uint64_t bits = read(numbers_[k])[at_[k]];
    return is_number_[k] ? of_number(static_cast<int64_t>(bits)) : of(bits);
  }
  static Scalar literal(double value) {
    if (!std::isfinite(value)) throw Undecidable{"a constant that is not finite"};
    return of(Field::of(value));
  }

  // The integer that operand 1 is raised to, if the graph says so.
  std::optional<int64_t> exponent(const ScalarExpr::Term& term) const {
    double value = std::numeric_limits<double>::quiet_NaN();
    const ScalarExpr::Term& from = expr_.terms[term.b];
    if (from.fn == ScalarFn::constant) value = from.value;
    if (from.fn == ScalarFn::arg1 && constants_[1] != nullptr)
      value = element_as_double(*constants_[1], at_[1]);
    constexpr double kLargest = 64;
    if (!(std::fabs(value) <= kLargest) || value != std::trunc(value)) return std::nullopt;
    return static_cast<int64_t>(value);
  }

  uint64_t power(uint64_t base, int64_t exponent) const {
    uint64_t result = Field::of(1.0);
    for (int64_t i = 0; i < std::abs(exponent); ++i) result = Field::mul(result, base);
    return exponent < 0 ? field_.inverse(result) : result;
  }

  uint64_t larger(uint64_t a, uint64_t b) const { return field_.order(a) >= field_.order(b) ? a : b; }
  uint64_t smaller(uint64_t a, uint64_t b) const { return field_.order(a) <= field_.order(b) ? a : b; }

  Scalar term(const ScalarExpr::Term& t, const std::vector<Scalar>& terms) const {
    const auto a = [&] { return element(terms[t.a]); };
    const auto b = [&] { return element(terms[t.b]); };
    const auto one = [] { return Field::of(1.0); };
    if (t.fn == ScalarFn::arg0) return operand(0);
    if (t.fn == ScalarFn::arg1) return operand(1);
    if (t.fn == ScalarFn::arg2) return operand(2);
    if (t.fn == ScalarFn::alpha) return literal(scalars_.alpha);
    if (t.fn == ScalarFn::beta) return literal(scalars_.beta);
    if (t.fn == ScalarFn::constant) return literal(t.value);
    if (t.fn == ScalarFn::add) return of(Field::add(a(), b()));
    if (t.fn == ScalarFn::sub) return of(Field::add(a(), Field::neg(b())));
    if (t.fn == ScalarFn::mul) return of(Field::mul(a(), b()));
    if (t.fn == ScalarFn::div) return of(Field::mul(a(), field_.inverse(b())));
    if (t.fn == ScalarFn::reciprocal) return of(field_.inverse(a()));
    if (t.fn == ScalarFn::neg) return of(Field::neg(a()));
    if (t.fn == ScalarFn::abs) return of(larger(a(), Field::neg(a())));
    if (t.fn == ScalarFn::max) return of(larger(a(), b()));
    if (t.fn == ScalarFn::min) return of(smaller(a(), b()));
    if (t.fn == ScalarFn::pow) {
      if (const std::optional<int64_t> n = exponent(t)) return of(power(a(), *n));
      return of(field_.function(t.fn, a(), b()));
    }
    if (t.fn == ScalarFn::exp) return of(field_.exp(a()));
    if (t.fn == ScalarFn::expm1) return of(Field::add(field_.exp(a()), Field::neg(one())));
    if (t.fn == ScalarFn::log1p) return of(field_.function(ScalarFn::log, Field::add(one(), a())));
    if (t.fn == ScalarFn::eq) return of_number(Field::equal(a(), b()));
    if (t.fn == ScalarFn::lt) return of_number(field_.order(a()) < field_.order(b()));
    if (t.fn == ScalarFn::le) return of_number(field_.order(a()) <= field_.order(b()));
    if (t.fn == ScalarFn::is_nan || t.fn == ScalarFn::is_inf) return of_number(0);
    if (t.fn == ScalarFn::logical_and) return of_number(truth(terms[t.a]) && truth(terms[t.b]));
    if (t.fn == ScalarFn::logical_or) return of_number(truth(terms[t.a]) || truth(terms[t.b]));
    if (t.fn == ScalarFn::logical_xor) return of_number(truth(terms[t.a]) != truth(terms[t.b]));
    if (t.fn == ScalarFn::logical_not) return of_number(!truth(terms[t.a]));
    if (t.fn == ScalarFn::select) return truth(terms[t.a]) ? terms[t.b] : terms[t.c];
    if (t.fn == ScalarFn::cast) {
      if (to_ == DType::bool_) return of_number(truth(terms[t.a]));
      return is_float(to_) ? of(a()) : of_number(number(terms[t.a]));
    }
    // a function without a law
    return of(field_.function(t.fn, a(), t.b < 0 ? 0 : b()));
  }

  const ScalarExpr& expr_;
  const Field& field_;
  ScalarAttrs scalars_;
  DType to_ = DType::f32;
  std::vector<HostTensor> numbers_;
  std::vector<bool> is_number_;
  std::vector<const HostTensor*> constants_;
  int64_t at_[3] = {};
};

template <typename Field, typename Accumulate>
HostTensor reduced(const HostTensor& in, const Shape& shape, const std::vector<int64_t>& axes, uint64_t start,
                   Accumulate accumulate) {
  HostTensor out = elements(shape);
  std::fill_n(write(out), out.elements(), start);
  StopCheck stop;
  reduce_into(read(in), in.shape(), axes, write(out), stop, accumulate);
  return out;
}

// The element that wins over all others of its row; nothing wins over an empty row.
template <typename Wins>
HostTensor winners(const HostTensor& in, const Shape& shape, const std::vector<int64_t>& axes, Wins wins) {
  if (in.elements() == 0) throw Undecidable{"the extreme of nothing"};
  HostTensor out = elements(shape), first = elements(shape);
  std::fill_n(write(first), first.elements(), 1);
  StopCheck stop;
  for_each_reduction_run(in.shape(), axes, stop,
                         [&](int64_t from, int64_t to, int64_t stride, int64_t count) {
                           for (int64_t i = 0; i < count; ++i) {
                             const int64_t at = to + i * stride;
                             const uint64_t value = read(in)[from + i];
                             if (write(first)[at] != 0 || wins(value, write(out)[at])) write(out)[at] = value;
                             write(first)[at] = 0;
                           }
                         });
  return out;
}

template <typename Wins>
HostTensor winning_positions(const HostTensor& in, const Shape& shape, const ArgReduceAttrs& attrs,
                             Wins wins) {
  const int64_t extent = in.shape()[attrs.axis];
  const int64_t inner = element_count(Shape(in.shape().begin() + attrs.axis + 1, in.shape().end()));
  HostTensor out = elements(shape);
  for (int64_t p = 0; p < out.elements(); ++p) {
    const uint64_t* lane = read(in) + p / inner * extent * inner + p % inner;
    int64_t best = 0;
    for (int64_t i = 1; i < extent; ++i) {
      const bool ties = lane[i * inner] == lane[best * inner];
      if (ties ? attrs.select_last : wins(lane[i * inner], lane[best * inner])) best = i;
    }
    write(out)[p] = static_cast<uint64_t>(best);
  }
  return out;
}

// visit(output position, input position) for the taps of one plane that lie inside the input.
template <typename Visit>
void for_each_tap(const WindowGeometry& geometry, Visit visit) {
  const int64_t step = geometry.step();
  for (int64_t tap = 0; tap < geometry.taps(); ++tap)
    geometry.for_each_run(tap, 0, geometry.output_rows(), [&](int64_t to, int64_t from, int64_t count) {
      for (int64_t i = 0; i < count; ++i) visit(tap, to + i, from + i * step);
    });
}

template <typename Field>
HostTensor window(const HostTensor& in, const Shape& shape, const WindowGeometry& geometry,
                  const Field* order) {
  HostTensor out = elements(shape);
  std::vector<bool> is_empty(static_cast<size_t>(out.elements()), true);
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for_each_tap(geometry, [&](int64_t, int64_t to, int64_t from) {
      const uint64_t value = read(in)[plane * geometry.input_elements() + from];
      const int64_t at = plane * geometry.output_elements() + to;
      uint64_t& held = write(out)[at];
      if (order == nullptr)
        held = Field::add(held, value);
      else if (is_empty[at] || order->order(value) > order->order(held))
        held = value;
      is_empty[at] = false;
    });
  if (order != nullptr && std::count(is_empty.begin(), is_empty.end(), true) != 0)
    throw Undecidable{"the extreme of nothing"};
  return out;
}

template <typename Field>
HostTensor window_dot(const HostTensor& in, const HostTensor& weights, const Shape& shape,
                      const WindowGeometry& geometry) {
  HostTensor out = elements(shape);
  for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
    for_each_tap(geometry, [&](int64_t tap, int64_t to, int64_t from) {
      const uint64_t product = Field::mul(read(in)[plane * geometry.input_elements() + from],
                                          read(weights)[tap * shape[1] + plane % shape[1]]);
      uint64_t& held = write(out)[plane * geometry.output_elements() + to];
      held = Field::add(held, product);
    });
  return out;
}

template <typename Field>
struct WinogradArithmetic {
  static uint64_t zero() { return Field::of(0.0); }
  static uint64_t one() { return Field::of(1.0); }
  static uint64_t root_of_2() {
    if constexpr (Field::kHasExp)
      throw Undecidable{"Winograd's tiles of six inputs beside exponentials: 2 has no root there"};
    else
      return Field::root_of_2();
  }
  static uint64_t sum(uint64_t a, uint64_t b) { return Field::add(a, b); }
  static uint64_t product(uint64_t a, uint64_t b) { return Field::mul(a, b); }
  static uint64_t negative(uint64_t a) { return Field::neg(a); }
  static uint64_t inverse(uint64_t a) { return Field(0).inverse(a); }
};

template <typename Field>
HostTensor winograd(Op op, const std::vector<HostTensor>& inputs, const WinogradAttrs& attrs,
                    const Shape& shape) {
  const WinogradArithmetic<Field> in;
  HostTensor out = elements(shape);
  if (op == Op::WinogradInput)
    winograd_input(attrs, inputs[0].shape(), read(inputs[0]), write(out), in);
  else if (op == Op::WinogradOutput)
    winograd_output(attrs, read(inputs[0]), write(out), in);
  else
    winograd_product(attrs, inputs[0].shape(), read(inputs[0]), shape[2], read(inputs[1]), write(out), in);
  return out;
}

template <typename Field>
HostTensor matmul(const HostTensor& a, const HostTensor& b, const MatMulAttrs& attrs, const Shape& shape) {
  const auto batch_axes = [](const Shape& s) { return Shape(s.begin(), s.end() - 2); };
  const Shape batch = batch_axes(shape);
  const int64_t m = shape[shape.size() - 2], n = shape.back();
  const int64_t k = a.shape()[a.shape().size() - (attrs.transpose_a ? 2 : 1)];
  const StridedSpace space_a(batch, broadcast_strides(batch_axes(a.shape()), batch));
  const StridedSpace space_b(batch, broadcast_strides(batch_axes(b.shape()), batch));
  HostTensor out = elements(shape);
  for (int64_t i = 0; i < element_count(batch); ++i) {
    const uint64_t *x = read(a), *y = read(b);
    space_a.for_each_run(i, 1, [&](int64_t offset, int64_t, int64_t, int64_t) { x += offset * m * k; });
    space_b.for_each_run(i, 1, [&](int64_t offset, int64_t, int64_t, int64_t) { y += offset * k * n; });
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        typename Field::Sum sum;
        for (int64_t l = 0; l < k; ++l)
          sum.add_product(x[attrs.transpose_a ? l * m + row : row * k + l],
                          y[attrs.transpose_b ? column * k + l : l * n + column]);
        write(out)[(i * m + row) * n + column] = sum.value();
      }
  }
  return out;
}

// Of a convolution, or with input and output exchanged of the transposed one. `in_channels` and
// `out_channels` are those of a group of the convolution; weights are [group][out channel][in channel][tap].
template <typename Field>
HostTensor convolution(const HostTensor& x, const HostTensor& w, const ConvAttrs& attrs, const Shape& shape,
                       bool transposed) {
  const Shape& of_input = transposed ? shape : x.shape();
  const Shape& of_output = transposed ? x.shape() : shape;
  const WindowGeometry geometry(index_maps(Op::Conv, attrs, {{x.dtype(), of_input}, w.type()}, of_output));
  const int64_t in_channels = w.shape()[1], out_channels = w.shape()[0] / attrs.group;
  HostTensor out = elements(shape);
  for (int64_t image_group = 0; image_group < shape[0] * attrs.group; ++image_group)
    for (int64_t o = 0; o < out_channels; ++o)
      for (int64_t c = 0; c < in_channels; ++c) {
        const uint64_t* weights =
            read(w) + ((image_group % attrs.group * out_channels + o) * in_channels + c) * geometry.taps();
        const int64_t in_plane = (image_group * in_channels + c) * geometry.input_elements();
        const int64_t out_plane = (image_group * out_channels + o) * geometry.output_elements();
        for_each_tap(geometry, [&](int64_t tap, int64_t to, int64_t from) {
          const int64_t read_at = transposed ? out_plane + to : in_plane + from;
          const int64_t write_at = transposed ? in_plane + from : out_plane + to;
          write(out)[write_at] = Field::add(write(out)[write_at], Field::mul(read(x)[read_at], weights[tap]));
        });
      }
  return out;
}

template <typename Field>
HostTensor cumulative(const HostTensor& in, const ScanAttrs& attrs) {
  const int64_t extent = in.shape()[attrs.axis];
  const int64_t inner = element_count(Shape(in.shape().begin() + attrs.axis + 1, in.shape().end()));
  HostTensor out = elements(in.shape());
  for (int64_t lane = 0; lane < (extent == 0 ? 0 : in.elements() / extent); ++lane) {
    const int64_t first = lane / inner * extent * inner + lane % inner;
    uint64_t sum = Field::of(0.0);
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t at = first + (attrs.reverse ? extent - 1 - i : i) * inner;
      const uint64_t with_this = Field::add(sum, read(in)[at]);
      write(out)[at] = attrs.exclusive ? sum : with_this;
      sum = with_this;
    }
  }
  return out;
}

// A run of a graph.
template <typename Field>
class Run {
 public:
  Run(const Graph& graph, const Field& field) : graph_(graph), field_(field), values_(graph.value_count()) {}

  std::vector<HostTensor> outputs(const std::vector<HostTensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs()[i]] = inputs[i];
    std::vector<int> reads(graph_.value_count(), 0);
    const std::vector<NodeId> order = needed_nodes(graph_);
    for (NodeId id : order)
      for (ValueId input : graph_.node(id).inputs) ++reads[input];
    for (ValueId output : graph_.outputs()) ++reads[output];
    for (NodeId id : order) {
      throw_if_interrupted();
      const Node& node = graph_.node(id);
      std::vector<HostTensor> results = evaluate(node);
      for (size_t i = 0; i < results.size(); ++i) values_[node.outputs[i]] = std::move(results[i]);
      for (ValueId input : node.inputs)
        if (--reads[input] == 0) values_[input] = {};
    }
    std::vector<HostTensor> results;
    for (ValueId output : graph_.outputs()) results.push_back(values_[output]);
    return results;
  }

 private:
  bool is_field(ValueId id) const { return is_float(graph_.value(id).type.dtype); }

  std::vector<HostTensor> evaluate(const Node& node) {
    std::vector<HostTensor> inputs;
    bool any = false;
    for (ValueId input : node.inputs) {
      inputs.push_back(values_[input]);
      any = any || is_field(input);
    }
    for (ValueId output : node.outputs) any = any || is_field(output);
    if (!any) return as_ever(node, inputs);
    const Shape& shape = graph_.value(node.outputs[0]).type.shape;
    const Category category = info(node.op).category;
    if (node.op == Op::Constant) return {embedded<Field>(std::get<ConstantAttrs>(node.attrs).value)};
    if (node.op == Op::Pad) return {pad(node, inputs)};
    if (category == Category::layout || node.op == Op::GatherND || node.op == Op::ScatterElements ||
        node.op == Op::ScatterND || node.op == Op::Append)
      return as_ever(node, inputs);
    if (node.op == Op::CumSum) return {cumulative<Field>(inputs[0], std::get<ScanAttrs>(node.attrs))};
    if (node.op == Op::MatMul)
      return {matmul<Field>(inputs[0], inputs[1], std::get<MatMulAttrs>(node.attrs), shape)};
    if ((node.op == Op::Conv || node.op == Op::ConvTranspose) && inputs.size() == 2)
      return {convolution<Field>(inputs[0], inputs[1], std::get<ConvAttrs>(node.attrs), shape,
                                 node.op == Op::ConvTranspose)};
    if (node.op == Op::WindowSum) return {window<Field>(inputs[0], shape, geometry(node), nullptr)};
    if (node.op == Op::WindowDot) return {window_dot<Field>(inputs[0], inputs[1], shape, geometry(node))};
    if (node.op == Op::WindowMax) return {window<Field>(inputs[0], shape, geometry(node), &field_)};
    if (node.op == Op::WinogradInput || node.op == Op::WinogradProduct || node.op == Op::WinogradOutput)
      return {winograd<Field>(node.op, inputs, std::get<WinogradAttrs>(node.attrs), shape)};
    if (node.op == Op::ReduceSum)
      return {reduced<Field>(inputs[0], shape, axes(node), Field::of(0.0),
                             [](uint64_t& sum, uint64_t value) { sum = Field::add(sum, value); })};
    if (node.op == Op::ReduceProd)
      return {
          reduced<Field>(inputs[0], shape, axes(node), Field::of(1.0),
                         [](uint64_t& product, uint64_t value) { product = Field::mul(product, value); })};
    if (node.op == Op::ReduceMax) return {winners(inputs[0], shape, axes(node), greater())};
    if (node.op == Op::ReduceMin) return {winners(inputs[0], shape, axes(node), less())};
    if (node.op == Op::ArgMax)
      return {winning_positions(inputs[0], shape, std::get<ArgReduceAttrs>(node.attrs), greater())};
    if (node.op == Op::ArgMin)
      return {winning_positions(inputs[0], shape, std::get<ArgReduceAttrs>(node.attrs), less())};
    if (category == Category::elementwise)
      return {Elementwise<Field>(graph_, node, inputs, field_).run(shape)};
    throw Undecidable{std::string(name(node.op)) + " on floats"};
  }

  // Moves elements, or concerns none: the ordinary interpreter's work.
  std::vector<HostTensor> as_ever(const Node& node, const std::vector<HostTensor>& inputs) const {
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) {
      types.push_back(graph_.value(output).type);
      if (is_field(output)) types.back().dtype = DType::i64;
    }
    return evaluate_node(node, inputs, types, Precision::native);
  }

  // What is added is found by padding ones with zeros.
  HostTensor pad(const Node& node, const std::vector<HostTensor>& inputs) const {
    Node zeros = node;
    auto& attrs = std::get<PadAttrs>(zeros.attrs);
    const double fill = std::exchange(attrs.value, 0);
    HostTensor out = as_ever(zeros, inputs)[0];
    if (attrs.mode != PadMode::constant || fill == 0) return out;
    if (!std::isfinite(fill)) throw Undecidable{"a constant that is not finite"};
    HostTensor ones = elements(inputs[0].shape());
    std::fill_n(write(ones), ones.elements(), 1);
    const HostTensor inside = as_ever(zeros, {ones})[0];
    HostTensor filled = elements(out.shape());
    for (int64_t i = 0; i < out.elements(); ++i)
      write(filled)[i] = read(inside)[i] != 0 ? read(out)[i] : Field::of(fill);
    return filled;
  }

  WindowGeometry geometry(const Node& node) const { return WindowGeometry(index_maps(graph_, node)); }
  static const std::vector<int64_t>& axes(const Node& node) { return std::get<ReduceAttrs>(node.attrs).axes; }
  auto greater() const {
    return [this](uint64_t a, uint64_t b) { return field_.order(a) > field_.order(b); };
  }
  auto less() const {
    return [this](uint64_t a, uint64_t b) { return field_.order(a) < field_.order(b); };
  }

  const Graph& graph_;
  const Field& field_;
  std::vector<HostTensor> values_;
};

}  // namespace

template <typename Field>
std::vector<HostTensor> evaluate(const Graph& graph, const std::vector<HostTensor>& inputs,
                                 const Field& field) {
  return Run<Field>(graph, field).outputs(inputs);
}

template std::vector<HostTensor> evaluate(const Graph&, const std::vector<HostTensor>&, const Plain&);
template std::vector<HostTensor> evaluate(const Graph&, const std::vector<HostTensor>&, const WithExp&);

}  // namespace korch::field
