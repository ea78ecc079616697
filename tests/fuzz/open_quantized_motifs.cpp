// What open models are made of: quantized operators, as exporters and quantizers write them.
#include "open_maker.h"

namespace korch::fuzz {
namespace {

using Names = OpenMaker::Names;
using Ints = std::vector<int64_t>;

struct Scale {
  std::string scale, zero;
  DType dtype;
};
// Of a whole tensor.
Scale scale(OpenMaker& m, float of_one = 0.03f) {
  const DType dtype = m.random.one_in(2) ? DType::u8 : DType::i8;
  const int64_t zero = dtype == DType::u8 ? m.random.between(100, 140) : m.random.between(-10, 10);
  return {m.number(of_one * static_cast<float>(1 + m.random.uniform())), m.integers(dtype, {}, zero, zero),
          dtype};
}
// Of each of these columns.
Scale scales(OpenMaker& m, int64_t columns, float of_one = 0.005f) {
  HostTensor values(TensorType{DType::f32, {columns}});
  for (int64_t i = 0; i < columns; ++i)
    values.mutable_data<float>()[i] = of_one * static_cast<float>(1 + m.random.uniform());
  return {m.constant(values), m.integers(DType::i8, {columns}, 0, 0), DType::i8};
}
std::string quantized(OpenMaker& m, const std::string& x, const Scale& by) {
  return m.add("QuantizeLinear", {x, by.scale, by.zero});
}
std::string dequantized(OpenMaker& m, const std::string& x, const Scale& by) {
  return m.add("DequantizeLinear", {x, by.scale, by.zero});
}
std::string passed(OpenMaker& m, const std::string& x) {
  const Scale by = scale(m);
  return dequantized(m, quantized(m, x, by), by);
}

Names through(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float()) return {};
  return {passed(m, x.name)};
}
Names quantized_product(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows()) return {};
  const int64_t features = m.random.of(Ints{1, 4, 8, 16}), c = x.channels();
  const bool each = m.random.one_in(2);
  const Scale of_w =
      each ? scales(m, features) : Scale{m.number(0.01f), m.integers(DType::i8, {}, 0, 0), DType::i8};
  auto w = m.add("DequantizeLinear", {m.integers(DType::i8, {c, features}, -99, 99), of_w.scale, of_w.zero})
               .with("axis", int64_t{1});
  const std::string y = m.add("MatMul", {passed(m, x.name), w});
  return {m.random.one_in(2) ? passed(m, y) : m.add("Add", {y, m.weight({features})}).outputs[0]};
}
Names quantized_convolution(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image() || x.rank() != 4) return {};
  const Scale of_w = scales(m, 8);
  auto w = m.add("DequantizeLinear",
                 {m.integers(DType::i8, {8, x.extent(1), 3, 3}, -60, 60), of_w.scale, of_w.zero})
               .with("axis", int64_t{0});
  const std::string y = m.add("Conv", {passed(m, x.name), w})
                            .with("pads", Ints{1, 1, m.random.below(2), 1})
                            .with("strides", Ints(2, m.random.between(1, 2)));
  return {passed(m, m.random.one_in(2) ? m.add("Relu", {y}).outputs[0] : y)};
}
Names linear_convolution(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image() || x.rank() != 4) return {};
  const Scale of_x = scale(m), of_y = scale(m, 0.06f), of_w = scales(m, 4);
  auto y = m.add("QLinearConv", {quantized(m, x.name, of_x), of_x.scale, of_x.zero,
                                 m.integers(DType::i8, {4, x.extent(1), 3, 3}, -60, 60), of_w.scale,
                                 of_w.zero, of_y.scale, of_y.zero, m.integers(DType::i32, {4}, -500, 500)})
               .with("pads", Ints{1, 0, 1, 1})
               .with("strides", Ints(2, m.random.between(1, 2)));
  return {dequantized(m, y, of_y)};
}
Names linear_product(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows()) return {};
  const Scale of_x = scale(m), of_y = scale(m, 0.06f);
  const std::string w = m.integers(DType::i8, {x.channels(), 8}, -60, 60);
  const std::string y =
      m.add("QLinearMatMul", {quantized(m, x.name, of_x), of_x.scale, of_x.zero, w, m.number(0.006f),
                              m.integers(DType::i8, {}, 0, 3), of_y.scale, of_y.zero});
  return {dequantized(m, y, of_y)};
}
Names dynamic_product(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows()) return {};
  const auto q = m.add("DynamicQuantizeLinear", {x.name}, 3).outputs;
  const std::string w = m.integers(DType::i8, {x.channels(), 8}, -60, 60);
  const std::string sums = m.add("MatMulInteger", {q[0], w, q[2], m.integers(DType::i8, {}, 0, 2)});
  const std::string factor = m.add("Mul", {q[1], m.number(0.006f)});
  return {m.add("Mul", {m.add("Cast", {sums}).with("to", int64_t{1}), factor})};
}
Names dynamic_product_of_one(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows()) return {};
  return {m.microsoft("DynamicQuantizeMatMul",
                      {x.name, m.integers(DType::i8, {x.channels(), 8}, -60, 60), m.number(0.006f),
                       m.integers(DType::i8, {}, 0, 2), m.weight({8})})};
}
Names integer_convolution(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image() || x.rank() != 4) return {};
  const auto q = m.add("DynamicQuantizeLinear", {x.name}, 3).outputs;
  const std::string sums =
      m.add("ConvInteger", {q[0], m.integers(DType::i8, {4, x.extent(1), 2, 2}, -60, 60), q[2]})
          .with("pads", Ints{1, 0, 0, 1});
  return {
      m.add("Mul", {m.add("Cast", {sums}).with("to", int64_t{1}), m.add("Mul", {q[1], m.number(0.006f)})})};
}
Names linear_pointwise(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float()) return {};
  const Scale of_x = scale(m), of_y{m.number(0.05f), m.integers(of_x.dtype, {}, 20, 20), of_x.dtype};
  const std::string q = quantized(m, x.name, of_x);
  const std::string op =
      m.random.of(Names{"QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"});
  if (op == "QLinearAdd" || op == "QLinearMul")
    return {dequantized(
        m, m.microsoft(op, {q, of_x.scale, of_x.zero, q, of_x.scale, of_x.zero, of_y.scale, of_y.zero}),
        of_y)};
  auto y = m.microsoft(op, {q, of_x.scale, of_x.zero, of_y.scale, of_y.zero});
  if (op == "QLinearSoftmax") y.with("opset", int64_t{13}).with("axis", int64_t{-1});
  return {dequantized(m, y, of_y)};
}
Names linear_pool(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image() || x.rank() != 4) return {};
  const Scale of_x = scale(m), of_y{m.number(0.02f), m.integers(of_x.dtype, {}, 20, 20), of_x.dtype};
  const std::string q = quantized(m, x.name, of_x);
  if (m.random.one_in(2))
    return {dequantized(
        m, m.microsoft("QLinearGlobalAveragePool", {q, of_x.scale, of_x.zero, of_y.scale, of_y.zero}), of_y)};
  auto y = m.microsoft("QLinearAveragePool", {q, of_x.scale, of_x.zero, of_y.scale, of_y.zero})
               .with("kernel_shape", Ints{2, 2})
               .with("pads", Ints{0, m.random.below(2), 1, 0});
  return {dequantized(m, y, of_y)};
}
Names bytes_moved(OpenMaker& m, const OpenValue& x) {
  // Operators between bytes alone.
  if (!x.is_image() || x.rank() != 4) return {};
  const Scale by = scale(m);
  const std::string q = quantized(m, x.name, by);
  const std::string y = m.random.one_in(2)
                            ? m.add("MaxPool", {q}).with("kernel_shape", Ints{2, 2}).outputs[0]
                            : m.add("Concat", {q, q}).with("axis", m.random.between(1, 3)).outputs[0];
  return {dequantized(m, y, by)};
}
Names packed_weights(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows() || x.channels() != 16) return {};
  const int64_t features = 8;
  Names operands{x.name, m.integers(DType::u8, {features, 1, 8}, 0, 255), m.weight({features})};
  if (m.random.one_in(2)) operands.push_back(m.integers(DType::u8, {features}, 0, 255));
  return {m.microsoft("MatMulNBits", operands)
              .with("K", int64_t{16})
              .with("N", features)
              .with("bits", int64_t{4})
              .with("block_size", int64_t{16})};
}
// Floats times weights that alone are narrow, by columns or blocks; or rows of such weights.
Names narrow_weights(OpenMaker& m, const OpenValue& x) {
  const bool rows = m.random.one_in(4);
  if (rows ? x.dtype != DType::i64 : !x.is_rows() || x.channels() == 0) return {};
  const int64_t terms = rows ? 24 : x.channels(), features = m.random.of(Ints{1, 4, 17});
  const bool turned = !rows && m.random.one_in(2), blocked = m.opset() >= 21 && m.random.one_in(2);
  const int64_t block = m.random.of(Ints{2, 8, 16}), blocks = (terms + block - 1) / block;
  const DType type = m.random.of(std::vector<DType>{DType::i8, DType::u8});
  const Shape shape = turned ? Shape{features, terms} : Shape{terms, features};
  const Shape shared = !blocked ? Shape{features}
                       : turned ? Shape{features, blocks}
                                : Shape{blocks, features};
  HostTensor scales(TensorType{DType::f32, shared});
  for (int64_t i = 0; i < scales.elements(); ++i)
    scales.mutable_data<float>()[i] = 0.004f * static_cast<float>(1 + m.random.uniform());
  Names operands{m.integers(type, shape, type == DType::i8 ? -128 : 0, 127), m.constant(scales)};
  if (m.random.one_in(2)) operands.push_back(m.integers(type, shared, 0, 20));
  auto w = m.add("DequantizeLinear", operands).with("axis", int64_t{blocked == turned ? 1 : 0});
  if (blocked) w = w.with("block_size", block);
  if (rows) return {m.add("Gather", {w, m.add("Mod", {x.name, m.integer(terms)})})};
  if (!turned) return {m.add("MatMul", {x.name, w})};
  return {m.add("MatMul", {x.name, m.add("Transpose", {w}).with("perm", Ints{1, 0})})};
}
Names quantized_recurrent(OpenMaker& m, const OpenValue& x) {
  if (!x.is_rows() || x.rank() != 3) return {};
  const int64_t hidden = 4;
  const auto weights = [&](int64_t rows) { return m.integers(DType::i8, {1, rows, 4 * hidden}, -60, 60); };
  const std::string zero = m.integers(DType::i8, {1}, 0, 0),
                    scale_w = m.constant(HostTensor::of<float>(DType::f32, {1}, {0.008f}));
  return m
      .microsoft("DynamicQuantizeLSTM",
                 {m.add("Transpose", {x.name}).with("perm", Ints{1, 0, 2}), weights(x.channels()),
                  weights(hidden), "", "", "", "", "", scale_w, zero, scale_w, zero},
                 2)
      .with("hidden_size", hidden)
      .outputs;
}

}  // namespace

const std::vector<OpenMotif>& open_quantized_motifs() {
  static const std::vector<OpenMotif> all = {
      {"quantized_through", through},
      {"quantized_product", quantized_product},
      {"quantized_convolution", quantized_convolution},
      {"linear_convolution", linear_convolution},
      {"linear_product", linear_product},
      {"dynamic_product", dynamic_product},
      {"dynamic_product_of_one", dynamic_product_of_one},
      {"integer_convolution", integer_convolution},
      {"linear_pointwise", linear_pointwise},
      {"linear_pool", linear_pool},
      {"bytes_moved", bytes_moved},
      {"packed_weights", packed_weights},
      {"narrow_weights", narrow_weights},
      {"quantized_recurrent", quantized_recurrent},
  };
  return all;
}

}  // namespace korch::fuzz
