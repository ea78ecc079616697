#include <gtest/gtest.h>

#include <cmath>

#include "generate.h"
#include "harness.h"
#include "korch/codegen/passes/passes.h"
#include "korch/kernel/sum_order.h"

namespace korch::testing {
namespace {

struct MatMulCase {
  const char* name;
  Shape a, b;
  bool transpose_a, transpose_b, constant_b;
};

const MatMulCase kMatMulCases[] = {
    {"plain", {33, 48}, {48, 65}, false, false, true},
    {"row", {1, 200}, {200, 1000}, false, false, true},
    {"flat_batches", {2, 19, 40}, {40, 56}, false, false, true},
    {"conflicting_stride", {30, 512}, {512, 40}, false, false, true},
    {"transposed_b", {29, 24}, {50, 24}, false, true, true},
    {"transposed_a", {24, 29}, {24, 50}, true, false, true},
    {"dynamic", {3, 2, 17, 21}, {3, 2, 21, 37}, false, false, false},
    {"scores", {1, 4, 33, 24}, {1, 4, 47, 24}, false, true, false},
    {"broadcast_b", {4, 9, 16}, {1, 16, 20}, false, false, false},
    {"broadcast_a", {9, 16}, {4, 16, 20}, false, false, false},
    {"broadcast_both", {3, 1, 9, 16}, {1, 2, 16, 20}, false, false, false},
    {"constant_batches", {3, 9, 16}, {3, 16, 20}, false, false, true},
    {"both_transposed", {2, 18, 30}, {2, 31, 18}, true, true, false},
    {"long_reduction", {16, 5000}, {5000, 17}, false, false, false},
    {"parts", {70, 1536}, {1536, 100}, false, false, true},
    {"parts_of_conflicting_rows", {2, 20, 3072}, {3072, 50}, false, false, true},
    {"no_equal_parts", {9, 1100 + 3}, {1100 + 3, 20}, false, false, true},
    {"many", {150, 96}, {96, 300}, false, false, true},
    {"rows_of_one", {8, 1, 16}, {16, 32}, false, false, true},
    {"rows_and_batches_of_one", {3, 1, 5, 1, 16}, {16, 32}, false, false, true},
    {"innermost_batches_of_one", {5, 1, 7, 16}, {16, 32}, false, false, false},
    {"columns_of_one", {8, 1, 16}, {16, 1}, false, false, true},
};

Graph matmul_graph(const MatMulCase& c, DType type, bool epilogue) {
  Graph graph;
  const int64_t k = c.transpose_a ? c.a[c.a.size() - 2] : c.a.back();
  const double scale = is_integer(type) ? 1 : 1 / std::sqrt(static_cast<double>(k));
  const ValueId a = graph.add_input({type, c.a}, "a");
  const ValueId b = c.constant_b ? graph.add_constant(random_tensor({type, c.b}, 7, scale), "b")
                                 : graph.add_input({type, c.b}, "b");
  ValueId y = graph.add(Op::MatMul, MatMulAttrs{c.transpose_a, c.transpose_b}, {a, b});
  if (epilogue) {
    const Shape shape = graph.value(y).type.shape;
    y = graph.add(Op::Add, NoAttrs{},
                  {y, graph.add_constant(random_tensor({type, {shape.back()}}, 8), "bias")});
    y = graph.add(Op::Mul, NoAttrs{}, {y, graph.add(Op::Erf, NoAttrs{}, {y})});
    y = graph.add(Op::Add, NoAttrs{}, {y, graph.add_input({type, shape}, "residual")});
  }
  graph.set_outputs({y}, {"y"});
  return graph;
}

class MatMul : public ::testing::TestWithParam<std::tuple<MatMulCase, Isa>> {};

// Rounding errors of a sum of K terms grow with the root of K.
double tolerance(const MatMulCase& c) {
  const int64_t k = c.transpose_a ? c.a[c.a.size() - 2] : c.a.back();
  return 1e-5 * std::max(1.0, std::sqrt(k / 500.0));
}

TEST_P(MatMul, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  EXPECT_GE(
      check_family(matmul_graph(c, DType::f32, true), "matmul", {.isa = isa, .tolerance = tolerance(c)}), 1);
}

TEST_P(MatMul, GenericMatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  EXPECT_EQ(check_family(matmul_graph(c, DType::f32, true), "linear_generic",
                         {.isa = isa, .tolerance = tolerance(c)}),
            1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatMul,
                         ::testing::Combine(::testing::ValuesIn(kMatMulCases),
                                            ::testing::ValuesIn(vector_isas())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(static_cast<int>(std::get<1>(info.param)));
                         });

TEST(Rescheduled, ProductsMatchTheInterpreter) {
  for (const MatMulCase& c : kMatMulCases) {
    // In batches, and part by part; each has up to 20 schedules to compile.
    static const std::set<std::string> some = {"scores", "parts"};
    if (!some.contains(c.name)) continue;
    EXPECT_GE(check_family(matmul_graph(c, DType::f32, true), "matmul",
                           {.isa = vector_isas().back(), .tolerance = tolerance(c), .rescheduled = true}),
              1)
        << c.name;
  }
}

// Whatever the tile and the grid, each result is the sum of its terms one after the other, also where a slice
// goes through them part by part.
TEST(Rescheduled, ProductsAddUpInTheSameOrder) {
  const Device target = cpu_device(Isa::x86_64_v4, 2);
  for (const MatMulCase& c : kMatMulCases) {
    const Graph graph = matmul_graph(c, DType::f32, true);
    const Candidate candidate = whole_graph(graph);
    for (const Implementation& way : implementations(graph, candidate, target, Accuracy::standard)) {
      if (way.family != "matmul") continue;
      const auto orders = [&](const Implementation& of) {
        tile::ScheduledGraph tiles = tile_graph(graph, candidate, of, target).value();
        tile::lower_for_cpu(tiles, target);
        return tile::sum_orders(tiles);
      };
      const std::set<std::string> own = orders(way);
      EXPECT_EQ(own.size(), 1u) << c.name;
      for (const Implementation& other : rescheduled(graph, candidate, way, target))
        EXPECT_EQ(orders(other), own) << c.name << " " << to_string(other);
    }
  }
}

TEST(LinearGeneric, OtherTypes) {
  for (DType type : {DType::f64, DType::i32, DType::i64, DType::u32, DType::u64})
    for (const MatMulCase& c : kMatMulCases)
      EXPECT_EQ(check_family(matmul_graph(c, type, false), "linear_generic"), 1) << c.name;
}

// Attention's operands as the models have them: heads split by Reshape and Transpose before, joined after.
TEST(MatMul, LayoutPrologueAndEpilogue) {
  for (Isa isa : isas_that_run_here()) {
    Graph graph;
    const ValueId q = graph.add_input({DType::f32, {1, 21, 32}}, "q");
    const ValueId k = graph.add_input({DType::f32, {1, 19, 32}}, "k");
    auto heads = [&](ValueId value, int64_t rows, std::vector<int64_t> perm) {
      const ValueId split = graph.add(Op::Reshape, ShapeAttrs{{1, rows, 2, 16}}, {value});
      return graph.add(Op::Transpose, PermAttrs{std::move(perm)}, {split});
    };
    ValueId y =
        graph.add(Op::MatMul, MatMulAttrs{}, {heads(q, 21, {0, 2, 1, 3}), heads(k, 19, {0, 2, 3, 1})});
    const ValueId scale = graph.add_constant(HostTensor::of<float>(DType::f32, {}, {0.25f}), "scale");
    y = graph.add(Op::Mul, NoAttrs{}, {y, scale});
    graph.set_outputs({y}, {"scores"});
    EXPECT_GE(check_family(graph, "matmul", {.isa = isa}), 1);
  }
}

// Sequence-first tokens of one image, and steps of a decoder: the rows are counted by batch axes. What is
// computed before the product and what joins it after it read the row they stand in.
TEST(MatMul, ElementwiseNeighboursOfRowsCountedByBatches) {
  for (const Shape& rows : {Shape{8, 1}, Shape{1, 8}, Shape{3, 1, 5, 1}, Shape{4, 6, 1}, Shape{1, 1}})
    for (Isa isa : isas_that_run_here()) {
      const auto shape = [&](int64_t columns) {
        Shape whole = rows;
        whole.push_back(columns);
        return whole;
      };
      Graph graph;
      const ValueId x = graph.add_input({DType::f32, shape(16)}, "x");
      const ValueId shift = graph.add_input({DType::f32, shape(16)}, "shift");
      const ValueId scale = graph.add_input({DType::f32, shape(1)}, "scale");
      const ValueId factor = graph.add_input({DType::f32, shape(32)}, "factor");
      const ValueId sum = graph.add(Op::Relu, NoAttrs{}, {graph.add(Op::Add, NoAttrs{}, {x, shift})});
      const ValueId w = graph.add_constant(random_tensor({DType::f32, {16, 32}}, 7, 0.25), "w");
      ValueId y = graph.add(Op::MatMul, MatMulAttrs{}, {sum, w});
      y = graph.add(Op::Mul, NoAttrs{}, {y, factor});
      y = graph.add(Op::Add, NoAttrs{}, {y, scale});
      graph.set_outputs({y}, {"y"});
      EXPECT_GE(check_family(graph, "matmul", {.isa = isa}), 1) << to_string(shape(16));
    }
}

// Rows picked before the product, and a row of a table added after it, by indices that name none.
TEST(MatMul, HostileIndicesFailTheKernel) {
  for (bool before : {true, false})
    for (int64_t bad : {int64_t{6}, int64_t{-7}, int64_t{1} << 32, INT64_MAX, INT64_MIN})
      for (Isa isa : isas_that_run_here()) {
        Graph graph;
        const ValueId x = graph.add_input({DType::f32, {before ? 6 : 5, 16}}, "x");
        const ValueId i = graph.add_input({DType::i64, {5}}, "i");
        const ValueId w = graph.add_constant(random_tensor({DType::f32, {16, 20}}, 7), "w");
        ValueId y = before ? graph.add(Op::Gather, AxisAttrs{0}, {x, i}) : x;
        y = graph.add(Op::MatMul, MatMulAttrs{}, {y, w});
        if (!before) {
          const ValueId table = graph.add_input({DType::f32, {6, 20}}, "table");
          y = graph.add(Op::Add, NoAttrs{}, {y, graph.add(Op::Gather, AxisAttrs{0}, {table, i})});
        }
        graph.set_outputs({y}, {"y"});
        const HostTensor x_value = random_tensor(graph.value(x).type, 1);
        EXPECT_GE(check_family(graph, "matmul", {.isa = isa, .status = 1},
                               {x_value, HostTensor::of<int64_t>(DType::i64, {5}, {0, -1, 5, bad, 2})}),
                  1);
      }
}

TEST(MatMul, JoinedHeads) {
  for (Isa isa : isas_that_run_here()) {
    Graph graph;
    const ValueId p = graph.add_input({DType::f32, {1, 3, 20, 18}}, "p");
    const ValueId v = graph.add_input({DType::f32, {1, 3, 18, 16}}, "v");
    ValueId y = graph.add(Op::MatMul, MatMulAttrs{}, {p, v});
    y = graph.add(Op::Transpose, PermAttrs{{0, 2, 1, 3}}, {y});
    y = graph.add(Op::Reshape, ShapeAttrs{{1, 20, 48}}, {y});
    graph.set_outputs({y}, {"y"});
    EXPECT_GE(check_family(graph, "matmul", {.isa = isa}), 1);
  }
}

}  // namespace
}  // namespace korch::testing
