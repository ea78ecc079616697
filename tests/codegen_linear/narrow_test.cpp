// Products with narrow weights (ir/narrow.h) against the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness.h"
#include "korch/base/ceil_div.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/interp/interpreter.h"
#include "tile_graph_check.h"

namespace korch::testing {
namespace {

struct NarrowCase {
  const char* name;
  Shape x;
  int64_t columns;
  NarrowAttrs attrs;
  DType type;
  bool has_zeros;
};

const NarrowCase kNarrowCases[] = {
    {"row", {1, 256}, 200, {32, 4}, DType::i8, false},
    {"row_with_zeros", {1, 256}, 200, {64, 4}, DType::u8, true},
    {"signed_zeros", {3, 64}, 48, {16, 4}, DType::i8, true},
    {"few_rows", {5, 128}, 64, {128, 4}, DType::i8, false},
    {"rows", {70, 96}, 100, {32, 4}, DType::u8, true},
    {"batches", {2, 3, 64}, 33, {32, 4}, DType::i8, false},
    {"part_of_a_block", {2, 100}, 40, {32, 4}, DType::u8, true},
    {"part_of_a_step", {2, 101}, 40, {32, 4}, DType::i8, false},
    {"less_than_a_step", {2, 5}, 20, {32, 4}, DType::i8, false},
    {"one_block", {2, 77}, 17, {77, 4}, DType::u8, true},
    {"one_term", {2, 1}, 3, {1, 4}, DType::i8, false},
    {"one_column", {2, 40}, 1, {40, 4}, DType::i8, false},
    {"bytes", {1, 256}, 200, {256, 8}, DType::i8, false},
    {"bytes_with_zeros", {3, 100}, 70, {32, 8}, DType::u8, true},
    {"bytes_in_blocks_of_three", {2, 20}, 33, {3, 8}, DType::i8, true},
    {"bytes_of_many_rows", {70, 33}, 100, {33, 8}, DType::u8, false},
    {"halves", {1, 256}, 200, {256, 16}, DType::f16, false},
    {"halves_of_few_rows", {5, 67}, 33, {32, 16}, DType::f16, false},
    {"halves_of_many_rows", {70, 33}, 100, {33, 16}, DType::f16, false},
    {"bfloat16", {1, 256}, 200, {256, 16}, DType::bf16, false},
    {"bfloat16_of_few_rows", {5, 67}, 33, {32, 16}, DType::bf16, false},
    {"bfloat16_of_many_rows", {2, 40, 33}, 100, {33, 16}, DType::bf16, false},
    {"one_column_of_halves", {2, 40}, 1, {40, 16}, DType::f16, false},
    {"long_reduction", {2, 5000}, 17, {128, 4}, DType::i8, false},
};

// Floats among them that are subnormal in 16 bits, infinite or NaN would leave nothing to compare; those are
// tried alone.
HostTensor random_numbers(DType type, Shape shape, int64_t bits, int seed) {
  if (is_small_float(type)) return converted(random_tensor({DType::f32, std::move(shape)}, seed), type);
  HostTensor result(TensorType{type, std::move(shape)});
  std::mt19937 random(static_cast<unsigned>(seed));
  const int least = type == DType::i8 ? -(1 << (bits - 1)) : 0;
  std::uniform_int_distribution<int> draw(least, least + (1 << bits) - 1);
  for (int64_t i = 0; i < result.elements(); ++i)
    static_cast<int8_t*>(result.mutable_raw())[i] = static_cast<int8_t>(draw(random));
  return result;
}

Graph narrow_graph(const NarrowCase& c, bool fused) {
  Graph graph;
  const int64_t terms = c.x.back();
  const Shape blocks = {ceil_div(terms, c.attrs.block), c.columns};
  ValueId x = graph.add_input({DType::f32, c.x}, "x");
  if (fused) x = graph.add(Op::Relu, NoAttrs{}, {x});
  std::vector<ValueId> operands = {
      x, graph.add_constant(random_numbers(c.type, {terms, c.columns}, c.attrs.bits, 5), "numbers"),
      graph.add_constant(
          random_tensor({DType::f32, blocks}, 6,
                        1 / std::sqrt(static_cast<double>(terms)) /
                            (is_small_float(c.type) ? 1 : static_cast<double>(1 << c.attrs.bits))),
          "scales")};
  if (c.has_zeros)
    operands.push_back(graph.add_constant(random_numbers(c.type, blocks, c.attrs.bits, 7), "zeros"));
  ValueId y = graph.add(Op::NarrowMatMul, c.attrs, operands);
  if (fused) {
    y = graph.add(Op::Add, NoAttrs{},
                  {y, graph.add_constant(random_tensor({DType::f32, {c.columns}}, 8), "bias")});
    y = graph.add(Op::Mul, NoAttrs{}, {y, graph.add(Op::Sigmoid, NoAttrs{}, {y})});
  }
  graph.set_outputs({y}, {"y"});
  return graph;
}

class Narrow : public ::testing::TestWithParam<std::tuple<NarrowCase, Isa>> {};

TEST_P(Narrow, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  for (bool fused : {false, true})
    EXPECT_GE(check_family(narrow_graph(c, fused), "matmul", {.isa = isa}), 1) << fused;
}

// What devices without register tiles of theirs run.
TEST_P(Narrow, GenericMatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  const Graph graph = narrow_graph(c, false);
  const Candidate candidate = whole_graph(graph);
  const Device target = cpu_device(isa, 2);
  std::vector<Implementation> found;
  std::vector<Refusal> refused;
  list_linear_generic(graph, candidate, target, Accuracy::standard, found, refused);
  ASSERT_EQ(found.size(), 1u);
  const std::vector<HostTensor> inputs = {random_tensor({DType::f32, c.x}, 1)};
  check_tile_graph(graph, candidate, found[0], target, inputs,
                   interpret(graph, inputs, {.precision = Precision::float64, .observe = {}}), 1e-5, c.name);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Narrow,
                         ::testing::Combine(::testing::ValuesIn(kNarrowCases),
                                            ::testing::ValuesIn(isas_that_run_here())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(static_cast<int>(std::get<1>(info.param)));
                         });

// Every float of 16 bits in a column of its own: what the kernel reads is what it stands for.
TEST(NarrowFloats, AreAllReadRight) {
  for (const DType type : {DType::f16, DType::bf16})
    for (const Isa isa : isas_that_run_here()) {
      constexpr int64_t kColumns = 1 << 16;
      HostTensor numbers(TensorType{type, {1, kColumns}}), scales(TensorType{DType::f32, {1, kColumns}});
      for (int64_t i = 0; i < kColumns; ++i) {
        numbers.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(i);
        scales.mutable_data<float>()[i] = 1;
      }
      Graph graph;
      const ValueId x = graph.add_input({DType::f32, {1, 1}}, "x");
      const ValueId y =
          graph.add(Op::NarrowMatMul, NarrowAttrs{1, 16},
                    {x, graph.add_constant(numbers, "numbers"), graph.add_constant(scales, "scales")});
      graph.set_outputs({y}, {"y"});
      const CheckOptions exactly = {.isa = isa, .tolerance = 0};
      EXPECT_GE(check_family(graph, "matmul", exactly, {HostTensor::of<float>(DType::f32, {1, 1}, {1})}), 1);
    }
}

TEST(NarrowBytes, AreWhatTheKernelReads) {
  const Graph graph = narrow_graph(kNarrowCases[0], false);
  const Candidate candidate = whole_graph(graph);
  const Device target = cpu_device(Isa::x86_64_v4, 1);
  for (const Implementation& way : implementations(graph, candidate, target, Accuracy::standard))
    EXPECT_EQ(way.bytes, 256 * 200 / 2 + 256 / 32 * 200 * 4 + 256 * 4 + 200 * 4);
}

}  // namespace
}  // namespace korch::testing
