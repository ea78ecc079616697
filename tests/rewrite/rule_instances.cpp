#include "rule_instances.h"

#include <algorithm>

namespace korch {

Graph mean_and_squares(Instance& g) {
  const int64_t rows = 1, count = (int64_t{1} << 18) + 64 * g.pick(1, 3);
  const ValueId x = g.input({rows, count});
  const ReduceAttrs along{{1}, true};
  const ValueId total = g.op(Op::ReduceSum, {x}, along);
  const ValueId mean = g.op(Op::Div, {total, g.number(static_cast<float>(count))});
  const ValueId centred = g.op(Op::Sub, {x, mean});
  return g.finish({g.op(Op::ReduceSum, {g.op(Op::Mul, {centred, centred})}, along), mean});
}

PoolAttrs window(int64_t extent) {
  return PoolAttrs{{extent, extent}, {1, 1}, {1, 1}, {extent / 2, extent / 2}, {extent / 2, extent / 2}};
}

namespace {

Graph softmax_times(Instance& g, int64_t keys, int64_t width) {
  const ValueId scores = g.input({2, 3, keys}), values = g.input({2, keys, width});
  const ReduceAttrs along{{2}, true};
  const ValueId e = g.op(Op::Exp, {g.op(Op::Sub, {scores, g.op(Op::ReduceMax, {scores}, along)})});
  const ValueId sum = g.op(Op::ReduceSum, {e}, along);
  const ValueId p = g.coin() ? g.op(Op::Div, {e, sum}) : g.op(Op::Mul, {g.op(Op::Reciprocal, {sum}), e});
  return g.finish({g.matmul(p, values)});
}

ValueId whole_numbers(Instance& g, DType type, const Shape& shape) {
  HostTensor numbers(TensorType{DType::f64, shape});
  for (int64_t i = 0; i < numbers.elements(); ++i)
    numbers.mutable_data<double>()[i] = static_cast<double>(g.pick(-128, 127));
  return g.op(Op::Constant, {}, ConstantAttrs{converted(numbers, type)});
}

ValueId between(Instance& g, ValueId x, float low, float high) {
  if (g.coin()) return g.op(Op::Min, {g.op(Op::Max, {x, g.number(low)}), g.number(high)});
  return g.op(Op::Max, {g.op(Op::Min, {x, g.number(high)}), g.number(low)});
}

ValueId rounded(Instance& g, const Shape& shape) {
  return g.op(Op::Round, {g.op(Op::Mul, {g.input(shape), g.number(100)})});
}

// A convolution of these images, or a product of them as rows, by whole numbers.
ValueId product_by_whole_numbers(Instance& g, ValueId images, DType type) {
  const Shape shape = g.shape(images);
  const int64_t features = g.pick(1, 9);
  if (g.coin()) {
    const ValueId rows = g.op(Op::Reshape, {images}, ShapeAttrs{{shape[0] * shape[1], shape[2] * shape[3]}});
    const bool turned = g.coin();
    const int64_t terms = shape[2] * shape[3];
    const Shape weights = turned ? Shape{features, terms} : Shape{terms, features};
    return g.matmul(rows, whole_numbers(g, type, weights), false, turned);
  }
  ConvAttrs attrs;
  attrs.strides = attrs.dilations = {1, g.pick(1, 2)};
  attrs.pads_before = {g.pick(0, 1), g.pick(0, 1)};
  attrs.pads_after = {0, g.pick(0, 1)};
  const ValueId weights = whole_numbers(g, type, {features, shape[1], g.pick(1, 2), g.pick(1, 3)});
  return g.op(Op::Conv, {images, weights}, attrs);
}

Graph numbers_that_are_multiplied(Instance& g) {
  const auto low = static_cast<float>(g.pick(-128, 0));
  const ValueId numbers =
      between(g, rounded(g, {2, 3, 6, 7}), low, low + static_cast<float>(g.pick(128, 255)));
  return g.finish({product_by_whole_numbers(g, numbers, DType::f32), numbers});
}

// Of floats, and of integers, whose zero point may be known only when the network runs.
Graph bytes_that_are_multiplied(Instance& g) {
  const bool with_sign = g.coin();
  const ValueId whole = between(g, rounded(g, {2, 3, 6, 7}), with_sign ? -128 : 0, with_sign ? 127 : 255);
  const ValueId bytes = g.op(Op::Cast, {whole}, CastAttrs{with_sign ? DType::i8 : DType::u8});
  const int64_t zero = with_sign ? g.pick(-127, 0) : g.pick(0, 255);
  if (g.coin()) {
    const ValueId numbers = g.op(Op::Cast, {bytes}, CastAttrs{DType::f32});
    const ValueId less = zero == 0 ? numbers : g.op(Op::Sub, {numbers, g.number(static_cast<float>(zero))});
    return g.finish({product_by_whole_numbers(g, less, DType::f32)});
  }
  const ValueId numbers = g.op(Op::Cast, {bytes}, CastAttrs{DType::i16});
  HostTensor known(TensorType{DType::i16, {}});
  known.mutable_data<int16_t>()[0] = static_cast<int16_t>(zero);
  ValueId less = g.op(Op::Sub, {numbers, g.graph.add_constant(known)});
  if (g.coin()) {
    const ValueId first = g.op(Op::Slice, {bytes}, SliceAttrs{{0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}});
    less = g.op(Op::Sub, {numbers, g.op(Op::Cast, {first}, CastAttrs{DType::i16})});
    const ValueId rows = g.op(Op::Reshape, {less}, ShapeAttrs{{6, 42}});
    return g.finish({g.matmul(rows, whole_numbers(g, DType::i16, {42, g.pick(1, 9)}))});
  }
  return g.finish({product_by_whole_numbers(g, less, DType::i16)});
}

Graph narrow_product(Instance& g) {
  const int64_t terms = g.pick(1, 9), columns = g.pick(1, 5), block = g.pick(1, terms),
                blocks = (terms + block - 1) / block;
  const auto bytes = [&](Shape shape) {
    HostTensor numbers(TensorType{DType::u8, std::move(shape)});
    for (int64_t i = 0; i < numbers.elements(); ++i)
      numbers.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(g.pick(0, 255));
    return g.graph.add_constant(numbers);
  };
  std::vector<ValueId> operands = {g.input({3, terms}), bytes({terms, columns}),
                                   g.weights({blocks, columns})};
  if (g.coin()) operands.push_back(bytes({blocks, columns}));
  return g.finish({g.op(Op::NarrowMatMul, operands, NarrowAttrs{block, 8})});
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

}  // namespace

const std::map<std::string, MakeInstance>& instances() {
  static const std::map<std::string, MakeInstance> table = {
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
      {"whole_numbers_as_bytes", numbers_that_are_multiplied},
      {"product_of_bytes", bytes_that_are_multiplied},
      {"narrow_weights_as_floats", narrow_product},
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
      {"strassen",
       [](Instance& g) {
         const int64_t c = 2 * g.pick(64, 67), m = 2 * g.pick(64, 66);
         return g.finish(
             {g.conv(g.input({g.pick(1, 2), c, g.pick(1, 3), g.pick(1, 3)}), g.weights({m, c, 1, 1}))});
       }},
      {"phases_into_strided_convolution",
       [](Instance& g) {
         const int64_t stride = g.pick(2, 3), c = g.pick(1, 2), h = g.pick(2, 3), w = g.pick(2, 4);
         const ValueId x = g.input({g.pick(1, 2), c, stride * h, stride * w});
         std::vector<ValueId> parts;
         for (int64_t i = 0; i < stride * stride; ++i) {
           const SliceAttrs phase{
               {0, 0, i / stride, i % stride}, {g.shape(x)[0], c, h, w}, {1, 1, stride, stride}};
           const int64_t place = g.pick(0, i);
           parts.insert(parts.begin() + place, g.op(Op::Slice, {x}, phase));
         }
         ConvAttrs attrs;
         attrs.strides = attrs.dilations = {1, 1};
         attrs.pads_before = {g.pick(0, 1), g.pick(0, 2)};
         attrs.pads_after = {g.pick(0, 2), g.pick(0, 1)};
         const ValueId weights = g.weights({g.pick(1, 3), c * stride * stride, g.pick(1, 2), g.pick(1, 2)});
         return g.finish({g.op(Op::Conv, {g.op(Op::Concat, parts, AxisAttrs{1}), weights}, attrs)});
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
      {"strided_convolution_by_phases",
       [](Instance& g) {
         const int64_t c = g.pick(1, 3), stride = g.pick(2, 3), kernel = 2 * stride - g.pick(0, 1);
         ConvAttrs attrs;
         attrs.strides = {stride, stride};
         attrs.dilations = {1, 1};
         attrs.pads_before = {g.pick(0, 1), g.pick(0, 1)};
         attrs.pads_after = {g.pick(0, 1), g.pick(0, 2)};
         const int64_t rows = 38 * stride + g.pick(0, 3), columns = 38 * stride + g.pick(0, 3);
         const ValueId x = g.input({g.pick(1, 2), c, rows, columns});
         return g.finish({g.op(Op::Conv, {x, g.weights({g.pick(1, 4), c, kernel, kernel})}, attrs)});
       }},
  };
  return table;
}

}  // namespace korch
