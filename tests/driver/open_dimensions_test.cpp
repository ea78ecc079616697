// Executables for a range of shapes: each run says the extents, and a wrong one is an error before anything
// runs.
#include <gtest/gtest.h>

#include <random>

#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/executable_inputs.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

// y = softmax over the rows that count of (x + z) w, for x[n, 6] and z[m, n, 6]: 1 to 7 rows, 2 to 3
// matrices.
Graph open_network() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {7, 6}}, "x"), z = g.add_input({DType::f32, {3, 7, 6}}, "z");
  const ValueId rows = g.add_input({DType::i64, {}}, "n"), matrices = g.add_input({DType::i64, {}}, "m");
  std::vector<float> weights(36);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 37 % 64) / 32 - 1;
  const ValueId w = g.add_constant(HostTensor::of<float>(DType::f32, {6, 6}, weights));
  const ValueId product = g.add(Op::MatMul, MatMulAttrs{}, {g.add(Op::Add, NoAttrs{}, {x, z}), w});
  const ValueId at = g.add_constant(HostTensor::of<int64_t>(DType::i64, {7, 1}, {0, 1, 2, 3, 4, 5, 6}));
  const ValueId nothing = g.add_constant(HostTensor::of<float>(DType::f32, {}, {-INFINITY}));
  const ValueId masked =
      g.add(Op::Where, NoAttrs{}, {g.add(Op::Less, NoAttrs{}, {at, rows}), product, nothing});
  g.set_outputs({g.add(Op::Softmax, AxisAttrs{1}, {masked}), matrices, rows}, {"y", "m", "n"},
                {{0, 0}, {0, 1}});
  g.set_open_dimensions({{"n", 1, 7, {{0, 0}, {1, 1}}}, {"m", 2, 3, {{1, 0}}}});
  return g;
}

class OpenDimensionsTest : public testing::Test {
 protected:
  std::string compiled() {
    CompileOptions options;
    options.threads = 2;
    options.measure = Measure::none;
    plan_ = compile_graph(open_network(), "open", folder_.path() + "/open.so", options).plan;
    return folder_.path() + "/open.so";
  }
  Plan plan_;
  TempDir folder_;
};

TEST_F(OpenDimensionsTest, RunsWithAnyExtents) {
  const Graph graph = open_network();
  verify(graph, GraphForm::imported);
  LoadedExecutable executable(compiled());
  EXPECT_EQ(executable.dimensions().size(), 2u);
  EXPECT_TRUE(std::any_of(plan_.steps.begin(), plan_.steps.end(),
                          [](const PlanStep& step) { return !step.limits.empty(); }));
  // Large, then small, then large again: what runs leave behind changes nothing.
  for (uint64_t seed = 1; seed < 30; ++seed) {
    const std::vector<HostTensor> inputs = random_inputs(graph, seed);
    const std::vector<HostTensor> exact = interpret(graph, inputs);
    const HostTensor wanted = exact[0].cropped(output_shapes(graph, exact)[0]);
    const HostTensor got = executable.run(dense_inputs(graph, inputs))[0];
    ASSERT_EQ(got.shape(), wanted.shape());
    for (int64_t i = 0; i < got.elements(); ++i)
      ASSERT_NEAR(element_as_double(got, i), element_as_double(wanted, i), 1e-5);
  }
}

// A cache of `past` rows and a new one, with a mask of `total` = past + 1 rows: a run with another mask is
// refused before anything is written.
TEST(OpenDimensions, ThatFollowOthersAreCheckedBeforeARun) {
  Graph g;
  const ValueId past = g.add_input({DType::f32, {4, 3}}, "past"),
                mask = g.add_input({DType::f32, {5, 1}}, "mask");
  const ValueId n = g.add_input({DType::i64, {}}, "n_past"), total = g.add_input({DType::i64, {}}, "n_total");
  g.set_outputs({g.add(Op::Abs, NoAttrs{}, {past}), g.add(Op::Neg, NoAttrs{}, {mask}), n, total},
                {"y", "m", "n_past", "n_total"}, {{0, 0}, {1, 0}});
  g.set_open_dimensions({{"n_past", 0, 4, {{0, 0}}}, {"n_total", 1, 5, {{1, 0}}, ExtentSum{1, {{0, 1}}}}});
  verify(g, GraphForm::imported);
  TempDir folder;
  CompileOptions options;
  options.measure = Measure::none;
  compile_graph(g, "cache", folder.path() + "/cache.so", options);
  LoadedExecutable executable(folder.path() + "/cache.so");
  const auto rows = [](int64_t count, int64_t width) {
    return HostTensor(TensorType{DType::f32, {count, width}});
  };
  EXPECT_EQ(executable.run({rows(2, 3), rows(3, 1)})[1].shape(), (Shape{3, 1}));
  try {
    executable.run({rows(2, 3), rows(4, 1)});
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("n_total is n_past + 1, which is 3 here, not 4"),
              std::string::npos)
        << error.what();
  }
  // What is drawn for it fits together.
  EXPECT_EQ(executable_inputs(executable, 1, {}, {{"n_past", 2}})[1].shape(), (Shape{3, 1}));
  EXPECT_EQ(executable_inputs(executable, 1, {}, {{"n_total", 3}})[0].shape(), (Shape{2, 3}));
  for (uint64_t seed = 1; seed < 8; ++seed) executable.run(dense_inputs(g, random_inputs(g, seed)));
}

// The extent of a sum says those of its terms where they are no choice, and else what to give.
TEST(OpenDimensions, WhatASumSaysOfItsTerms) {
  Graph g;
  const std::vector<std::string> names = {"a", "b", "whole"};
  const std::vector<int64_t> mosts = {3, 2, 10};
  std::vector<ValueId> outputs, extents;
  for (size_t i = 0; i < names.size(); ++i)
    outputs.push_back(
        g.add(Op::Abs, NoAttrs{}, {g.add_input({DType::f32, {mosts[i]}}, "x" + std::to_string(i))}));
  for (const std::string& name : names) extents.push_back(g.add_input({DType::i64, {}}, name));
  outputs.insert(outputs.end(), extents.begin(), extents.end());
  g.set_outputs(outputs, {"y0", "y1", "y2", "a", "b", "whole"}, {{0, 0}, {1, 0}, {2, 0}});
  g.set_open_dimensions({{"a", 0, 3, {{0, 0}}},
                         {"b", 1, 2, {{1, 0}}},
                         {"whole", 3, 10, {{2, 0}}, ExtentSum{1, {{0, 1}, {1, 2}}}}});
  verify(g, GraphForm::imported);
  TempDir folder;
  CompileOptions options;
  options.measure = Measure::none;
  compile_graph(g, "sum", folder.path() + "/sum.so", options);
  LoadedExecutable executable(folder.path() + "/sum.so");
  const auto refusal = [&](const std::map<std::string, int64_t>& given) -> std::string {
    try {
      executable_inputs(executable, 1, {}, given);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(executable_inputs(executable, 1, {}, {{"whole", 6}, {"a", 1}})[1].shape(), (Shape{2}));
  EXPECT_EQ(refusal({{"whole", 6}}), "whole is a + 2 * b + 1: give a, b too");
  EXPECT_EQ(refusal({{"whole", 6}, {"a", 2}}), "whole is a + 2 * b + 1, and no b of 1..2 makes it 6");
  EXPECT_EQ(refusal({{"whole", 9}, {"a", 0}}), "whole is a + 2 * b + 1, and no b of 1..2 makes it 9");
}

// y = tanh(x w) r, of whose rows the first n count, as a tensor of the inputs tells: maybe none.
Graph rows_from_data() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {7, 8}}, "x"), n = g.add_input({DType::i64, {}}, "n");
  std::vector<float> weights(64);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 37 % 64) / 32 - 1;
  const ValueId w = g.add_constant(HostTensor::of<float>(DType::f32, {8, 8}, weights));
  const ValueId inner = g.add(Op::Tanh, NoAttrs{}, {g.add(Op::MatMul, MatMulAttrs{}, {x, w})});
  g.set_outputs({g.add(Op::MatMul, MatMulAttrs{}, {inner, w}), n}, {"y", "n"}, {{0, 0}});
  return g;
}

TEST(RowsFromData, WithoutRowsNoStepRuns) {
  const Graph graph = rows_from_data();
  verify(graph, GraphForm::imported);
  const TempDir folder;
  CompileOptions options;
  options.threads = 2;
  options.measure = Measure::none;
  const Plan plan = compile_graph(graph, "rows", folder.path() + "/rows.so", options).plan;
  for (const PlanStep& step : plan.steps)
    for (size_t p = 0; p < plan.kernels[static_cast<size_t>(step.kernel)].phases.size(); ++p)
      EXPECT_TRUE(std::any_of(step.limits.begin(), step.limits.end(), [&](const PlanSliceLimit& limit) {
        return limit.phase == static_cast<int>(p) && limit.count == 1 &&
               limit.stride == plan.kernels[static_cast<size_t>(step.kernel)].phases[p].grid;
      })) << step.label;
  LoadedExecutable executable(folder.path() + "/rows.so");
  std::vector<HostTensor> inputs = random_inputs(graph, 1);
  for (const int64_t rows : {7, 0, 3, 0, 1}) {
    inputs[1] = HostTensor::of<int64_t>(DType::i64, {}, {rows});
    const std::vector<HostTensor> exact = interpret(graph, inputs);
    const HostTensor wanted = exact[0].cropped(output_shapes(graph, exact)[0]);
    const HostTensor got = executable.run(inputs)[0];
    ASSERT_EQ(got.shape(), wanted.shape());
    ASSERT_EQ(got.shape()[0], rows);
    for (int64_t i = 0; i < got.elements(); ++i)
      ASSERT_NEAR(element_as_double(got, i), element_as_double(wanted, i), 1e-5);
  }
}

TEST_F(OpenDimensionsTest, OtherExtentsAreErrorsThatSayWhy) {
  LoadedExecutable executable(compiled());
  const auto error_of = [&](const Shape& x, const Shape& z) {
    const std::vector<HostTensor> inputs = {HostTensor(TensorType{DType::f32, x}),
                                            HostTensor(TensorType{DType::f32, z})};
    try {
      executable.run(inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect_error = [&](const Shape& x, const Shape& z, const std::string& wanted) {
    EXPECT_NE(error_of(x, z).find(wanted), std::string::npos) << error_of(x, z);
  };
  expect_error({8, 6}, {3, 8, 6}, "input 'x', axis 0: n is 1 to 7, not 8");
  expect_error({0, 6}, {3, 0, 6}, "input 'x', axis 0: n is 1 to 7, not 0");
  expect_error({5, 6}, {3, 4, 6}, "input 'z', axis 1: n is 4 here and 5 before");
  expect_error({5, 6}, {1, 5, 6}, "input 'z', axis 0: m is 2 to 3, not 1");
  expect_error({5, 5}, {3, 5, 6}, "input 'x' is");
  EXPECT_EQ(error_of({5, 6}, {2, 5, 6}), "");
}

TEST_F(OpenDimensionsTest, RandomInputsOfSomeExtents) {
  const LoadedExecutable executable(compiled());
  const std::vector<HostTensor> inputs = executable_inputs(executable, 1, {}, {{"n", 4}});
  EXPECT_EQ(inputs[0].shape(), (Shape{4, 6}));
  EXPECT_EQ(inputs[1].shape(), (Shape{3, 4, 6}));
  EXPECT_THROW(executable_inputs(executable, 1, {}, {{"n", 8}}), Error);
  EXPECT_THROW(executable_inputs(executable, 1, {}, {{"k", 1}}), Error);
}

}  // namespace
}  // namespace korch
