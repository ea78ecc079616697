// Where arithmetic is exact in float64 (small integers), the field must say the same.
#include "korch/rewrite/field_evaluate.h"

#include <gtest/gtest.h>

#include <random>

#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

struct Case {
  const char* name;
  const char* body;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const Case kCases[] = {
    {"arithmetic", R"(
  input %x : f32[2x3x4] "x"
  input %y : f32[3x1] "y"
  %c = Constant() {splat=-1.5} : f32[]
  %a = Add(%x, %y) : f32[2x3x4]
  %b = Mul(%a, %x) : f32[2x3x4]
  %d = Sub(%b, %c) : f32[2x3x4]
  %e = Neg(%d) : f32[2x3x4]
  output %e "out")"},
    {"powers", R"(
  input %x : f32[7] "x"
  %c = Constant() {splat=3} : f32[]
  %y = Pow(%x, %c) : f32[7]
  output %y "out")"},
    {"reductions", R"(
  input %x : f32[2x3x4] "x"
  %s = ReduceSum(%x) {axes=[0,2]} : f32[1x3x1]
  %p = ReduceProd(%x) {axes=[1], keepdims=false} : f32[2x4]
  output %s "sum"
  output %p "product")"},
    {"batched_matmul", R"(
  input %a : f32[3x1x2x4] "a"
  input %b : f32[5x6x4] "b"
  %c = MatMul(%a, %b) {transpose_b=true} : f32[3x5x2x6]
  output %c "out")"},
    {"matmul_of_transposed", R"(
  input %a : f32[4x2] "a"
  input %b : f32[4x6] "b"
  %c = MatMul(%a, %b) {transpose_a=true} : f32[2x6]
  output %c "out")"},
    {"grouped_strided_dilated_convolution", R"(
  input %x : f32[2x4x9x8] "x"
  input %w : f32[6x2x3x2] "w"
  %y = Conv(%x, %w) {strides=[2,1], dilations=[1,2], pads_before=[1,0], pads_after=[1,2], group=2} : f32[2x6x5x8]
  output %y "out")"},
    {"transposed_convolution", R"(
  input %x : f32[2x4x3x5] "x"
  input %w : f32[4x3x3x3] "w"
  %y = ConvTranspose(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[1,1], group=2} : f32[2x6x6x10]
  output %y "out")"},
    {"sum_of_windows", R"(
  input %x : f32[1x2x6x7] "x"
  %y = WindowSum(%x) {kernel=[3,2], strides=[2,1], dilations=[1,1], pads_before=[1,0], pads_after=[1,1]} : f32[1x2x3x7]
  output %y "out")"},
    {"padded_with_a_number", R"(
  input %x : f32[2x3] "x"
  %y = Pad(%x) {before=[1,0], after=[0,2], value=2.5} : f32[3x5]
  output %y "out")"},
    {"reflected", R"(
  input %x : f32[4x5] "x"
  %y = Pad(%x) {before=[1,2], after=[3,1], mode=reflect} : f32[8x8]
  output %y "out")"},
    {"moved", R"(
  input %x : f32[2x3x4] "x"
  %i = Constant() {value=[2,0,2,1]} : i64[4]
  %t = Transpose(%x) {perm=[2,0,1]} : f32[4x2x3]
  %s = Slice(%t) {starts=[3,0,1], sizes=[2,2,2], steps=[-2,1,1]} : f32[2x2x2]
  %g = Gather(%x, %i) {axis=1} : f32[2x4x4]
  %r = Reshape(%s) {shape=[2,4,1]} : f32[2x4x1]
  %e = Expand(%r) {shape=[2,4,3]} : f32[2x4x3]
  %y = Concat(%g, %e) {axis=2} : f32[2x4x7]
  output %y "out")"},
    {"running_sums", R"(
  input %x : f32[3x5] "x"
  %y = CumSum(%x) {axis=1, exclusive=true, reverse=true} : f32[3x5]
  output %y "out")"},
    {"conditions", R"(
  input %x : f32[3x5] "x"
  input %m : bool[5] "m"
  input %n : i64[3x1] "n"
  %f = Cast(%n) {to=f32} : f32[3x1]
  %w = Where(%m, %x, %f) : f32[3x5]
  output %w "out")"},
};

class FieldEvaluate : public testing::TestWithParam<Case> {};

template <typename Field>
void expect_same(const Graph& graph) {
  std::mt19937_64 random(7);
  std::vector<HostTensor> inputs, elements;
  for (const ValueId input : graph.inputs()) {
    const TensorType& type = graph.value(input).type;
    HostTensor numbers(TensorType{DType::i64, type.shape});
    for (int64_t i = 0; i < numbers.elements(); ++i)
      numbers.mutable_data<int64_t>()[i] = type.dtype == DType::bool_
                                               ? static_cast<int64_t>(random() % 2)
                                               : static_cast<int64_t>(random() % 9) - 4;
    inputs.push_back(converted(numbers, type.dtype));
    if (is_float(type.dtype))
      for (int64_t i = 0; i < numbers.elements(); ++i)
        numbers.mutable_data<uint64_t>()[i] = Field::of(numbers.data<int64_t>()[i]);
    elements.push_back(is_float(type.dtype) ? numbers : inputs.back());
  }
  const std::vector<HostTensor> wanted = interpret(graph, inputs);
  const std::vector<HostTensor> got = field::evaluate(graph, elements, Field(1));
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t o = 0; o < wanted.size(); ++o) {
    ASSERT_EQ(got[o].shape(), wanted[o].shape());
    for (int64_t i = 0; i < wanted[o].elements(); ++i)
      EXPECT_EQ(got[o].data<uint64_t>()[i], Field::of(element_as_double(wanted[o], i))) << "element " << i;
  }
}

TEST_P(FieldEvaluate, AgreesOnSmallIntegers) {
  const Graph graph = parse_graph("graph {\n" + std::string(GetParam().body) + "\n}\n");
  expect_same<field::Plain>(graph);
  expect_same<field::WithExp>(graph);
}

INSTANTIATE_TEST_SUITE_P(All, FieldEvaluate, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

// Maxima pick an element: of a set of elements always the same one, whatever the order in which they are
// read.
TEST(FieldEvaluate, MaximaOfWindowsAndRowsAgree) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[1x2x4x4] "x"
  %w = WindowMax(%x) {kernel=[4,4], strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0]} : f32[1x2x1x1]
  %r = ReduceMax(%x) {axes=[2,3]} : f32[1x2x1x1]
  %i = ReduceMin(%x) {axes=[2,3]} : f32[1x2x1x1]
  output %w "window"
  output %r "row"
  output %i "least"
}
)");
  HostTensor x(TensorType{DType::i64, {1, 2, 4, 4}});
  for (int64_t i = 0; i < x.elements(); ++i)
    x.mutable_data<uint64_t>()[i] = field::Plain::random(static_cast<uint64_t>(i));
  const std::vector<HostTensor> out = field::evaluate(graph, {x}, field::Plain(3));
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(out[0].data<uint64_t>()[i], out[1].data<uint64_t>()[i]);
    EXPECT_NE(out[2].data<uint64_t>()[i], out[1].data<uint64_t>()[i]);
  }
}

}  // namespace
}  // namespace korch
