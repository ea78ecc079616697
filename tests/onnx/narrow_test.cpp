// Narrow weights of models (onnx/narrow.h): which stay narrow, and what they are as floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "one_node.h"

namespace korch {
namespace {

// y = x [2, K] * weights, as DequantizeLinear gives them, through what `between` adds.
struct WeightsAlone {
  ModelBuilder b{21};
  HostTensor x;

  WeightsAlone(int64_t terms, const HostTensor& numbers, const HostTensor& scales,
               const std::optional<HostTensor>& zeros, int64_t axis, int64_t block) {
    std::vector<float> values;
    for (int64_t i = 0; i < 2 * terms; ++i) values.push_back(static_cast<float>((7 * i) % 5) - 2);
    x = f32({2, terms}, values);
    b.input("x", {2, terms});
    b.initializer("w", numbers);
    b.initializer("s", scales);
    if (zeros) b.initializer("z", *zeros);
    auto& node = b.node("DequantizeLinear", {"w", "s"}, {"d"});
    if (zeros) node.add_input("z");
    set_attribute(node, "axis", axis);
    set_attribute(node, "block_size", block);
    b.output("y");
  }
  WeightsAlone& times(const std::string& weights = "d") {
    b.node("MatMul", {"x", weights}, {"y"});
    return *this;
  }
  WeightsAlone& transposed() {
    b.node("Transpose", {"d"}, {"t"});
    return times("t");
  }
  Graph graph() { return import_onnx_bytes(b.bytes()); }
};

void of_runtime(ModelBuilder& b) {
  auto* opset = b.model.add_opset_import();
  opset->set_domain("com.microsoft");
  opset->set_version(1);
}

HostTensor numbers_of(DType type, Shape shape, int first, int step, int range) {
  HostTensor result(TensorType{DType::i64, std::move(shape)});
  for (int64_t i = 0; i < result.elements(); ++i)
    result.mutable_data<int64_t>()[i] = (first + step * i) % range - (is_signed(type) ? range / 2 : 0);
  return converted(result, type);
}

HostTensor scales_of(Shape shape) {
  HostTensor result(TensorType{DType::f32, std::move(shape)});
  for (int64_t i = 0; i < result.elements(); ++i)
    result.mutable_data<float>()[i] = 0.25f + 0.37f * static_cast<float>(i % 3);
  return result;
}

const Node* narrow_node(const Graph& graph) {
  for (NodeId id = 0; id < graph.node_count(); ++id)
    if (!graph.node(id).dead && graph.node(id).op == Op::NarrowMatMul) return &graph.node(id);
  return nullptr;
}

// The product by its definition.
std::vector<double> expected(const HostTensor& x, const HostTensor& numbers, const HostTensor& scales,
                             const std::optional<HostTensor>& zeros, int64_t axis, int64_t block,
                             bool turned) {
  const int64_t terms = numbers.shape()[turned ? 1 : 0], columns = numbers.shape()[turned ? 0 : 1];
  std::vector<double> y;
  for (int64_t m = 0; m < x.shape()[0]; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < terms; ++k) {
        const int64_t row = turned ? n : k, column = turned ? k : n;
        int64_t at = 0;
        if (block > 0)
          at = axis == 0 ? row / block * numbers.shape()[1] + column
                         : row * ((numbers.shape()[1] + block - 1) / block) + column / block;
        else if (scales.elements() > 1)
          at = axis == 0 ? row : column;
        const double zero = zeros ? static_cast<double>(element_as_int(*zeros, at)) : 0;
        const auto number = static_cast<double>(element_as_int(numbers, row * numbers.shape()[1] + column));
        sum += element_as_double(x, m * terms + k) *
               static_cast<float>((number - zero) * element_as_double(scales, at));
      }
      y.push_back(sum);
    }
  return y;
}

struct Form {
  const char* name;
  DType type;
  int64_t axis, block;
  bool turned, has_zeros, single;
  int64_t bits;  // of the product with narrow weights; 0: there is none
};

const Form kForms[] = {
    {"by_column", DType::i8, 1, 0, false, false, false, 8},
    {"by_column_turned", DType::u8, 0, 0, true, true, false, 8},
    {"whole", DType::i8, 1, 0, false, false, true, 8},
    {"whole_turned", DType::u8, 1, 0, true, true, true, 8},
    {"by_block", DType::i8, 0, 3, false, true, false, 8},
    {"by_block_turned", DType::u8, 1, 3, true, true, false, 8},
    {"nibbles_by_block", DType::i4, 0, 4, false, false, false, 4},
    {"nibbles_by_block_turned", DType::u4, 1, 4, true, true, false, 4},
    {"pairs_of_bits", DType::u2, 1, 0, false, false, false, 4},
    {"by_term", DType::i8, 0, 0, false, false, false, 0},
    {"by_block_of_columns", DType::i8, 1, 3, false, false, false, 0},
};

TEST(NarrowWeights, StayNarrowByColumnsAndBlocksOfTerms) {
  const int64_t terms = 10, columns = 7;
  for (const Form& form : kForms) {
    const Shape shape = form.turned ? Shape{columns, terms} : Shape{terms, columns};
    Shape shared = {shape[static_cast<size_t>(form.axis)]};
    if (form.single) shared = {};
    if (form.block > 0) {
      shared = shape;
      shared[static_cast<size_t>(form.axis)] =
          (shape[static_cast<size_t>(form.axis)] + form.block - 1) / form.block;
    }
    const int range = is_storage(form.type) ? 1 << storage_bits(form.type) : 256;
    const HostTensor numbers = numbers_of(form.type, shape, 1, 37, range), scales = scales_of(shared);
    std::optional<HostTensor> zeros;
    if (form.has_zeros) zeros = numbers_of(form.type, shared, 2, 5, range);
    WeightsAlone model(terms, numbers, scales, zeros, form.axis, form.block);
    const Graph graph = (form.turned ? model.transposed() : model.times()).graph();
    const Node* node = narrow_node(graph);
    ASSERT_EQ(node != nullptr, form.bits > 0) << form.name;
    if (node != nullptr) {
      EXPECT_EQ(std::get<NarrowAttrs>(node->attrs).bits, form.bits) << form.name;
    }
    const HostTensor y = interpret(graph, {model.x})[0];
    const std::vector<double> wanted =
        expected(model.x, numbers, scales, zeros, form.axis, form.block, form.turned);
    ASSERT_EQ(y.elements(), std::ssize(wanted)) << form.name;
    for (int64_t i = 0; i < y.elements(); ++i)
      EXPECT_NEAR(element_as_double(y, i), wanted[static_cast<size_t>(i)],
                  1e-4 * (1 + std::abs(wanted[static_cast<size_t>(i)])))
          << form.name << " " << i;
  }
}

TEST(NarrowWeights, GemmReadsThemToo) {
  const HostTensor numbers = numbers_of(DType::i8, {3, 4}, 1, 37, 256), scales = scales_of({3});
  WeightsAlone model(4, numbers, scales, std::nullopt, 0, 0);
  model.b.initializer("c", f32({3}, {1, 2, 3}));
  auto& gemm = model.b.node("Gemm", {"x", "d", "c"}, {"y"});
  set_attribute(gemm, "transB", 1);
  set_float_attribute(gemm, "alpha", 0.5f);
  set_float_attribute(gemm, "beta", 2.0f);
  const Graph graph = model.graph();
  EXPECT_NE(narrow_node(graph), nullptr);
  const HostTensor y = interpret(graph, {model.x})[0];
  std::vector<double> wanted = expected(model.x, numbers, scales, std::nullopt, 0, 0, true);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(element_as_double(y, static_cast<int64_t>(i)), 0.5 * wanted[i] + 2.0 * (1.0 + i % 3), 1e-3);
}

// Zero points that the numbers can do without: the same weights without subtraction.
TEST(NarrowWeights, ZeroPointsAreLeftOutWhereDifferencesFit) {
  const HostTensor scales = scales_of({5});
  for (int zero : {128, 10}) {
    const HostTensor zeros = numbers_of(DType::u8, {5}, zero, 0, 256);
    WeightsAlone model(4, numbers_of(DType::u8, {4, 5}, 3, 37, 256), scales, zeros, 1, 0);
    const Graph graph = model.times().graph();
    const Node* node = narrow_node(graph);
    ASSERT_NE(node, nullptr);
    EXPECT_EQ(node->inputs.size(), zero == 128 ? 3u : 4u) << zero;
  }
}

TEST(NarrowWeights, ProductsShareTheirConstants) {
  WeightsAlone model(4, numbers_of(DType::i8, {4, 4}, 1, 37, 256), scales_of({4}), std::nullopt, 1, 0);
  model.b.node("MatMul", {"x", "d"}, {"first"});
  model.b.node("MatMul", {"first", "d"}, {"y"});
  const Graph graph = model.graph();
  int constants = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) constants += graph.node(id).op == Op::Constant;
  EXPECT_EQ(constants, 2);
}

// One line tells of weights that become floats, with both sizes.
TEST(NarrowWeights, SaysWhichBecomeFloats) {
  const auto warnings = [](const char* op) {
    WeightsAlone model(4, numbers_of(DType::i8, {4, 4}, 1, 37, 256), scales_of({4}), std::nullopt, 1, 0);
    model.b.node(op, {"x", "d"}, {"y"});
    if (op != std::string("MatMul")) model.b.model.mutable_graph()->mutable_input()->Clear();
    if (op != std::string("MatMul")) model.b.input("x", {4, 4});
    std::string text;
    ImportOptions options;
    options.on_warning = [&](const std::string& line) { text += line + "\n"; };
    import_onnx_bytes(model.b.bytes(), options);
    return text;
  };
  EXPECT_EQ(warnings("MatMul"), "");
  EXPECT_NE(warnings("Add").find("a tensor of narrow weights, 0.0 MB, is float32"), std::string::npos);
}

// Rows of a table are looked up before they become floats.
TEST(NarrowWeights, RowsOfATable) {
  for (const auto& [type, axis, block] :
       {std::tuple{DType::i8, int64_t{0}, int64_t{0}}, std::tuple{DType::u8, int64_t{1}, int64_t{0}},
        std::tuple{DType::i4, int64_t{1}, int64_t{4}}, std::tuple{DType::u4, int64_t{1}, int64_t{4}}}) {
    const Shape shape = {5, 6}, shared = block > 0 ? Shape{5, 2} : Shape{shape[static_cast<size_t>(axis)]};
    const int range = is_storage(type) ? 16 : 256;
    const HostTensor numbers = numbers_of(type, shape, 1, 37, range), scales = scales_of(shared),
                     zeros = numbers_of(type, shared, 2, 5, range);
    ModelBuilder b(21);
    b.input("i", {3}, 7);
    b.initializer("w", numbers);
    b.initializer("s", scales);
    b.initializer("z", zeros);
    auto& node = b.node("DequantizeLinear", {"w", "s", "z"}, {"d"});
    set_attribute(node, "axis", axis);
    set_attribute(node, "block_size", block);
    b.node("Gather", {"d", "i"}, {"y"});
    b.output("y");
    const Graph graph = import_onnx_bytes(b.bytes());
    for (NodeId id = 0; id < graph.node_count(); ++id) {
      const HostTensor* constant = graph.constant(graph.node(id).outputs[0]);
      EXPECT_FALSE(constant != nullptr && constant->dtype() == DType::f32 && constant->elements() == 30)
          << name(type);
    }
    const HostTensor y = interpret(graph, {HostTensor::of<int64_t>(DType::i64, {3}, {4, 0, -2})})[0];
    const int64_t rows[] = {4, 0, 3};
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t c = 0; c < 6; ++c) {
        const int64_t at = block > 0 ? rows[i] * 2 + c / block : axis == 0 ? rows[i] : c;
        const double number =
            static_cast<double>(element_as_int(numbers, rows[i] * 6 + c) - element_as_int(zeros, at));
        EXPECT_EQ(element_as_double(y, i * 6 + c), number * element_as_double(scales, at))  // in float64
            << name(type) << " " << i << " " << c;
      }
  }
}

// As ONNX defines them: a scale of MatMulNBits may be any float.
TEST(NarrowWeights, ScalesThatAreNoNumbers) {
  for (const float scale : {0.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    ModelBuilder b(21);
    of_runtime(b);
    b.input("x", {1, 16});
    b.initializer("w", numbers_of(DType::u8, {1, 1, 8}, 3, 37, 256));
    b.floats("s", {1}, {scale});
    auto& node = b.node("MatMulNBits", {"x", "w", "s"}, {"y"});
    node.set_domain("com.microsoft");
    for (const auto& [name, value] :
         {std::pair("K", 16), std::pair("N", 1), std::pair("bits", 4), std::pair("block_size", 16)})
      set_attribute(node, name, value);
    b.output("y");
    const HostTensor x = f32({1, 16}, std::vector<float>(16, 1.0f));
    const double y = element_as_double(interpret(import_onnx_bytes(b.bytes()), {x})[0], 0);
    EXPECT_TRUE(scale == 0 ? y == 0 : !std::isfinite(y)) << scale << " gives " << y;
  }
}

// Packed tensors of odd sizes, and what is missing of them.
TEST(NarrowWeights, SizesThatDoNotFitAreRefused) {
  const auto refused = [](int64_t weights, int64_t scales, int64_t zeros, int64_t block) {
    ModelBuilder b(21);
    of_runtime(b);
    b.input("x", {1, 20});
    b.initializer("w", numbers_of(DType::u8, {weights}, 3, 37, 256));
    b.initializer("s", scales_of({scales}));
    b.initializer("z", numbers_of(DType::u8, {zeros}, 3, 37, 256));
    auto& node = b.node("MatMulNBits", {"x", "w", "s", "z"}, {"y"}, "packed");
    node.set_domain("com.microsoft");
    for (const auto& [name, value] : {std::pair("K", int64_t{20}), std::pair("N", int64_t{3}),
                                      std::pair("bits", int64_t{4}), std::pair("block_size", block)})
      set_attribute(node, name, value);
    b.output("y");
    expect_refused(b, ErrorKind::invalid, {"packed"});
  };
  refused(3 * 2 * 8 - 1, 6, 3, 16);  // 2 blocks of 16 for 20 terms
  refused(3 * 2 * 8, 5, 3, 16);
  refused(3 * 2 * 8, 6, 4, 16);
  refused(3 * 2 * 8, 6, 3, 0);
  refused(3 * 2 * 8, 6, 3, -16);
}

// float16 and bfloat16 weights stay so: those of networks in these types, and those that are cast.
TEST(NarrowWeights, FloatsOfFewerBits) {
  for (const DType type : {DType::f16, DType::bf16})
    for (const bool is_cast : {false, true}) {
      const HostTensor w = converted(numbers_of(DType::i8, {4, 3}, 1, 37, 256), type);
      ModelBuilder b(21);
      b.input("x", {2, 4}, is_cast ? 1 : type == DType::f16 ? 10 : 16);
      b.initializer("w", w);
      if (is_cast) set_attribute(b.node("Cast", {"w"}, {"f"}), "to", 1);
      b.node("MatMul", {"x", is_cast ? "f" : "w"}, {"y"});
      b.output("y");
      const Graph graph = import_onnx_bytes(b.bytes());
      const Node* node = narrow_node(graph);
      ASSERT_NE(node, nullptr) << name(type) << is_cast;
      EXPECT_EQ(graph.value(node->inputs[1]).type, (TensorType{type, {4, 3}}));
      const HostTensor x = converted(f32({2, 4}, {1, 2, 3, 4, -1, 0, 2, 0.5}), is_cast ? DType::f32 : type);
      const HostTensor y = interpret(graph, {x})[0];
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t c = 0; c < 3; ++c) {
          double sum = 0;
          for (int64_t k = 0; k < 4; ++k)
            sum += element_as_double(x, row * 4 + k) * element_as_double(w, k * 3 + c);
          EXPECT_EQ(element_as_double(y, row * 3 + c), sum)
              << name(type) << is_cast << " " << row << " " << c;
        }
    }
}

TEST(NarrowWeights, FloatsOfEightBitsAreHeldInSixteen) {
  for (const DType type : {DType::f8e4m3fn, DType::f8e5m2fnuz}) {
    const HostTensor numbers = converted(numbers_of(DType::i8, {4, 3}, 1, 37, 256), type),
                     scales = scales_of({3});
    WeightsAlone model(4, numbers, scales, std::nullopt, 1, 0);
    const Graph graph = model.times().graph();
    const Node* node = narrow_node(graph);
    ASSERT_NE(node, nullptr) << name(type);
    EXPECT_EQ(graph.value(node->inputs[1]).type, (TensorType{DType::f16, {4, 3}}));
    const HostTensor y = interpret(graph, {model.x})[0];
    for (int64_t i = 0; i < 6; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < 4; ++k)
        sum += element_as_double(model.x, i / 3 * 4 + k) * element_as_double(numbers, k * 3 + i % 3) *
               element_as_double(scales, i % 3);
      EXPECT_NEAR(element_as_double(y, i), sum, 1e-9 * (1 + std::abs(sum))) << name(type) << " " << i;
    }
  }
}

// Convolutions read float32.
TEST(NarrowWeights, SaysThatThoseOfConvolutionsBecomeFloats) {
  for (const bool is_cast : {false, true}) {
    ModelBuilder b(21);
    b.input("x", {1, 32, 3, 3}, is_cast ? 1 : 10);
    b.initializer("w", converted(scales_of({32, 32, 3, 3}), DType::f16));
    if (is_cast) set_attribute(b.node("Cast", {"w"}, {"f"}), "to", 1);
    b.node("Conv", {"x", is_cast ? "f" : "w"}, {"y"});
    b.output("y");
    std::string text;
    ImportOptions options;
    options.on_warning = [&](const std::string& line) { text += line + "\n"; };
    import_onnx_bytes(b.bytes(), options);
    EXPECT_NE(text.find("a tensor of narrow weights, 0.0 MB, is float32"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace korch
