// export then import gives a graph that computes the same.
#include "korch/onnx/export.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "korch/base/files.h"
#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "korch/onnx/model_file.h"

namespace korch {
namespace {

// Values between -2 and 2, exact in float, none of them repeated within a window.
HostTensor ramp(const TensorType& type) {
  HostTensor values({DType::f64, type.shape});
  for (int64_t i = 0; i < values.elements(); ++i)
    values.mutable_data<double>()[i] = static_cast<double>((i * 37 + 11) % 101 - 50) / 25;
  return converted(values, type.dtype);
}

void expect_equal(const HostTensor& a, const HostTensor& b, double tolerance) {
  ASSERT_EQ(a.type(), b.type());
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = element_as_double(a, i), y = element_as_double(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::abs(x))) << "element " << i;
  }
}

struct Case {
  const char* name;
  std::vector<TensorType> inputs;
  std::function<std::vector<ValueId>(Graph&, const std::vector<ValueId>&)> build;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const DType kF32 = DType::f32;

std::vector<Case> unary_cases() {
  std::vector<Case> cases;
  for (int i = 0; i <= static_cast<int>(Op::Trilu); ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& row = info(op);
    if (row.category != Category::elementwise || op == Op::Cast || op == Op::Where) continue;
    if (op == Op::TanhSoftplus) continue;  // rewrite rules alone make it
    const bool logical = op == Op::Not || op == Op::And || op == Op::Or || op == Op::Xor;
    const bool scalars = row.attrs_index == Attrs(ScalarAttrs{}).index();
    // ONNX's Mod with the sign of the divisor is for integers.
    const DType dtype = logical ? DType::bool_ : op == Op::Mod ? DType::i32 : kF32;
    const TensorType type{dtype, {3, 5}};
    cases.push_back({row.name, std::vector<TensorType>(row.min_inputs, type), [=](Graph& g, const auto& in) {
                       const Attrs attrs = scalars ? Attrs(ScalarAttrs{0.25, 0.5}) : Attrs(NoAttrs{});
                       return std::vector<ValueId>{g.add(op, attrs, in, {"node"}, "y")};
                     }});
  }
  return cases;
}

// One output of one primitive over float inputs of the given shapes.
Case single(const char* name, Op op, Attrs attrs, const std::vector<Shape>& shapes) {
  std::vector<TensorType> inputs;
  for (const Shape& shape : shapes) inputs.push_back({kF32, shape});
  return {name, inputs, [=](Graph& g, const auto& in) { return std::vector<ValueId>{g.add(op, attrs, in)}; }};
}

std::vector<Case> other_cases() {
  const PoolAttrs pool{{3, 2}, {2, 1}, {1, 2}, {1, 0}, {0, 1}, false};
  return {
      single("ReduceSum", Op::ReduceSum, ReduceAttrs{{0, 2}, false}, {{2, 3, 4}}),
      single("ReduceNothing", Op::ReduceMax, ReduceAttrs{{}, true}, {{2, 3}}),
      single("ReduceMax", Op::ReduceMax, ReduceAttrs{{1}, true}, {{2, 3, 4}}),
      single("ReduceMin", Op::ReduceMin, ReduceAttrs{{1}, false}, {{2, 3, 4}}),
      single("ReduceProd", Op::ReduceProd, ReduceAttrs{{0}, true}, {{2, 3, 4}}),
      single("ArgMax", Op::ArgMax, ArgReduceAttrs{1, false, true}, {{2, 3}}),
      single("ArgMin", Op::ArgMin, ArgReduceAttrs{0, true, false}, {{2, 3}}),
      single("WindowSum", Op::WindowSum, pool, {{2, 3, 7, 6}}),
      single("WindowDot", Op::WindowDot, pool, {{2, 3, 7, 6}, {3, 2, 3}}),
      single("WindowMax", Op::WindowMax, pool, {{2, 3, 7, 6}}),
      single("MaxPoolIndices", Op::MaxPoolIndices, pool, {{2, 3, 7, 6}}),
      single("Transpose", Op::Transpose, PermAttrs{{2, 0, 1}}, {{2, 3, 4}}),
      single("Reshape", Op::Reshape, ShapeAttrs{{4, 6}}, {{2, 3, 4}}),
      single("ReshapeEmpty", Op::Reshape, ShapeAttrs{{0, 6}}, {{2, 0, 4}}),
      single("Slice", Op::Slice, SliceAttrs{{1, 5, 0}, {2, 3, 4}, {1, -2, 1}}, {{3, 6, 4}}),
      single("SliceToFront", Op::Slice, SliceAttrs{{3}, {4}, {-1}}, {{5}}),
      single("PadConstant", Op::Pad, PadAttrs{{1, 0}, {0, 2}, PadMode::constant, 1.5}, {{2, 3}}),
      single("PadReflect", Op::Pad, PadAttrs{{1, 2}, {0, 2}, PadMode::reflect, 0}, {{2, 3}}),
      single("PadEdge", Op::Pad, PadAttrs{{1, 2}, {0, 2}, PadMode::edge, 0}, {{2, 3}}),
      single("Concat", Op::Concat, AxisAttrs{1}, {{2, 3}, {2, 1}, {2, 4}}),
      single("Expand", Op::Expand, ShapeAttrs{{2, 3, 4}}, {{3, 1}}),
      single("MatMul", Op::MatMul, MatMulAttrs{}, {{2, 3, 4}, {4, 5}}),
      single("MatMulTransposed", Op::MatMul, MatMulAttrs{true, true}, {{2, 4, 3}, {5, 4}}),
      single("Conv", Op::Conv, ConvAttrs{{1, 2}, {2, 1}, {1, 0}, {0, 2}, {}, 2},
             {{1, 4, 7, 8}, {6, 2, 3, 3}}),
      single("ConvTranspose", Op::ConvTranspose, ConvAttrs{{2, 2}, {1, 1}, {1, 0}, {0, 1}, {1, 0}, 2},
             {{1, 4, 5, 5}, {4, 3, 3, 3}}),
      single("CumSum", Op::CumSum, ScanAttrs{1, true, true}, {{2, 5}}),
      {"Where",
       {{DType::bool_, {3, 1}}, {kF32, {3, 4}}, {kF32, {4}}},
       [](Graph& g, const auto& in) { return std::vector<ValueId>{g.add(Op::Where, NoAttrs{}, in)}; }},
      {"Cast",
       {{kF32, {4, 5}}},
       [](Graph& g, const auto& in) {
         return std::vector<ValueId>{g.add(Op::Cast, CastAttrs{DType::i32}, in)};
       }},
      {"TopK",
       {{kF32, {3, 7}}},
       [](Graph& g, const auto& in) {
         return g.node(g.add_node(Op::TopK, TopKAttrs{1, 3, false, true}, in)).outputs;
       }},
      {"Append",
       {{kF32, {2, 5, 3}}, {kF32, {2, 3, 3}}},
       [](Graph& g, const auto& in) {
         const auto number = [&](int64_t n) {
           return g.add_constant(HostTensor::of<int64_t>(DType::i64, {}, {n}));
         };
         return std::vector<ValueId>{
             g.add(Op::Append, AppendAttrs{1, 9}, {in[0], in[1], number(4), number(2), number(3)})};
       }},
      {"Indexed",
       {{kF32, {4, 5}}},
       [](Graph& g, const auto& in) {
         const auto ints = [&](const Shape& shape, const std::vector<int64_t>& values) {
           return g.add_constant(HostTensor::of<int64_t>(DType::i64, shape, values), "indices");
         };
         const ValueId rows = g.add(Op::Gather, AxisAttrs{0}, {in[0], ints({2}, {-1, 1})}, {}, "rows");
         const ValueId picked = g.add(Op::GatherElements, AxisAttrs{1}, {in[0], ints({4, 1}, {4, 0, 2, -1})});
         const ValueId points = g.add(Op::GatherND, AxisAttrs{0}, {in[0], ints({2, 2}, {0, 1, 3, 4})});
         const ValueId put =
             g.add(Op::ScatterElements, AxisAttrs{1}, {in[0], ints({4, 1}, {4, 0, 2, 1}), picked});
         const ValueId set = g.add(Op::ScatterND, NoAttrs{}, {in[0], ints({2, 2}, {0, 1, 3, 4}), points});
         return std::vector<ValueId>{rows, picked, points, put, set};
       }},
  };
}

class RoundTrip : public testing::TestWithParam<Case> {};

TEST_P(RoundTrip, ComputesTheSame) {
  Graph graph;
  std::vector<ValueId> inputs;
  std::vector<HostTensor> tensors;
  for (const TensorType& type : GetParam().inputs) {
    inputs.push_back(graph.add_input(type, "in" + std::to_string(inputs.size())));
    tensors.push_back(ramp(type));
  }
  const std::vector<ValueId> outputs = GetParam().build(graph, inputs);
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) names.push_back("out" + std::to_string(i));
  graph.set_outputs(outputs, names);

  const Graph again = import_onnx_bytes(export_onnx_bytes(graph));
  EXPECT_EQ(again.output_names(), names);
  ASSERT_EQ(again.inputs().size(), inputs.size());
  for (Precision precision : {Precision::float64, Precision::native}) {
    const auto expected = interpret(graph, tensors, {precision, {}});
    const auto actual = interpret(again, tensors, {precision, {}});
    for (size_t i = 0; i < expected.size(); ++i)
      expect_equal(expected[i], actual[i], precision == Precision::native ? 1e-6 : 1e-13);
  }
}

const auto case_name = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Elementwise, RoundTrip, testing::ValuesIn(unary_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Others, RoundTrip, testing::ValuesIn(other_cases()), case_name);

TEST(Export, ArithmeticOfEveryType) {
  for (DType dtype : {DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64,
                      DType::u8, DType::u16, DType::u32, DType::u64}) {
    Graph graph;
    const TensorType type{dtype, {2, 3}};
    const ValueId x = graph.add_input(type, "x");
    const ValueId c = graph.add_constant(ramp(type), "c");
    graph.set_outputs({graph.add(Op::Max, NoAttrs{}, {x, graph.add(Op::Add, NoAttrs{}, {x, c})})}, {"y"});
    const Graph again = import_onnx_bytes(export_onnx_bytes(graph));
    const HostTensor in = ramp(type);
    expect_equal(interpret(graph, {in}, {Precision::native, {}})[0],
                 interpret(again, {in}, {Precision::native, {}})[0], 0);
  }
}

// The names of the interface are kept though other values have them; aliases of outputs are copied.
TEST(Export, NamesOfTheInterface) {
  Graph graph;
  const ValueId x = graph.add_input({kF32, {2}}, "x");
  const ValueId a = graph.add(Op::Neg, NoAttrs{}, {x}, {}, "x");
  const ValueId b = graph.add(Op::Relu, NoAttrs{}, {a}, {}, "first");
  const ValueId c = graph.add_constant(ramp({kF32, {2}}), "x");
  graph.set_outputs({b, b, x, c, a}, {"first", "second", "copy", "constant", "negated"});
  const Graph again = import_onnx_bytes(export_onnx_bytes(graph));
  EXPECT_EQ(again.output_names(), graph.output_names());
  EXPECT_EQ(again.value(again.inputs()[0]).name, "x");
  const HostTensor in = ramp({kF32, {2}});
  const auto expected = interpret(graph, {in}), actual = interpret(again, {in});
  for (size_t i = 0; i < expected.size(); ++i) expect_equal(expected[i], actual[i], 0);
}

TEST(Export, OneProducerPerValue) {
  Graph graph;
  const ValueId x = graph.add_input({kF32, {2}}, "x");
  const ValueId y = graph.add(Op::Abs, NoAttrs{}, {x}, {"abs"}, "y");
  const ValueId minus = graph.add(Op::Neg, NoAttrs{}, {x}, {"minus"}, "minus");
  graph.add_alternative(Op::Max, NoAttrs{}, {x, minus}, {y}, {"max"});
  graph.set_outputs({y}, {"y"});
  const Graph again = import_onnx_bytes(export_onnx_bytes(graph));
  const HostTensor in = ramp({kF32, {2}});
  expect_equal(interpret(graph, {in})[0], interpret(again, {in})[0], 0);
}

TEST(Export, RefusesWhatIsNoPrimitive) {
  Graph graph;
  const ValueId x = graph.add_input({kF32, {2, 3}}, "x");
  graph.set_outputs({graph.add(Op::Softmax, AxisAttrs{1}, {x}, {"s"}, "y")}, {"y"});
  try {
    export_onnx_bytes(graph);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("Softmax"), std::string::npos);
  }
}

TEST(Export, WritesTheFile) {
  Graph graph;
  const ValueId x = graph.add_input({kF32, {2}}, "x");
  graph.set_outputs({graph.add(Op::Neg, NoAttrs{}, {x}, {"n"}, "y")}, {"y"});
  const TempDir dir;
  export_onnx(graph, dir.path() + "/m.onnx");
  const auto model = onnx::load_model_file(dir.path() + "/m.onnx");
  EXPECT_EQ(model.opset_import(0).version(), 14);
  EXPECT_EQ(model.graph().node(0).op_type(), "Neg");
  EXPECT_THROW(export_onnx(graph, dir.path() + "/none/m.onnx"), Error);
}

}  // namespace
}  // namespace korch
