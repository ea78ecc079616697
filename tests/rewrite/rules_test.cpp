// The proof obligation of every rewrite rule: what it adds computes the same, over finite fields and in
// float64, on random instances; and how much float32 error it adds.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/rewrite/alternatives.h"
#include "korch/rewrite/equivalence.h"
#include "random_floats.h"

namespace korch {
namespace {

constexpr int kInstances = 12;  // random ones per rule

// Builds a random graph that a rule matches.
class Instance {
 public:
  explicit Instance(uint64_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool coin() { return pick(0, 1) == 1; }
  ValueId input(Shape shape) {
    return graph.add_input({DType::f32, std::move(shape)}, "x" + std::to_string(graph.inputs().size()));
  }
  ValueId weights(Shape shape) {
    HostTensor tensor(TensorType{DType::f32, std::move(shape)});
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<float>()[i] = normal(random_);
    return graph.add_constant(tensor);
  }
  ValueId number(float value) { return graph.add_constant(HostTensor::of<float>(DType::f32, {}, {value})); }
  ValueId indices(const std::vector<int64_t>& values) {
    return graph.add_constant(
        HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values));
  }
  ValueId op(Op op, std::vector<ValueId> inputs, Attrs attrs = NoAttrs{}) {
    return graph.add(op, std::move(attrs), std::move(inputs));
  }
  ValueId conv(ValueId x, ValueId w, int64_t pad = 0) {
    ConvAttrs attrs;
    attrs.strides = attrs.dilations = {1, 1};
    attrs.pads_before = attrs.pads_after = {pad, pad};
    return op(Op::Conv, {x, w}, attrs);
  }
  ValueId matmul(ValueId a, ValueId b, bool ta = false, bool tb = false) {
    return op(Op::MatMul, {a, b}, MatMulAttrs{ta, tb});
  }
  ValueId slice(ValueId x, int64_t axis, int64_t start, int64_t size) {
    SliceAttrs cut{Shape(shape(x).size(), 0), shape(x), Shape(shape(x).size(), 1)};
    cut.starts[static_cast<size_t>(axis)] = start;
    cut.sizes[static_cast<size_t>(axis)] = size;
    return op(Op::Slice, {x}, cut);
  }
  // Linear along one axis: two gathers with weights, as fission makes of Resize.
  ValueId twice_as_long(ValueId x, int64_t axis) {
    const int64_t extent = shape(x)[static_cast<size_t>(axis)];
    std::vector<int64_t> left, right;
    for (int64_t i = 0; i < 2 * extent; ++i) {
      left.push_back(i / 2);
      right.push_back(std::min(i / 2 + 1, extent - 1));
    }
    Shape along(shape(x).size(), 1);
    along[static_cast<size_t>(axis)] = 2 * extent;
    const ValueId a = op(Op::Mul, {op(Op::Gather, {x, indices(left)}, AxisAttrs{axis}), weights(along)});
    const ValueId b = op(Op::Mul, {weights(along), op(Op::Gather, {x, indices(right)}, AxisAttrs{axis})});
    return op(Op::Add, {a, b});
  }
  ValueId nearest(ValueId x, int64_t factor) {
    const Shape s = shape(x);
    const ValueId apart = op(Op::Reshape, {x}, ShapeAttrs{{s[0], s[1], s[2], 1, s[3], 1}});
    const ValueId repeated = op(Op::Expand, {apart}, ShapeAttrs{{s[0], s[1], s[2], factor, s[3], factor}});
    return op(Op::Reshape, {repeated}, ShapeAttrs{{s[0], s[1], s[2] * factor, s[3] * factor}});
  }
  ValueId repeated_rows(ValueId x, int64_t factor) {
    const Shape s = shape(x);
    const ValueId apart = op(Op::Reshape, {x}, ShapeAttrs{{s[0], s[1], s[2], 1, s[3]}});
    const ValueId repeated = op(Op::Expand, {apart}, ShapeAttrs{{s[0], s[1], s[2], factor, s[3]}});
    return op(Op::Reshape, {repeated}, ShapeAttrs{{s[0], s[1], s[2] * factor, s[3]}});
  }
  const Shape& shape(ValueId value) const { return graph.value(value).type.shape; }
  Graph finish(std::vector<ValueId> outputs) {
    std::vector<std::string> names;
    for (size_t i = 0; i < outputs.size(); ++i) names.push_back("y" + std::to_string(i));
    graph.set_outputs(std::move(outputs), names);
    return graph;
  }

  Graph graph;

 private:
  std::mt19937_64 random_;
};

Graph mean_and_squares(Instance& g) {
  const int64_t rows = 1, count = (int64_t{1} << 18) + 64 * g.pick(1, 3);
  const ValueId x = g.input({rows, count});
  const ReduceAttrs along{{1}, true};
  const ValueId total = g.op(Op::ReduceSum, {x}, along);
  const ValueId mean = g.op(Op::Div, {total, g.number(static_cast<float>(count))});
  const ValueId centred = g.op(Op::Sub, {x, mean});
  return g.finish({g.op(Op::ReduceSum, {g.op(Op::Mul, {centred, centred})}, along), mean});
}

Graph softmax_times(Instance& g, int64_t keys, int64_t width) {
  const ValueId scores = g.input({2, 3, keys}), values = g.input({2, keys, width});
  const ReduceAttrs along{{2}, true};
  const ValueId e = g.op(Op::Exp, {g.op(Op::Sub, {scores, g.op(Op::ReduceMax, {scores}, along)})});
  const ValueId sum = g.op(Op::ReduceSum, {e}, along);
  const ValueId p = g.coin() ? g.op(Op::Div, {e, sum}) : g.op(Op::Mul, {g.op(Op::Reciprocal, {sum}), e});
  return g.finish({g.matmul(p, values)});
}

// As the networks have it: K by columns or by rows, a factor or none, a mask or none.
Graph attention(Instance& g) {
  const int64_t heads = 2, m = 256 + 16 * g.pick(0, 3), n = 512, d = g.pick(1, 3), e = g.pick(1, 3);
  const bool kt = g.coin(), vt = g.coin();
  ValueId q = g.input({heads, m, d}), k = g.input(kt ? Shape{1, d, n} : Shape{1, n, d});
  const ValueId v = g.input(vt ? Shape{heads, e, n} : Shape{heads, n, e});
  ValueId scores = g.matmul(q, k, false, !kt);
  if (g.coin()) scores = g.op(g.coin() ? Op::Mul : Op::Div, {scores, g.number(1.5f)});
  if (g.coin()) scores = g.op(Op::Add, {g.input(g.coin() ? Shape{m, n} : Shape{1, n}), scores});
  const ReduceAttrs along{{2}, true};
  const ValueId e_s = g.op(Op::Exp, {g.op(Op::Sub, {scores, g.op(Op::ReduceMax, {scores}, along)})});
  const ValueId sum = g.op(Op::ReduceSum, {e_s}, along);
  const ValueId p = g.op(Op::Mul, {e_s, g.op(Op::Reciprocal, {sum})});
  return g.finish({g.matmul(p, v, false, vt)});
}

PoolAttrs window(int64_t extent) {
  return PoolAttrs{{extent, extent}, {1, 1}, {1, 1}, {extent / 2, extent / 2}, {extent / 2, extent / 2}};
}

Graph layouts_that_cancel(Instance& g) {
  const auto apply = [&](ValueId x) { return g.op(g.coin() ? Op::Tanh : Op::Relu, {x}); };
  switch (g.pick(0, 4)) {
    case 0: {
      const ValueId x = g.op(Op::Transpose, {g.input({2, 3, 4})}, PermAttrs{{1, 2, 0}});
      const ValueId y = g.op(Op::Mul, {g.weights({4, 1}), apply(x)});
      const ValueId z = g.op(Op::ReduceSum, {y}, ReduceAttrs{{g.pick(0, 2)}, true});
      return g.finish({g.op(Op::Transpose, {z}, PermAttrs{{2, 0, 1}})});
    }
    case 1: {
      const ValueId x = g.op(Op::Reshape, {g.input({2, 3, 4})}, ShapeAttrs{{6, 4}});
      const ValueId y = g.op(Op::Sub, {g.number(2), apply(x)});
      return g.finish({g.op(Op::Reshape, {y}, ShapeAttrs{{2, 3, 4}})});
    }
    case 2: {
      const ValueId x = g.op(Op::Concat, {g.input({2, 3}), g.input({2, 4})}, AxisAttrs{1});
      const ValueId y = g.op(Op::Add, {apply(x), g.weights({7})});
      const int64_t start = g.pick(3, 5);
      return g.finish({g.slice(y, 1, start, 7 - start)});
    }
    case 3: {
      const ValueId x = g.op(Op::Pad, {g.input({3, 4})}, PadAttrs{{1, 2}, {0, 1}, PadMode::constant, 0});
      const ValueId y = g.op(Op::Add, {apply(x), g.weights({1, 7})});
      const SliceAttrs inside{{1, 2}, {g.pick(1, 3), g.pick(1, 4)}, {1, 1}};
      return g.finish({g.op(Op::Slice, {y}, inside), x});
    }
    default: {
      const ValueId x = g.input({2, 5});
      const bool relu = g.coin();
      const auto part = [&](int64_t start, int64_t size) {
        return g.op(relu ? Op::Relu : Op::Tanh, {g.slice(x, 1, start, size)});
      };
      return g.finish({g.op(Op::Concat, {part(0, 2), part(2, 3)}, AxisAttrs{1})});
    }
  }
}

using Make = Graph (*)(Instance&);

const std::map<std::string, Make>& instances() {
  static const std::map<std::string, Make> table = {
      {"convolution_over_concat",
       [](Instance& g) {
         const int64_t a = g.pick(1, 3), b = g.pick(1, 3), kernel = g.coin() ? 1 : 3;
         const ValueId low = g.input({1, a, 2, 3}), high = g.input({1, b, 4, 6});
         const ValueId both = g.op(Op::Concat, {g.nearest(low, 2), high}, AxisAttrs{1});
         return g.finish({g.conv(both, g.weights({4, a + b, kernel, kernel}), kernel / 2)});
       }},
      {"channel_map_before_upsampling",
       [](Instance& g) {
         const int64_t c = g.pick(1, 4);
         ValueId x = g.input({g.pick(1, 2), c, 3, 2});
         x = g.coin() ? g.nearest(x, 2) : g.twice_as_long(g.twice_as_long(x, 2), 3);
         return g.finish({g.conv(x, g.weights({g.pick(1, 5), c, 1, 1}))});
       }},
      {"pointwise_convolution_as_matmul",
       [](Instance& g) {
         const int64_t c = g.pick(1, 5);
         const ValueId rows = g.input({g.pick(1, 2), 3, 4, c});
         const ValueId image = g.op(Op::Transpose, {rows}, PermAttrs{{0, 3, 1, 2}});
         return g.finish({g.conv(image, g.weights({g.pick(1, 5), c, 1, 1}))});
       }},
      {"compose_constant_matmuls",
       [](Instance& g) {
         const int64_t k = g.pick(2, 3), j = g.pick(9, 12), n = g.pick(2, 4);
         const bool tx = g.coin(), ta = g.coin(), tb = g.coin();
         const ValueId x = g.input(tx ? Shape{1, k, 6} : Shape{1, 6, k});
         ValueId y = g.matmul(x, g.weights(ta ? Shape{j, k} : Shape{k, j}), tx, ta);
         if (g.coin()) y = g.op(Op::Add, {g.weights({j}), y});
         if (g.coin()) y = g.op(Op::Reshape, {y}, ShapeAttrs{{2, 3, j}});
         return g.finish({g.matmul(y, g.weights(tb ? Shape{n, j} : Shape{j, n}), false, tb)});
       }},
      {"merge_linear",
       [](Instance& g) {
         const int64_t k = g.pick(2, 4);
         std::vector<ValueId> results;
         if (g.coin()) {
           const ValueId x = g.input({2, 3, k});
           const bool bias = g.coin();
           for (int64_t n : {g.pick(1, 4), g.pick(1, 4), g.pick(1, 4)}) {
             const ValueId y = g.matmul(x, g.weights({k, n}));
             results.push_back(bias ? g.op(Op::Relu, {g.op(Op::Add, {g.weights({n}), y})}) : y);
           }
         } else {
           const ValueId x = g.input({1, k, 4, 4});
           for (int64_t n : {g.pick(1, 4), g.pick(1, 4)})
             results.push_back(g.op(Op::Add, {g.conv(x, g.weights({n, k, 3, 3}), 1), g.weights({n, 1, 1})}));
         }
         return g.finish(results);
       }},
      {"slice_before_linear",
       [](Instance& g) {
         const int64_t k = g.pick(2, 4), start = g.pick(0, 3), size = g.pick(16, 18), n = 24;
         if (g.coin()) {
           const ValueId y = g.op(Op::Add, {g.matmul(g.input({2, 3, k}), g.weights({k, n})), g.weights({n})});
           const ValueId turned = g.op(Op::Transpose, {y}, PermAttrs{{0, 2, 1}});
           return g.finish({g.slice(turned, 1, start, size), g.op(Op::Relu, {y})});
         }
         const ValueId y = g.op(Op::Tanh, {g.conv(g.input({1, k, 3, 3}), g.weights({n, k, 3, 3}), 1)});
         return g.finish({g.slice(y, 1, start, size)});
       }},
      {"concat_of_slices_before_linear",
       [](Instance& g) {
         const int64_t k = g.pick(2, 4);
         const ValueId y =
             g.op(Op::Add, {g.conv(g.input({1, k, 3, 3}), g.weights({9, k, 1, 1})), g.weights({9, 1, 1})});
         const int64_t a = g.pick(0, 3), b = g.pick(4, 6);
         return g.finish({g.op(Op::Concat, {g.slice(y, 1, b, 2), g.slice(y, 1, a, 3)}, AxisAttrs{1})});
       }},
      {"factor_into_constant",
       [](Instance& g) {
         const int64_t k = g.pick(2, 4);
         const ValueId q = g.op(Op::Add, {g.matmul(g.input({3, k}), g.weights({k, 4})), g.weights({4})});
         const ValueId scores = g.matmul(g.op(Op::Transpose, {q}, PermAttrs{{1, 0}}), g.input({3, 5}));
         return g.finish({g.op(g.coin() ? Op::Mul : Op::Div, {scores, g.number(2.75f)})});
       }},
      {"factor_after_matmul", [](Instance& g) { return softmax_times(g, 8, g.pick(1, 4)); }},
      {"vector_before_linear",
       [](Instance& g) {
         const int64_t k = g.pick(2, 5);
         const Op factor = g.coin() ? Op::Mul : Op::Div, term = g.coin() ? Op::Add : Op::Sub;
         if (g.coin()) {
           const bool turned = g.coin();
           const int64_t n = g.pick(2, 4);
           ValueId x = g.op(factor, {g.input({2, 3, k}), g.weights({k})});
           x = g.op(term, {x, g.weights({1, k})});
           if (g.coin()) x = g.op(Op::Reshape, {x}, ShapeAttrs{{3, 2, k}});
           const auto w = [&] { return g.weights(turned ? Shape{n, k} : Shape{k, n}); };
           const ValueId y = g.op(Op::Add, {g.matmul(x, w(), false, turned), g.weights({n})});
           if (g.coin()) return g.finish({y});
           return g.finish({y, g.op(Op::Add, {g.weights({n}), g.matmul(x, w(), false, turned)})});
         }
         const int64_t pad = g.pick(0, 1);
         ValueId x = g.op(factor, {g.input({1, k, 4, 4}), g.weights({k, 1, 1})});
         if (pad == 0) x = g.op(Op::Mul, {g.weights({k, 1, 1}), g.op(term, {x, g.weights({1, k, 1, 1})})});
         return g.finish({g.conv(x, g.weights({g.pick(1, 3), k, 3, 3}), pad)});
       }},
      {"factors_after_linear",
       [](Instance& g) {
         const int64_t k = g.pick(2, 4), n = g.pick(2, 5);
         const Op factor = g.coin() ? Op::Mul : Op::Div;
         if (g.coin()) {
           ValueId y = g.matmul(g.input({3, k}), g.weights({n, k}), false, true);
           if (g.coin()) y = g.op(Op::Sub, {y, g.weights({1, n})});
           return g.finish({g.op(factor, {y, g.weights({n})})});
         }
         ValueId y = g.conv(g.input({1, k, 4, 3}), g.weights({n, k, 3, 3}), 1);
         if (g.coin()) y = g.op(Op::Add, {g.weights({n, 1, 1}), y});
         return g.finish({g.op(factor, {y, g.weights({1, n, 1, 1})})});
       }},
      {"constants_together",
       [](Instance& g) {
         const int64_t n = g.pick(2, 5);
         const Op op = g.coin() ? Op::Add : Op::Mul;
         const ValueId y = g.op(op, {g.weights({n}), g.input({3, n})});
         return g.finish({g.op(op, {y, g.weights(g.coin() ? Shape{1, n} : Shape{1})})});
       }},
      {"layouts_cancel", layouts_that_cancel},
      {"function_before_repetition",
       [](Instance& g) {
         const ValueId x = g.input({1, g.pick(1, 3), 2, 3});
         const ValueId y = g.coin() ? g.nearest(x, 2) : g.repeated_rows(x, g.pick(2, 3));
         return g.finish({g.coin() ? g.op(Op::Exp, {y}) : g.op(Op::Sub, {g.number(1.5f), y})});
       }},
      {"squares_in_one_pass", mean_and_squares},
      {"sum_as_matmul",
       [](Instance& g) {
         const int64_t k = g.pick(2, 5), n = g.pick(1, 5);
         const bool turned = g.coin();
         const ValueId x = g.input({2, 3, k}), b = g.input(turned ? Shape{2, n, k} : Shape{2, k, n});
         return g.finish({g.matmul(x, b, false, turned), g.op(Op::ReduceSum, {x}, ReduceAttrs{{2}, true})});
       }},
      {"online_attention", attention},
      {"tanh_of_softplus",
       [](Instance& g) {
         const ValueId x = g.input({g.pick(2, 50)});
         const ValueId scaled = g.op(Op::Mul, {x, g.number(static_cast<float>(g.pick(1, 30)))});
         return g.finish({g.op(Op::Tanh, {g.op(Op::Softplus, {scaled})})});
       }},
      {"window_of_window",
       [](Instance& g) {
         const ValueId x = g.input({1, 2, 7, 6});
         const int64_t small = 2 * g.pick(1, 2) + 1;
         return g.finish(
             {g.op(Op::WindowMax, {x}, window(small)), g.op(Op::WindowMax, {x}, window(small + 2))});
       }},
      {"separable_window",
       [](Instance& g) {
         return g.finish({g.op(Op::WindowMax, {g.input({1, 2, 6, 7})}, window(2 * g.pick(1, 3) + 1))});
       }},
      {"depthwise_as_window",
       [](Instance& g) {
         ConvAttrs attrs;
         const int64_t c = g.pick(2, 3);
         attrs.strides = {g.pick(1, 2), g.pick(1, 2)};
         attrs.dilations = {1, g.pick(1, 2)};
         attrs.pads_before = {g.pick(0, 1), g.pick(0, 1)};
         attrs.pads_after = {g.pick(0, 1), 0};
         attrs.group = c;
         const ValueId w = g.weights({c, 1, g.pick(1, 3), g.pick(2, 3)});
         const ValueId y = g.op(Op::Conv, {g.input({1, c, 5, 6}), w}, attrs);
         return g.finish({g.conv(g.op(Op::Relu, {y}), g.weights({g.pick(1, 3), c, 1, 1}))});
       }},
      {"convolution_as_matmul",
       [](Instance& g) {
         ConvAttrs attrs;
         const int64_t c = g.pick(1, 2);
         attrs.dilations = {1, g.pick(1, 2)};
         attrs.pads_before = {g.pick(0, 1), g.pick(0, 1)};
         attrs.pads_after = {g.pick(0, 1), 0};
         const ValueId w = g.weights({40, c, g.pick(1, 3), g.pick(2, 3)});
         attrs.strides = {g.coin() ? g.shape(w)[2] : g.pick(1, 2), g.coin() ? g.shape(w)[3] : 1};
         return g.finish({g.op(Op::Conv, {g.input({g.pick(1, 2), c, 7, 6}), w}, attrs)});
       }},
      {"winograd",
       [](Instance& g) {
         ConvAttrs attrs;
         const int64_t c = g.pick(1, 3), taps = g.pick(2, 5);
         attrs.strides = attrs.dilations = {1, 1};
         attrs.pads_before = {g.pick(0, 2), g.pick(0, 2)};
         attrs.pads_after = {g.pick(0, 2), g.pick(0, 2)};
         attrs.output_padding = {0, 0};
         return g.finish({g.op(Op::Conv,
                               {g.input({g.pick(1, 2), c, g.pick(5, 9), g.pick(5, 9)}),
                                g.weights({g.pick(1, 3), c, taps, taps})},
                               attrs)});
       }},
      {"transposed_convolution_as_convolution",
       [](Instance& g) {
         ConvAttrs attrs;
         const int64_t c = g.pick(1, 3), m = g.pick(1, 3), stride = g.pick(1, 3);
         attrs.strides = {stride, g.pick(1, 2)};
         attrs.dilations = {1, 1};
         attrs.pads_before = {g.pick(0, 1), 0};
         attrs.pads_after = {g.pick(0, 1), 0};
         attrs.output_padding = {g.pick(0, stride - 1), 0};
         const ValueId w = g.weights({c, m, g.pick(2, 4), g.pick(2, 3)});
         return g.finish({g.op(Op::ConvTranspose, {g.input({1, c, 3, 4}), w}, attrs)});
       }},
      {"upsampling_into_convolution",
       [](Instance& g) {
         const int64_t c = g.pick(1, 3), factor = g.pick(2, 3), kernel = g.pick(3, 4);
         const ValueId x = g.input({g.pick(1, 2), c, 3, 2}), w = g.weights({g.pick(1, 3), c, kernel, kernel});
         if (g.coin()) {
           const PadMode modes[] = {PadMode::reflect, PadMode::edge, PadMode::constant};
           const PadAttrs border{
               {0, 0, g.pick(0, factor - 1), 1}, {0, 0, g.pick(0, factor - 1), 1}, modes[g.pick(0, 2)], 0};
           return g.finish({g.conv(g.op(Op::Pad, {g.nearest(x, factor)}, border), w)});
         }
         return g.finish(
             {g.conv(g.coin() ? g.nearest(x, factor) : g.repeated_rows(x, factor), w, g.pick(1, 2))});
       }},
      {"large_kernel_as_small_ones",
       [](Instance& g) {
         const int64_t few = g.pick(1, 2), many = g.pick(18, 20), kernel = g.pick(6, 9);
         const bool of_outputs = g.coin();
         const ValueId x = g.input({1, of_outputs ? many : few, kernel + 4, kernel + 3});
         return g.finish(
             {g.conv(x, g.weights({of_outputs ? few : many, g.shape(x)[1], kernel, kernel}), g.pick(0, 2))});
       }},
  };
  return table;
}

// The graph with one producer for a Value that has several.
Graph with_producer(const Graph& graph, ValueId value, NodeId producer) {
  Graph chosen = graph;
  for (NodeId other : graph.value(value).producers)
    if (other != producer) chosen.kill_node(other);
  chosen.remove_dead_nodes();
  return chosen;
}

// What a rule makes of a graph, one graph per alternative.
std::vector<Graph> variants(const Graph& graph, const std::vector<RewriteRule>& rules,
                            const std::string& rule) {
  const Rewritten rewritten = add_alternatives(graph, {.only = {rule}, .fold = false}, rules);
  std::vector<Graph> result;
  if (print(rewritten.base) != print(graph)) result.push_back(rewritten.base);
  for (ValueId value = 0; value < rewritten.graph.value_count(); ++value) {
    const std::vector<NodeId>& producers = rewritten.graph.value(value).producers;
    for (size_t i = 1; i < producers.size(); ++i)
      result.push_back(with_producer(rewritten.graph, value, producers[i]));
  }
  return result;
}

Equivalence prove(const Graph& a, const Graph& b, uint64_t seed) {
  EquivalenceOptions options;
  options.seed = seed;
  options.tests = 4;
  options.inputs = random_floats;
  return check_equivalence(a, b, options);
}

// Squared float32 errors against float64, of all outputs.
double squared_error(const Graph& graph, const std::vector<HostTensor>& inputs,
                     const std::vector<HostTensor>& exact) {
  const std::vector<HostTensor> rounded = interpret(graph, inputs, {Precision::native, nullptr});
  double sum = 0;
  for (size_t o = 0; o < exact.size(); ++o)
    for (int64_t i = 0; i < exact[o].elements(); ++i) {
      const double error = element_as_double(exact[o], i) - element_as_double(rounded[o], i);
      sum += error * error;
    }
  return sum;
}

class Rule : public testing::TestWithParam<RewriteRule> {};

TEST_P(Rule, ComputesTheSame) {
  const RewriteRule& rule = GetParam();
  const auto make = instances().find(rule.name);
  ASSERT_NE(make, instances().end()) << "a rule without instances: add some to this file";
  double before = 0, after = 0;
  for (uint64_t seed = 1; seed <= kInstances; ++seed) {
    Instance instance(seed);
    const Graph graph = make->second(instance);
    const std::vector<Graph> others = variants(graph, rewrite_rules(), rule.name);
    ASSERT_FALSE(others.empty()) << "the rule did not match\n" << print(graph);
    for (const Graph& other : others) {
      const Equivalence result = prove(graph, other, seed);
      EXPECT_LT(result.float64_difference, 1e-9) << print(graph) << print(other);
      if (rule.over_field) {
        EXPECT_EQ(result.verdict, Verdict::equal) << result.field.why << print(graph) << print(other);
      }
      const std::vector<HostTensor> inputs = random_floats(graph, seed);
      const std::vector<HostTensor> exact = interpret(graph, inputs);
      before += squared_error(graph, inputs, exact);
      after += squared_error(other, inputs, exact);
    }
  }
  const double added = before > 0 ? std::sqrt(after / before) : after > 0 ? INFINITY : 1;
  RecordProperty("float32_error_over_original", std::to_string(added));
  std::printf("%-40s float32 error %.2f of the original's\n", rule.name, added);
  // Another order of summation moves errors about, by small factors on small instances.
  if (rule.strict) {
    EXPECT_LT(added, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rule, testing::ValuesIn(rewrite_rules()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Rules, EveryInstanceHasItsRule) {
  for (const auto& [name, make] : instances()) {
    bool known = false;
    for (const RewriteRule& rule : rewrite_rules()) known = known || rule.name == name;
    EXPECT_TRUE(known) << name;
  }
}

// Where the mean is a hundred deviations, and where the first element is far from all others.
TEST(Rules, SquaresInOnePassKeepTheirDigits) {
  Instance instance(1);
  const Graph graph = mean_and_squares(instance);
  for (const Graph& other : variants(graph, rewrite_rules(), "squares_in_one_pass")) {
    for (const bool outlier : {false, true}) {
      std::vector<HostTensor> inputs = random_floats(graph, 1);
      float* x = inputs[0].mutable_data<float>();
      for (int64_t i = 0; i < inputs[0].elements(); ++i) x[i] = outlier ? 1e-3f * x[i] : x[i] + 100;
      if (outlier) x[0] = 100;
      const std::vector<HostTensor> exact = interpret(graph, inputs),
                                    rounded = interpret(other, inputs, {Precision::native, nullptr});
      const double n = static_cast<double>(inputs[0].shape()[1]);
      for (size_t o = 0; o < exact.size(); ++o)
        for (int64_t i = 0; i < exact[o].elements(); ++i) {
          const double wanted = element_as_double(exact[o], i);
          EXPECT_NEAR(element_as_double(rounded[o], i), wanted, 4 * n * 6e-8 * std::abs(wanted));
        }
    }
    std::vector<HostTensor> flat = random_floats(graph, 1);
    std::fill_n(flat[0].mutable_data<float>(), flat[0].elements(), 12345.678f);
    EXPECT_GE(element_as_double(interpret(other, flat, {Precision::native, nullptr})[0], 0), 0);
  }
  const Rewritten strict = add_alternatives(graph, {.strict = true});
  EXPECT_EQ(strict.applied.count("squares_in_one_pass"), 0u);
  EXPECT_EQ(std::count(strict.rules.begin(), strict.rules.end(), "winograd"), 0);
}

// A rule that is wrong does not get past its obligation.
struct Wrong {
  const char* name;
  RewriteRule rule;
  const char* instance;
  bool of_result = false;  // it looks at what the instance's own rule makes
};

RewriteRule wrong_rule(Op root, void (*apply)(Rewriter&, NodeId)) {
  return {"wrong", "", "", "", /*strict=*/true, /*dominates=*/false, /*over_field=*/true, {root}, apply};
}

ValueId other_way(Rewriter& r, const Node& node, std::vector<ValueId> inputs) {
  return r.emit(node.op, node.attrs, std::move(inputs));
}

// The transposition with two axes of its result exchanged.
void swap_axes(Rewriter& r, NodeId id, const std::vector<int64_t>& perm, size_t a, size_t b) {
  const Node transpose = r.node(id);
  if (std::get<PermAttrs>(transpose.attrs).perm != perm) return;
  std::vector<int64_t> other = perm;
  std::swap(other[a], other[b]);
  const Shape& out = r.shape(transpose.outputs[0]);
  if (out[a] != out[b]) return;
  r.equate(transpose.outputs[0], r.transpose(transpose.inputs[0], other));
}

TEST(Rules, WrongOnesAreCaught) {
  const std::vector<Wrong> wrong = {
      {"factor dropped",
       wrong_rule(Op::MatMul,
                  [](Rewriter& r, NodeId id) {
                    const Node matmul = r.node(id);
                    if (const auto mul = r.producer(matmul.inputs[0], Op::Mul))
                      r.equate(matmul.outputs[0], other_way(r, matmul, {mul->inputs[1], matmul.inputs[1]}));
                    if (const auto div = r.producer(matmul.inputs[0], Op::Div))
                      r.equate(matmul.outputs[0], other_way(r, matmul, {div->inputs[0], matmul.inputs[1]}));
                  }),
       "factor_after_matmul"},
      {"term forgotten",
       wrong_rule(Op::MatMul,
                  [](Rewriter& r, NodeId id) {
                    const Node matmul = r.node(id);
                    const auto sum = r.producer(matmul.inputs[0], Op::Add);
                    const auto difference = r.producer(matmul.inputs[0], Op::Sub);
                    if (sum || difference)
                      r.equate(matmul.outputs[0],
                               other_way(r, matmul, {(sum ? sum : difference)->inputs[0], matmul.inputs[1]}));
                  }),
       "vector_before_linear"},
      {"mean forgotten",
       wrong_rule(Op::ReduceSum,
                  [](Rewriter& r, NodeId id) {
                    const Node sum = r.node(id);
                    const auto square = r.producer(sum.inputs[0], Op::Mul);
                    const auto centred = square ? r.producer(square->inputs[0], Op::Sub) : std::nullopt;
                    if (!centred) return;
                    const ValueId x = centred->inputs[0];
                    r.equate(sum.outputs[0], r.emit(Op::ReduceSum, sum.attrs, {r.emit(Op::Mul, {x, x})}));
                  }),
       "squares_in_one_pass"},
      {"partial sums over different maxima",
       wrong_rule(
           Op::MatMul,
           [](Rewriter& r, NodeId id) {
             const Node matmul = r.node(id);
             const auto softmax = r.producer(matmul.inputs[0], Op::Mul);
             const auto exp = softmax ? r.producer(softmax->inputs[0], Op::Exp) : std::nullopt;
             if (!exp) return;
             const ValueId scores = r.producer(exp->inputs[0], Op::Sub)->inputs[0];
             const int64_t axis = r.rank(scores) - 1, half = r.shape(scores).back() / 2;
             const ReduceAttrs along{{axis}, true};
             std::vector<ValueId> products, sums;
             for (int64_t begin : {int64_t{0}, half}) {
               const ValueId part = r.slice(scores, axis, begin, half);
               const ValueId largest = r.emit(Op::ReduceMax, along, {part});
               const ValueId weights = r.emit(Op::Exp, {r.emit(Op::Sub, {part, largest})});
               const int64_t keys = axis - (std::get<MatMulAttrs>(matmul.attrs).transpose_b ? 0 : 1);
               products.push_back(
                   other_way(r, matmul, {weights, r.slice(matmul.inputs[1], keys, begin, half)}));
               sums.push_back(r.emit(Op::ReduceSum, along, {weights}));
             }
             r.equate(matmul.outputs[0], r.emit(Op::Div, {r.emit(Op::Add, products), r.emit(Op::Add, sums)}));
           }),
       "online_attention"},
      {"halves of the result swapped",
       wrong_rule(Op::Concat,
                  [](Rewriter& r, NodeId id) {
                    const Node concat = r.node(id);
                    std::vector<ValueId> inputs = concat.inputs;
                    std::swap(inputs[0], inputs[1]);
                    r.equate(concat.outputs[0], r.reshape(r.concat(inputs, 1), r.shape(concat.outputs[0])));
                  }),
       "concat_of_slices_before_linear"},
      {"a window too small",
       wrong_rule(Op::WindowMax,
                  [](Rewriter& r, NodeId id) {
                    const Node node = r.node(id);
                    if (std::get<PoolAttrs>(node.attrs).kernel[0] == 3) return;
                    r.equate(node.outputs[0], r.emit(Op::WindowMax, window(3), {node.inputs[0]}));
                  }),
       "window_of_window"},
      {"phases of rows and columns swapped",
       wrong_rule(Op::Transpose,
                  [](Rewriter& r, NodeId id) {
                    swap_axes(r, id, {0, 3, 4, 1, 5, 2}, 3, 5);
                  }),
       "upsampling_into_convolution", true},
      {"a piece moved too little",
       wrong_rule(Op::Slice,
                  [](Rewriter& r, NodeId id) {
                    const Node slice = r.node(id);
                    auto cut = std::get<SliceAttrs>(slice.attrs);
                    if (cut.starts[3] == 0) return;
                    --cut.starts[3];
                    r.equate(slice.outputs[0], r.emit(Op::Slice, cut, slice.inputs));
                  }),
       "large_kernel_as_small_ones", true},
  };
  for (const Wrong& w : wrong) {
    SCOPED_TRACE(w.name);
    size_t tried = 0;  // an instance need not have what the wrong rule looks for
    for (uint64_t seed = 1; seed <= kInstances; ++seed) {
      Instance instance(seed);
      Graph graph = instances().at(w.instance)(instance);
      if (w.of_result) graph = variants(graph, rewrite_rules(), w.instance).at(0);
      const std::vector<Graph> others = variants(graph, {w.rule}, "wrong");
      for (const Graph& other : others) EXPECT_NE(prove(graph, other, seed).verdict, Verdict::equal);
      tried += others.size();
    }
    EXPECT_GT(tried, 0u);
  }
}

TEST(Rules, LimitsAreNamed) {
  Instance instance(1);
  const Graph graph = instances().at("merge_linear")(instance);
  EXPECT_GT(add_alternatives(graph, {.limits = {.max_growth = 0, .free_nodes = 0}})
                .limited.at("alternatives_nodes"),
            0);
  EXPECT_GT(add_alternatives(graph, {.limits = {.max_producers = 1}}).limited.at("alternatives_per_value"),
            0);
  EXPECT_GT(add_alternatives(graph, {.limits = {.max_constant_bytes = 0}})
                .limited.at("alternatives_constant_bytes"),
            0);
  EXPECT_GT(add_alternatives(graph, {.limits = {.rounds = 1}}).limited.at("alternatives_rounds"), 0);
  EXPECT_THROW(add_alternatives(graph, {.only = {"no_such_rule"}}), Error);
}

// Without alternatives every Value keeps one producer, and no node is named that is not there.
TEST(Rules, WhatDominatesTakesItsPlace) {
  for (const auto& [name, make] : instances()) {
    Instance instance(3);
    const Rewritten rewritten = add_alternatives(make(instance), {.alternatives = false});
    for (ValueId value = 0; value < rewritten.graph.value_count(); ++value)
      EXPECT_LE(rewritten.graph.value(value).producers.size(), 1u) << name;
    for (const auto& [id, rule] : rewritten.rule_of) EXPECT_LT(id, rewritten.graph.node_count()) << name;
    EXPECT_EQ(print(rewritten.graph), print(rewritten.base)) << name;
  }
}

// Constants that alternatives need are computed, so that they cost nothing at run time.
TEST(Rules, ConstantsAreFolded) {
  for (const auto& [name, make] : instances()) {
    Instance instance(2);
    const Rewritten rewritten = add_alternatives(make(instance), {});
    verify(rewritten.graph, Stage::primitive);
    for (NodeId id : rewritten.graph.topological_order()) {
      const Node& node = rewritten.graph.node(id);
      if (node.op == Op::Constant) continue;
      const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId value) {
        return rewritten.graph.constant(value) != nullptr;
      });
      EXPECT_FALSE(constant) << name << ": " << print(rewritten.graph, id);
    }
  }
}

}  // namespace
}  // namespace korch
