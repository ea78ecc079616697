// Loops in executables: any number of steps, nested, states that change places, what is stacked.
#include "korch/ir/loops.h"

#include <gtest/gtest.h>

#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/interp/interpreter.h"
#include "korch/package/executable.h"
#include "korch/package/loaded.h"
#include "korch/package/memory.h"

namespace korch {
namespace {

ValueId number(Graph& g, int64_t value) {
  return g.add_constant(HostTensor::of<int64_t>(DType::i64, {}, {value}));
}

// The executable, for two threads.
std::string compiled(const Graph& graph, const TempDir& folder) {
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  options.verify = false;
  compile_graph(graph, "loop", folder.path() + "/loop.so", options);
  return folder.path() + "/loop.so";
}

// x = tanh(x w + v) + u until its sum reaches the limit or the steps are done, with v = 2 u, which is no part
// of a step; stacked: each step's x. In it, as often as the step's number says: y = y + x[0].
Graph nested() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {4, 8}}, "x"), u = g.add_input({DType::f32, {8}}, "u"),
                count = g.add_input({DType::i64, {}}, "count"),
                limit = g.add_input({DType::f32, {}}, "limit");
  std::vector<float> weights(64);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 37 % 64) / 128 - 0.2F;
  const ValueId w = g.add_constant(HostTensor::of<float>(DType::f32, {8, 8}, weights));
  const ValueId yes = g.add_constant(HostTensor::of<bool>(DType::bool_, {}, {true}));
  const ValueId zeros =
      g.add(Op::Expand, ShapeAttrs{{10, 4, 8}}, {g.add_constant(HostTensor(TensorType{DType::f32, {}}))});
  const ValueId y = g.add_constant(HostTensor(TensorType{DType::f32, {1, 8}}));
  const LoopAttrs outer{0, 3};
  const std::vector<ValueId> begin =
      g.node(g.add_node(Op::LoopBegin, outer, {count, yes, x, y, y, zeros})).outputs;
  const ValueId v = g.add(Op::Add, NoAttrs{}, {u, u});
  ValueId next = g.add(Op::Add, NoAttrs{}, {g.add(Op::MatMul, MatMulAttrs{}, {begin[2], w}), v});
  next = g.add(Op::Add, NoAttrs{}, {g.add(Op::Tanh, NoAttrs{}, {next}), u});
  const ValueId sum = g.add(Op::ReduceSum, ReduceAttrs{{0, 1}, false}, {next});
  const ValueId below = g.add(Op::Less, NoAttrs{}, {sum, limit});
  const LoopAttrs inner{1, 1};
  const std::vector<ValueId> within =
      g.node(g.add_node(Op::LoopBegin, inner, {begin[0], yes, begin[3]})).outputs;
  const SliceAttrs first{{0, 0}, {1, 8}, {1, 1}};
  const ValueId more = g.add(Op::Add, NoAttrs{}, {within[2], g.add(Op::Slice, first, {next})});
  const std::vector<ValueId> done =
      g.node(g.add_node(Op::LoopEnd, inner, {within[0], begin[0], yes, more})).outputs;
  // The two last states change places.
  const std::vector<ValueId> end =
      g.node(
           g.add_node(Op::LoopEnd, outer, {begin[0], count, below, next, begin[4], done[2], begin[5], next}))
          .outputs;
  g.set_outputs({end[0], end[2], end[3], end[4], end[5]}, {"steps", "x", "y", "z", "all"});
  return g;
}

class LoopsIn : public ::testing::TestWithParam<std::tuple<Strategy, int>> {};

TEST_P(LoopsIn, ExecutablesAreThoseOfTheInterpreter) {
  const Graph graph = nested();
  verify(graph, GraphForm::imported);
  const TempDir folder;
  CompileOptions options;
  options.strategy = std::get<0>(GetParam());
  options.threads = std::get<1>(GetParam());
  options.measure = Measure::none;
  options.heal = false;
  const std::string file = folder.path() + "/loop.so";
  compile_graph(graph, "loop", file, options);
  LoadedExecutable executable(file);
  std::vector<float> x(32), u(8);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) / 7;
  for (size_t i = 0; i < u.size(); ++i) u[i] = static_cast<float>(i) / 80;
  const auto check = [&](int64_t steps, float limit) {
    const std::vector<HostTensor> inputs = {
        HostTensor::of<float>(DType::f32, {4, 8}, x), HostTensor::of<float>(DType::f32, {8}, u),
        HostTensor::of<int64_t>(DType::i64, {}, {steps}), HostTensor::of<float>(DType::f32, {}, {limit})};
    const std::vector<HostTensor> expected = interpret(graph, inputs), got = executable.run(inputs);
    for (size_t i = 0; i < got.size(); ++i)
      for (int64_t e = 0; e < got[i].elements(); ++e)
        EXPECT_NEAR(element_as_double(got[i], e), element_as_double(expected[i], e), 1e-4)
            << steps << " steps, output " << i << " element " << e;
    return got;
  };
  for (const int64_t steps : {1, 0, -3}) check(steps, 1e9F);
  const std::vector<HostTensor> all = check(10, 1e9F);
  EXPECT_EQ(element_as_int(all[0], 0), 10);
  // Now it ends where the sum of a step is as large as the largest of the first four.
  float largest = -1e9F;
  for (int64_t step = 0; step < 4; ++step) {
    double sum = 0;
    for (int64_t e = 0; e < 32; ++e) sum += element_as_double(all[4], step * 32 + e);
    largest = std::max(largest, static_cast<float>(sum));
  }
  EXPECT_LE(element_as_int(check(10, largest - 1e-3F)[0], 0), 4);
}

INSTANTIATE_TEST_SUITE_P(Ways, LoopsIn,
                         ::testing::Combine(::testing::Values(Strategy::optimal, Strategy::greedy,
                                                              Strategy::unfused),
                                            ::testing::Values(1, 2)));

// a = 2 a + 1, and b = b + a of before (`late`) or of now: what a step makes of a may stand where a is
// carried only where nothing reads that afterwards.
Graph three_states(bool late) {
  Graph g;
  const ValueId a = g.add_input({DType::f32, {4096}}, "a"), b = g.add_input({DType::f32, {64, 64}}, "b");
  const ValueId yes = g.add_constant(HostTensor::of<bool>(DType::bool_, {}, {true})), count = number(g, 5);
  const LoopAttrs attrs{0, 3};
  const std::vector<ValueId> begin = g.node(g.add_node(Op::LoopBegin, attrs, {count, yes, a, b, a})).outputs;
  const auto one = [&](float value) {
    return g.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
  };
  const ValueId twice = g.add(Op::Mul, NoAttrs{}, {begin[2], one(2)});
  const ValueId next = g.add(Op::Add, NoAttrs{}, {twice, one(1)});
  // Two products, so that a's next is made by a kernel of its own, before what reads it or the one before.
  const ValueId square = g.add(Op::Reshape, ShapeAttrs{{64, 64}}, {next});
  const ValueId read = g.add(Op::Reshape, ShapeAttrs{{64, 64}}, {late ? begin[2] : next});
  const ValueId product = g.add(Op::MatMul, MatMulAttrs{}, {square, square});
  const ValueId sum =
      g.add(Op::Add, NoAttrs{}, {g.add(Op::MatMul, MatMulAttrs{}, {product, read}), begin[3]});
  const ValueId more = g.add(Op::Add, NoAttrs{}, {begin[4], one(1)});
  const std::vector<ValueId> end =
      g.node(g.add_node(Op::LoopEnd, attrs, {begin[0], count, yes, next, sum, more})).outputs;
  g.set_outputs({end[2], end[3], end[4]}, {"a", "b", "c"});
  return g;
}

TEST(Loops, StatesAreMadeWhereTheyAreCarried) {
  for (const bool late : {false, true}) {
    const Graph graph = three_states(late);
    const TempDir folder;
    CompileOptions options;
    options.threads = 2;
    options.measure = Measure::none;
    options.heal = false;
    options.strategy = Strategy::unfused;
    const CompileResult result = compile_graph(graph, "loop", folder.path() + "/loop.so", options);
    const MemoryPlan memory = plan_memory(result.plan);
    for (const PlanStep& step : result.plan.steps) {
      if (step.label != "LoopEnd") continue;
      const std::vector<std::pair<int, int>>& pairs = result.plan.kernels[step.kernel].in_place;
      ASSERT_EQ(pairs.size(), 3U);
      for (const auto& [input, output] : pairs) {
        const rt::BufferRef &from = memory.tensors[step.inputs[input]],
                            &to = memory.tensors[step.outputs[output]];
        const bool same =
            std::tie(from.memory, from.index, from.offset) == std::tie(to.memory, to.index, to.offset);
        if (output == 3) continue;  // the products stand between
        EXPECT_EQ(same, output == 4 || !late) << (late ? "late" : "now") << ", result " << output;
      }
    }
    LoadedExecutable executable(folder.path() + "/loop.so");
    std::vector<float> a(4096), b(4096);
    for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = static_cast<float>(i % 13) / 1000;
    const std::vector<HostTensor> inputs = {HostTensor::of<float>(DType::f32, {4096}, a),
                                            HostTensor::of<float>(DType::f32, {64, 64}, b)};
    const std::vector<HostTensor> expected = interpret(graph, inputs), got = executable.run(inputs);
    for (size_t i = 0; i < got.size(); ++i)
      for (int64_t e = 0; e < got[i].elements(); ++e)
        ASSERT_NEAR(element_as_double(got[i], e) / element_as_double(expected[i], e), 1, 1e-4);
  }
}

// Nothing between its ends: the end alone, again and again.
TEST(Loops, WithoutABody) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {3}}, "x"), count = number(g, 100000);
  const ValueId yes = g.add_constant(HostTensor::of<bool>(DType::bool_, {}, {true}));
  const LoopAttrs attrs{0, 1};
  const std::vector<ValueId> begin = g.node(g.add_node(Op::LoopBegin, attrs, {count, yes, x})).outputs;
  const std::vector<ValueId> end =
      g.node(g.add_node(Op::LoopEnd, attrs, {begin[0], count, yes, begin[2]})).outputs;
  g.set_outputs({end[0], end[2]}, {"steps", "y"});
  const TempDir folder;
  LoadedExecutable executable(compiled(g, folder));
  const std::vector<HostTensor> got = executable.run({HostTensor::of<float>(DType::f32, {3}, {1, 2, 3})});
  EXPECT_EQ(element_as_int(got[0], 0), 100000);
  EXPECT_EQ(element_as_double(got[1], 2), 3);
}

// i = i + step while i < 10: without end where the step is 0.
TEST(Loops, WithoutEndAreEnded) {
  Graph g;
  const ValueId step = g.add_input({DType::i64, {}}, "step");
  const ValueId yes = g.add_constant(HostTensor::of<bool>(DType::bool_, {}, {true}));
  const ValueId most = number(g, INT64_MAX);
  const std::vector<ValueId> begin =
      g.node(g.add_node(Op::LoopBegin, LoopAttrs{0, 1}, {most, yes, number(g, 0)})).outputs;
  const ValueId next = g.add(Op::Add, NoAttrs{}, {begin[2], step});
  const ValueId below = g.add(Op::Less, NoAttrs{}, {next, number(g, 10)});
  const std::vector<ValueId> end =
      g.node(g.add_node(Op::LoopEnd, LoopAttrs{0, 1}, {begin[0], most, below, next})).outputs;
  g.set_outputs({end[0], end[2]}, {"steps", "i"});
  const TempDir folder;
  LoadedExecutable executable(compiled(g, folder));
  const auto with_step = [&](int64_t step) {
    return executable.run({HostTensor::of<int64_t>(DType::i64, {}, {step})});
  };
  const std::vector<HostTensor> got = with_step(3);
  EXPECT_EQ(element_as_int(got[0], 0), 4);
  EXPECT_EQ(element_as_int(got[1], 0), 12);
  EXPECT_THROW(with_step(0), Error);
  EXPECT_EQ(element_as_int(with_step(5)[1], 0), 10);  // it runs as before
}

}  // namespace
}  // namespace korch
