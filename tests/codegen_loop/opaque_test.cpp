// Opaque primitives against the interpreter.
#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "generate.h"
#include "kernel_runner.h"
#include "korch/interp/interpreter.h"

namespace korch::testing {
namespace {

const CheckOptions kOpaque = {.tolerance = 2e-6, .family = "opaque"};

HostTensor indices(const Shape& shape, int64_t extent) {
  HostTensor result(TensorType{DType::i64, shape});
  for (int64_t i = 0; i < result.elements(); ++i)
    result.mutable_data<int64_t>()[i] = (i * 5) % (2 * extent) - extent;
  return result;
}

TEST(Opaque, CumSum) {
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true}) {
      Graph graph;
      const ValueId x = graph.add_input({DType::f32, {3, 9, 5}}, "x");
      graph.set_outputs({graph.add(Op::CumSum, ScanAttrs{1, exclusive, reverse}, {x})}, {"y"});
      EXPECT_GT(check(graph, kOpaque), 0);
    }
}

// Their sums leave the type, and wrap around.
TEST(Opaque, CumSumOfIntegersWraps) {
  const std::pair<DType, double> cases[] = {
      {DType::i8, 120}, {DType::u8, 250}, {DType::i16, 3e4}, {DType::i32, 2e9}, {DType::i64, 9e18}};
  for (const auto& [dtype, scale] : cases) {
    Graph graph;
    const ValueId x = graph.add_input({dtype, {3, 9, 5}}, "x");
    graph.set_outputs({graph.add(Op::CumSum, ScanAttrs{1, false, false}, {x})}, {"y"});
    EXPECT_GT(check(graph, {.scale = scale, .family = "opaque"}), 0) << name(dtype);
  }
}

TEST(Opaque, TopKWithTies) {
  for (bool largest : {false, true}) {
    Graph graph;
    const ValueId x = graph.add_input({DType::i32, {4, 30, 3}}, "x");
    const NodeId node = graph.add_node(Op::TopK, TopKAttrs{1, 7, largest, true}, {x});
    const std::vector<ValueId> outputs = graph.node(node).outputs;
    graph.set_outputs(outputs, {"values", "indices"});
    EXPECT_GT(check(graph, {.scale = 9, .family = "opaque"}), 0);
    graph.set_outputs({outputs[1]}, {"indices"});  // the values go to a temporary
    EXPECT_GT(check(graph, {.scale = 9, .family = "opaque"}), 0);
  }
}

// As in NumPy, a NaN counts as larger than every number.
TEST(Opaque, TopKOfNaNs) {
  const float nan = NAN;
  const HostTensor x = HostTensor::of<float>(
      DType::f32, {2, 6}, {3, nan, 5, -INFINITY, INFINITY, 5, nan, 1, nan, nan, 2, INFINITY});
  for (bool largest : {false, true}) {
    Graph graph;
    const ValueId in = graph.add_input({DType::f32, {2, 6}}, "x");
    graph.set_outputs(graph.node(graph.add_node(Op::TopK, TopKAttrs{1, 5, largest, true}, {in})).outputs,
                      {"values", "indices"});
    const std::vector<int64_t> best = as_int_vector(interpret(graph, {x})[1]);
    EXPECT_EQ(best, largest ? std::vector<int64_t>({1, 4, 2, 5, 0, 0, 2, 3, 5, 4})
                            : std::vector<int64_t>({3, 0, 2, 5, 4, 1, 4, 5, 0, 2}));
    EXPECT_GT(check_with(graph, {x}, kOpaque), 0);
  }
}

TEST(Opaque, GatherAndScatterElements) {
  Graph gather;
  ValueId x = gather.add_input({DType::f32, {3, 8, 5}}, "x");
  ValueId i = gather.add_input({DType::i64, {2, 6, 5}}, "i");
  gather.set_outputs({gather.add(Op::GatherElements, AxisAttrs{1}, {x, i})}, {"y"});
  const HostTensor data = random_tensor({DType::f32, {3, 8, 5}}, 1);
  EXPECT_GT(check_with(gather, {data, indices({2, 6, 5}, 8)}), 0);

  Graph scatter;
  x = scatter.add_input({DType::f32, {3, 8, 5}}, "x");
  i = scatter.add_input({DType::i64, {2, 6, 5}}, "i");
  const ValueId u = scatter.add_input({DType::f32, {2, 6, 5}}, "u");
  scatter.set_outputs({scatter.add(Op::ScatterElements, AxisAttrs{1}, {x, i, u})}, {"y"});
  EXPECT_GT(
      check_with(scatter, {data, indices({2, 6, 5}, 8), random_tensor({DType::f32, {2, 6, 5}}, 2)}, kOpaque),
      0);
}

TEST(Opaque, GatherAndScatterSlices) {
  Graph gather;
  ValueId x = gather.add_input({DType::f32, {2, 6, 6, 4}}, "x");
  ValueId i = gather.add_input({DType::i64, {2, 3, 2}}, "i");
  gather.set_outputs({gather.add(Op::GatherND, AxisAttrs{1}, {x, i})}, {"y"});
  const HostTensor data = random_tensor({DType::f32, {2, 6, 6, 4}}, 1);
  EXPECT_GT(check_with(gather, {data, indices({2, 3, 2}, 6)}, kOpaque), 0);

  Graph scatter;
  x = scatter.add_input({DType::f32, {6, 6, 4}}, "x");
  i = scatter.add_input({DType::i64, {5, 2}}, "i");
  const ValueId u = scatter.add_input({DType::f32, {5, 4}}, "u");
  scatter.set_outputs({scatter.add(Op::ScatterND, NoAttrs{}, {x, i, u})}, {"y"});
  EXPECT_GT(check_with(scatter,
                       {random_tensor({DType::f32, {6, 6, 4}}, 3), indices({5, 2}, 6),
                        random_tensor({DType::f32, {5, 4}}, 2)},
                       kOpaque),
            0);
}

class OpaqueCases : public ::testing::TestWithParam<Case> {};

TEST_P(OpaqueCases, AgreeWithInterpreter) {
  EXPECT_GT(check_text(GetParam().text, {.tolerance = GetParam().tolerance, .family = "opaque"}), 0);
}

INSTANTIATE_TEST_SUITE_P(All, OpaqueCases, ::testing::ValuesIn(opaque_primitives()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Opaque, MaxPoolIndices) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {2, 3, 7, 9}}, "x");
  const PoolAttrs pool{{3, 2}, {2, 1}, {1, 2}, {1, 0}, {0, 1}, false};
  graph.set_outputs({graph.add(Op::MaxPoolIndices, pool, {x})}, {"y"});
  EXPECT_GT(check(graph, kOpaque), 0);
}

// Whatever the indices hold, in whatever place: the kernel fails and touches nothing outside of its buffers,
// which end at unmapped pages.
TEST(Opaque, HostileIndicesFailTheKernel) {
  struct Case {
    Op op;
    Attrs attrs;
    Shape data, indices, updates;
  };
  const Case cases[] = {
      {Op::Gather, AxisAttrs{1}, {3, 4}, {2, 3}, {}},
      {Op::GatherElements, AxisAttrs{0}, {4, 3}, {2, 3}, {}},
      {Op::GatherElements, AxisAttrs{1}, {2, 4}, {2, 37}, {}},
      {Op::GatherND, AxisAttrs{0}, {4, 4, 3}, {3, 2}, {}},
      {Op::GatherND, AxisAttrs{1}, {3, 4, 3}, {3, 2, 1}, {}},
      {Op::ScatterElements, AxisAttrs{0}, {4, 3}, {2, 3}, {2, 3}},
      {Op::ScatterND, NoAttrs{}, {4, 4, 3}, {3, 2}, {3, 3}},
  };
  const int64_t hostile[] = {4, -5, 1 << 20, -(1 << 20), INT32_MAX, INT32_MIN};
  const int64_t wide[] = {int64_t{1} << 32, (int64_t{1} << 32) + 1, -(int64_t{1} << 32), INT64_MAX,
                          INT64_MIN};
  for (const Case& c : cases)
    for (DType type : {DType::i32, DType::i64}) {
      Graph graph;
      std::vector<ValueId> operands = {graph.add_input({DType::f32, c.data}, "x"),
                                       graph.add_input({type, c.indices}, "i")};
      if (!c.updates.empty()) operands.push_back(graph.add_input({DType::f32, c.updates}, "u"));
      graph.set_outputs({graph.add(c.op, c.attrs, operands)}, {"y"});
      const Candidate candidate = whole_graph(graph);
      std::vector<int64_t> values(std::begin(hostile), std::end(hostile));
      if (type == DType::i64) values.insert(values.end(), std::begin(wide), std::end(wide));
      for (Isa isa : {Isa::portable, runnable_isas().back()}) {
        const Device target = test_target(isa);
        const Implementation way = implementations(graph, candidate, target, Accuracy::strict).front();
        const Kernel kernel = generate(graph, candidate, way, target).value();
        for (int64_t value : values)
          for (int64_t place : {int64_t{0}, element_count(c.indices) / 2, element_count(c.indices) - 1}) {
            HostTensor bad(TensorType{DType::i64, c.indices});
            for (int64_t i = 0; i < bad.elements(); ++i)
              bad.mutable_data<int64_t>()[i] = i == place ? value : i % 8 - 4;
            std::vector<HostTensor> inputs = {random_tensor({DType::f32, c.data}, 1), converted(bad, type)};
            if (!c.updates.empty()) inputs.push_back(random_tensor({DType::f32, c.updates}, 2));
            EXPECT_EQ(run_kernel(graph, candidate, kernel, way, target, inputs).status, 1)
                << name(c.op) << " of " << value << " at " << place;
          }
      }
    }
}

}  // namespace
}  // namespace korch::testing
