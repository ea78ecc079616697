// Hand-written candidates: each in every layout and on every instruction set, against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "cases.h"
#include "generate.h"
#include "kernel_runner.h"
#include "korch/ir/text.h"

namespace korch::testing {
namespace {

class LoopCandidates : public ::testing::TestWithParam<Case> {};

TEST_P(LoopCandidates, AgreeWithInterpreter) {
  EXPECT_GT(check_text(GetParam().text, {.tolerance = GetParam().tolerance, .scale = 4}), 0);
}

INSTANTIATE_TEST_SUITE_P(All, LoopCandidates, ::testing::ValuesIn(hand_written()),
                         [](const auto& info) { return std::string(info.param.name); });

class Products : public ::testing::TestWithParam<Case> {};

TEST_P(Products, AgreeWithInterpreter) {
  EXPECT_GT(check_text(GetParam().text, {.tolerance = 1e-5, .family = "linear_generic"}), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Products, ::testing::ValuesIn(products()),
                         [](const auto& info) { return std::string(info.param.name); });

Graph pools(int count, int64_t kernel) {
  Graph graph;
  ValueId y = graph.add_input({DType::f32, {1, 16, 20, 24}}, "x");
  PoolAttrs pool;
  pool.kernel = {kernel, kernel};
  pool.strides = pool.dilations = {1, 1};
  pool.pads_before = pool.pads_after = {kernel / 2, kernel / 2};
  for (int i = 0; i < count; ++i) y = graph.add(Op::WindowMax, pool, {y});
  graph.set_outputs({y}, {"y"});
  return graph;
}

// The taps of nested windows add up, in arithmetic and in text; they do not multiply.
TEST(NestedWindows, CostTheirSum) {
  const auto flops_and_text = [](int count) {
    const Graph graph = pools(count, 5);
    const Candidate candidate = whole_graph(graph);
    const Device target = test_target(Isa::x86_64_v3);
    double flops = 0;
    size_t text = 0;
    for (const Implementation& way : implementations(graph, candidate, target, Accuracy::strict)) {
      flops = way.flops;
      if (const Result<Kernel> kernel = generate(graph, candidate, way, target))
        text = std::max(text, kernel.value().source.size());
    }
    return std::pair{flops, text};
  };
  const auto [one_flops, one_text] = flops_and_text(1);
  // Of 5 taps along an axis, 3 or 4 meet elements at two positions on either side.
  EXPECT_EQ(one_flops, 16.0 * (20 * 5 - 6) * (24 * 5 - 6) - 16.0 * 20 * 24);
  const auto [three_flops, three_text] = flops_and_text(3);
  EXPECT_EQ(three_flops, 3 * one_flops);
  EXPECT_GT(three_text, 0u);
  EXPECT_LT(three_text, 4 * one_text);
}

// Far more fused primitives than a stack has room for frames, or paths through them than can be walked: text,
// or a refusal.
TEST(LongCandidates, AreRefusedOrTextWithoutRecursion) {
  const auto generated = [](const std::function<ValueId(Graph&, ValueId, int)>& step, int count) {
    Graph graph;
    ValueId y = graph.add_input({DType::f32, {8, 32}}, "x");
    for (int i = 0; i < count; ++i) y = step(graph, y, i);
    graph.set_outputs({y, graph.add(Op::ReduceMax, ReduceAttrs{{1}, false}, {y})}, {"y", "m"});
    const Candidate candidate = whole_graph(graph);
    const Device target = test_target(Isa::x86_64_v3);
    int kernels = 0;
    for (const Implementation& way : implementations(graph, candidate, target, Accuracy::strict)) {
      const Result<Kernel> kernel = generate(graph, candidate, way, target);
      kernels += kernel.ok();
      if (!kernel.ok()) {
        EXPECT_EQ(kernel.refusal().reason, RefusalReason::redundant_work);
      }
    }
    return kernels;
  };
  const auto chain = [](Graph& graph, ValueId y, int) { return graph.add(Op::Relu, NoAttrs{}, {y}); };
  const auto turns = [](Graph& graph, ValueId y, int i) {
    return i % 2 == 0 ? graph.add(Op::Transpose, PermAttrs{{1, 0}}, {y}) : graph.add(Op::Neg, NoAttrs{}, {y});
  };
  const auto squares = [](Graph& graph, ValueId y, int) { return graph.add(Op::Mul, NoAttrs{}, {y, y}); };
  EXPECT_GE(generated(chain, 5000), 1);
  EXPECT_GE(generated(turns, 5000), 1);
  EXPECT_GE(generated(squares, 200), 1);
  EXPECT_EQ(generated(chain, 30000), 0);
  EXPECT_EQ(generated(turns, 30000), 0);
}

constexpr const char* kEmbedding = R"(graph {
  input %t : f32[11x37] "table"
  input %i : i64[2x5] "ids"
  %e = Gather(%t, %i) {axis=0}
  %y = Relu(%e)
  output %y "y"
})";

TEST(Gather, RowsWithNegativeIndices) {
  const Graph graph = parse_graph(kEmbedding);
  const HostTensor ids = HostTensor::of<int64_t>(DType::i64, {2, 5}, {0, 10, 3, -1, -11, 5, 5, 2, 9, 1});
  EXPECT_GT(check_with(graph, {random_tensor({DType::f32, {11, 37}}, 1), ids}), 0);
}

TEST(Gather, OutOfRangeFailsTheKernel) {
  const Graph graph = parse_graph(kEmbedding);
  const Candidate candidate = whole_graph(graph);
  for (int64_t bad : {11, -12}) {
    const HostTensor ids = HostTensor::of<int64_t>(DType::i64, {2, 5}, {0, 10, 3, 4, 4, 5, 5, 2, bad, 1});
    const Device target = test_target(Isa::portable);
    const Implementation way = implementations(graph, candidate, target, Accuracy::strict).front();
    const Kernel kernel = generate(graph, candidate, way, target).value();
    EXPECT_EQ(
        run_kernel(graph, candidate, kernel, way, target, {random_tensor({DType::f32, {11, 37}}, 1), ids})
            .status,
        1);
  }
}

TEST(Gather, AlongTheVectorizedAxis) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[3x11x4] "x"
  input %i : i32[21] "ids"
  %e = Gather(%x, %i) {axis=1}
  %t = Transpose(%e) {perm=[0,2,1]}
  output %t "y"
})");
  std::vector<int32_t> ids;
  for (int k = 0; k < 21; ++k) ids.push_back((k * 7) % 22 - 11);
  EXPECT_GT(check_with(graph, {random_tensor({DType::f32, {3, 11, 4}}, 1),
                               HostTensor::of<int32_t>(DType::i32, {21}, ids)}),
            0);
}

// Of i32 and i64, from the first element of the data to the last one.
TEST(Gather, ElementsInLanes) {
  for (DType type : {DType::i32, DType::i64}) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {3, 7, 61}}, "x");
    const ValueId i = graph.add_input({type, {3, 5, 53}}, "i");
    const ValueId b = graph.add_input({DType::f32, {53}}, "b");
    const ValueId found = graph.add(Op::GatherElements, AxisAttrs{2}, {x, i});
    graph.set_outputs({graph.add(Op::Add, NoAttrs{}, {found, b})}, {"y"});
    HostTensor at(TensorType{DType::i64, {3, 5, 53}});
    for (int64_t k = 0; k < at.elements(); ++k) at.mutable_data<int64_t>()[k] = k * 7 % 122 - 61;
    EXPECT_GT(check_with(graph, {random_tensor({DType::f32, {3, 7, 61}}, 1), converted(at, type),
                                 random_tensor({DType::f32, {53}}, 2)}),
              0);
  }
}

TEST(Gather, ConstantIndices) {
  EXPECT_GT(check_text(R"(graph {
  input %x : f32[1x5x6x7] "x"
  %r = Constant() {value=[0,0,1,1,2,3,3,4,5,5]} : i64[10]
  %c = Constant() {value=[0,0,1,1,2,2,3,3,4,4,5,5,6,6]} : i64[14]
  %a = Gather(%x, %r) {axis=2}
  %y = Gather(%a, %c) {axis=3}
  output %y "y"
})"),
            0);
}

TEST(Gather, ConstantIndicesThatFollowAFormula) {
  EXPECT_GT(check_text(R"(graph {
  input %x : f32[1x5x6x24] "x"
  %r = Constant() {value=[0,0,0,1,1,2,2,3,3,4,4,5]} : i64[12]
  %c = Constant() {value=[0,0,1,1,2,2,3,3]} : i64[8]
  %w = Constant() {value=[21,18,15,12,9,6]} : i64[6]
  %o = Constant() {value=[-1]} : i64[1]
  %a = Gather(%x, %r) {axis=2}
  %b = Gather(%a, %c) {axis=3}
  %d = Gather(%a, %w) {axis=3}
  %e = Gather(%a, %o) {axis=1}
  output %b "b"
  output %d "d"
  output %e "e"
})"),
            0);
}

TEST(SpecialValues, PropagateAsTheOperatorsSay) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[3x24] "x"
  %r = Relu(%x)
  %t = Tanh(%x)
  %s = Sigmoid(%x)
  %e = Erf(%x)
  %m = ReduceMax(%x) {axes=[1], keepdims=true}
  %n = ReduceMin(%x) {axes=[1], keepdims=true}
  output %r "r"
  output %t "t"
  output %s "s"
  output %e "e"
  output %m "m"
  output %n "n"
})");
  std::vector<float> values(72);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25f * static_cast<float>(i) - 9;
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[30] = std::numeric_limits<float>::infinity();
  values[44] = -std::numeric_limits<float>::infinity();
  values[55] = 1e-42f;
  values[56] = -0.0f;
  EXPECT_GT(check_with(graph, {HostTensor::of<float>(DType::f32, {3, 24}, values)}), 0);
}

// A divisor for a whole row, at the ends of the range: its inverse alone would be infinite or subnormal.
TEST(SpecialValues, RowsDividedByTheSmallestAndTheLargest) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[8x24] "x"
  input %y : f32[8x1] "y"
  %q = Div(%x, %y)
  output %q "q"
})");
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> divisors = {1e-45f, -3e-39f, 1e-37f, 3.4e38f, -1.8e38f, 0, inf, 7};
  std::vector<float> dividends;
  for (float y : divisors)
    for (int i = 0; i < 24; ++i)
      dividends.push_back(i == 0   ? 0
                          : i == 1 ? inf
                          : i == 2 ? -1e-30f
                                   : 0.37f * static_cast<float>(i - 12) * (y == 0 || y == inf ? 1 : y));
  EXPECT_GT(check_with(graph, {HostTensor::of<float>(DType::f32, {8, 24}, dividends),
                               HostTensor::of<float>(DType::f32, {8, 1}, divisors)}),
            0);
}

TEST(SmallFloats, AreConvertedAndMoved) {
  for (const std::string type : {"f16", "bf16"})
    EXPECT_GT(
        check_text("graph {\n input %x : " + type + "[5x37] \"x\"\n %f = Cast(%x) {to=f32}\n %e = Exp(%f)\n" +
                       " %y = Cast(%e) {to=" + type + "}\n" + R"(
  %p = Pad(%x) {before=[1,0], after=[0,2], mode=constant, value=1.5}
  %t = Transpose(%x) {perm=[1,0]}
  output %y "y"
  output %p "p"
  output %t "t"
})",
                   {.tolerance = 0.01}),
        0);
}

// x x - max(x x) is 0 where x x is largest: no product is contracted into a difference. Else exp of it is
// infinite where x is 1e18, though every step of the network is finite.
TEST(Differences, OfWhatIsEqualAreZero) {
  constexpr int64_t kRows = 37, kColumns = 19;
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {kRows, kColumns}}, "x");
  const ValueId square = graph.add(Op::Mul, NoAttrs{}, {x, x});
  const ValueId most = graph.add(Op::ReduceMax, ReduceAttrs{{1}, true}, {square});
  graph.set_outputs({graph.add(Op::Exp, NoAttrs{}, {graph.add(Op::Sub, NoAttrs{}, {square, most})})}, {"y"});
  const Candidate candidate = whole_graph(graph);
  for (const double scale : {2.0, 1e18})
    for (Isa isa : runnable_isas()) {
      const Device target = test_target(isa);
      for (const Implementation& way : implementations(graph, candidate, target, Accuracy::strict)) {
        const Result<Kernel> kernel = generate(graph, candidate, way, target);
        if (!kernel.ok()) continue;
        const HostTensor values = random_tensor({DType::f32, {kRows, kColumns}}, 5, scale);
        const HostTensor y = run_kernel(graph, candidate, kernel.value(), way, target, {values}).outputs[0];
        for (int64_t row = 0; row < kRows; ++row) {
          const float* numbers = y.data<float>() + row * kColumns;
          EXPECT_EQ(*std::max_element(numbers, numbers + kColumns), 1) << name(isa) << ", scale " << scale;
        }
      }
    }
}

// One conversion of every value, by vectors and by single elements (a length that is no multiple of the
// lanes).
HostTensor converted_by_kernel(const HostTensor& values, DType to, Isa isa) {
  Graph graph;
  const ValueId x = graph.add_input(values.type(), "x");
  graph.set_outputs({graph.add(Op::Cast, CastAttrs{to}, {x})}, {"y"});
  const Candidate candidate = whole_graph(graph);
  const Device target = test_target(isa);
  const Implementation way = implementations(graph, candidate, target, Accuracy::strict).front();
  const Result<Kernel> kernel = generate(graph, candidate, way, target);
  return run_kernel(graph, candidate, kernel.value(), way, target, {values}).outputs[0];
}

// All float16 values, what lies halfway to the next one, and the floats beside that.
std::vector<float> around_halves() {
  std::vector<float> values;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<uint16_t>(bits));
    values.push_back(value);
    const float middle = (value + half_to_float(static_cast<uint16_t>(bits + 1))) / 2;
    values.insert(values.end(), {middle, std::nextafter(middle, -1e30f), std::nextafter(middle, 1e30f)});
  }
  values.insert(values.end(), {65519.0f, 65520.0f, 1e30f, -1e30f, 1e-40f});
  return values;
}

TEST(SmallFloats, ConvertAsTheInterpreterDoes) {
  const std::vector<float> floats = around_halves();
  const HostTensor values = HostTensor::of<float>(DType::f32, {static_cast<int64_t>(floats.size())}, floats);
  for (Isa isa : runnable_isas()) {
    for (DType type : {DType::f16, DType::bf16}) {
      const HostTensor expected = converted(values, type), actual = converted_by_kernel(values, type, isa);
      const HostTensor back = converted_by_kernel(expected, DType::f32, isa);
      int64_t different = 0;
      for (int64_t i = 0; i < values.elements(); ++i) {
        const bool nan = std::isnan(element_as_double(expected, i));
        // The instruction takes subnormal numbers for 0.
        if (type == DType::bf16 && row(isa).multiplies_bfloat16 &&
            std::fpclassify(floats[i]) == FP_SUBNORMAL && element_as_double(actual, i) == 0)
          continue;
        different +=
            nan ? !std::isnan(element_as_double(actual, i)) || !std::isnan(element_as_double(back, i))
                : actual.data<uint16_t>()[i] != expected.data<uint16_t>()[i] ||
                      element_as_double(back, i) != element_as_double(expected, i);
      }
      EXPECT_EQ(different, 0) << name(type) << " " << name(isa);
    }
  }
}

TEST(Integers, WrapAndDivideAsTheInterpreterDoes) {
  for (DType type :
       {DType::u8, DType::i8, DType::u16, DType::i16, DType::i32, DType::u32, DType::i64, DType::u64}) {
    Graph graph;
    constexpr int64_t kCount = 49;
    const ValueId a = graph.add_input({type, {kCount}}, "a"), b = graph.add_input({type, {kCount}}, "b");
    std::vector<ValueId> outputs;
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Fmod, Op::Min, Op::Max})
      outputs.push_back(graph.add(op, NoAttrs{}, {a, b}));
    for (Op op : {Op::Abs, Op::Sign}) outputs.push_back(graph.add(op, NoAttrs{}, {a}));
    graph.set_outputs(outputs, std::vector<std::string>(outputs.size(), "y"));
    // Every pair of the values where something can go wrong; narrower types keep the low bits.
    const int64_t corners[] = {0, 1, -1, 127, -128, INT64_MIN, INT64_MAX};
    std::vector<int64_t> left, right;
    for (int64_t x : corners)
      for (int64_t y : corners) {
        const int64_t high = size_bytes(type) == 8 ? x : x >> (64 - 8 * static_cast<int>(size_bytes(type)));
        left.push_back(x == INT64_MIN || x == INT64_MAX ? high : x);
        right.push_back(y);
      }
    const auto tensor = [&](const std::vector<int64_t>& values) {
      return converted(HostTensor::of<int64_t>(DType::i64, {kCount}, values), type);
    };
    EXPECT_GT(check_with(graph, {tensor(left), tensor(right)}), 0) << name(type);
  }
}

TEST(Integers, ComeFromFloatsAsTheInterpreterConverts) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {nan,   infinity, -infinity, 300,  -300,  3e9f, -3e9f,
                               1e19f, -1e19f,   1e30f,     0.9f, -0.9f, 2.5f};
  for (int i = 0; i < 20; ++i) values.push_back(static_cast<float>(i) - 9.5f);
  const HostTensor input = HostTensor::of<float>(DType::f32, {static_cast<int64_t>(values.size())}, values);
  for (DType type : {DType::u8, DType::i8, DType::i32, DType::u32, DType::i64, DType::u64, DType::bool_}) {
    Graph graph;
    const ValueId x = graph.add_input(input.type(), "x");
    graph.set_outputs({graph.add(Op::Cast, CastAttrs{type}, {x})}, {"y"});
    EXPECT_GT(check_with(graph, {input}, {.tolerance = 0}), 0) << name(type);
  }
}

// Min and Max with constants tell what an instruction may convert: in either order, and with a bound of 0.
TEST(Integers, ComeFromBoundedFloats) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {nan,    infinity, -infinity, 300,  -300,  3e9f,   -3e9f, 1e30f,
                               -1e30f, 0.0f,     -0.0f,     0.9f, -0.9f, 254.9f, 255.1f};
  while (values.size() < 37) values.push_back(static_cast<float>(values.size()) * 11.5f - 260);
  const HostTensor input = HostTensor::of<float>(DType::f32, {static_cast<int64_t>(values.size())}, values);
  for (DType type : {DType::u8, DType::i8, DType::u16, DType::i16, DType::i32}) {
    Graph graph;
    const ValueId x = graph.add_input(input.type(), "x"), whole = graph.add(Op::Round, NoAttrs{}, {x});
    const auto bounded = [&](Op op, ValueId value, float bound) {
      return graph.add(op, NoAttrs{},
                       {value, graph.add_constant(HostTensor::of<float>(DType::f32, {}, {bound}), "bound")});
    };
    std::vector<ValueId> outputs;
    for (const auto& [low, high] :
         {std::pair{0.0f, 255.0f}, std::pair{-128.0f, 127.0f}, std::pair{-5.0f, 0.0f},
          std::pair{-4e9f, 255.0f}, std::pair{0.0f, 4e9f}, std::pair{-0.5f, 30.5f}})
      for (ValueId value : {x, whole}) {
        outputs.push_back(bounded(Op::Max, bounded(Op::Min, value, high), low));
        outputs.push_back(bounded(Op::Min, bounded(Op::Max, value, low), high));
      }
    for (ValueId& output : outputs) output = graph.add(Op::Cast, CastAttrs{type}, {output});
    graph.set_outputs(outputs, std::vector<std::string>(outputs.size(), "y"));
    EXPECT_GT(check_with(graph, {input}, {.tolerance = 0}), 0) << name(type);
  }
}

TEST(Refusals, LinearPrimitivesAndHalfPrecision) {
  const Graph linear = parse_graph(R"(graph {
  input %x : f32[3x4] "x"
  input %w : f32[4x5] "w"
  %y = MatMul(%x, %w) {transpose_a=false, transpose_b=false}
  output %y "y"
})");
  const Graph half = parse_graph(R"(graph {
  input %x : f16[3x4] "x"
  %y = Relu(%x)
  output %y "y"
})");
  for (const Graph* graph : {&linear, &half})
    for (const Implementation& way :
         implementations(*graph, whole_graph(*graph), test_target(Isa::portable), Accuracy::strict))
      EXPECT_NE(way.family, "loop");
}

TEST(Determinism, SameTextTwice) {
  const Graph graph = parse_graph(hand_written()[6].text);
  const Candidate candidate = whole_graph(graph);
  const Device target = test_target(Isa::x86_64_v4);
  const Implementation way = implementations(graph, candidate, target, Accuracy::strict).front();
  EXPECT_EQ(generate(graph, candidate, way, target).value().source,
            generate(graph, candidate, way, target).value().source);
}

}  // namespace
}  // namespace korch::testing
