// The whole pipeline on small networks: every strategy gives a verified executable, a warm compile repeats
// the bytes, lazy measuring finds what exhaustive measuring finds.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "korch/base/files.h"
#include "korch/driver/pipeline.h"
#include "korch/inspect/bench.h"
#include "korch/inspect/explain.h"
#include "korch/inspect/verify.h"
#include "korch/ir/text.h"
#include "korch/onnx/export.h"
#include "korch/onnx/import.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

HostTensor pattern(Shape shape, double scale) {
  HostTensor tensor(TensorType{DType::f32, shape});
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.mutable_data<float>()[i] =
        static_cast<float>(scale * (static_cast<double>((i * 2654435761u) % 1000) / 500 - 1));
  return tensor;
}

// conv + bias + relu, residual, depthwise, softmax over a matmul: a bit of everything.
Graph small_network() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 3, 14, 14}}, "x");
  ConvAttrs conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1};
  const auto constant = [&](Shape shape, double scale) {
    return g.add_constant(pattern(std::move(shape), scale));
  };
  ValueId y = g.add(Op::Conv, conv, {x, constant({20, 3, 3, 3}, 0.3)}, {"conv1"});
  y = g.add(Op::Add, NoAttrs{}, {y, constant({20, 1, 1}, 0.1)}, {"conv1"});
  y = g.add(Op::Relu, NoAttrs{}, {y}, {"relu1"});
  conv.group = 20;
  ValueId z = g.add(Op::Conv, conv, {y, constant({20, 1, 3, 3}, 0.4)}, {"depthwise"});
  z = g.add(Op::Add, NoAttrs{}, {z, y}, {"residual"});
  z = g.add(Op::Reshape, ShapeAttrs{{20, 196}}, {z}, {"flatten"});
  z = g.add(Op::MatMul, MatMulAttrs{}, {z, constant({196, 33}, 0.1)}, {"matmul"});
  const ValueId top = g.add(Op::ReduceMax, ReduceAttrs{{1}, true}, {z}, {"softmax"});
  const ValueId e =
      g.add(Op::Exp, NoAttrs{}, {g.add(Op::Sub, NoAttrs{}, {z, top}, {"softmax"})}, {"softmax"});
  const ValueId sum = g.add(Op::ReduceSum, ReduceAttrs{{1}, true}, {e}, {"softmax"});
  g.set_outputs({g.add(Op::Div, NoAttrs{}, {e, sum}, {"softmax"}), y}, {"probabilities", "features"});
  return g;
}

class Compile : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = folder_.path() + "/m.onnx";
    export_onnx(small_network(), model_);
    options_.threads = 2;
    options_.heal = false;  // a wrong kernel is to be seen
    options_.database_path = folder_.path() + "/k.db";
  }
  CompileResult compile(const std::string& name) { return compile_model(model_, path(name), options_); }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TempDir folder_;
  std::string model_;
  CompileOptions options_;
};

TEST_F(Compile, BenchSharesItsRoundsOutOverLoadings) {
  options_.strategy = Strategy::greedy;
  options_.measure = Measure::none;
  compile("a.so");
  BenchOptions options;
  options.rounds = 17;
  options.loadings = 7;
  const BenchResult result = bench({path("a.so"), path("a.so")}, options);
  ASSERT_EQ(result.rows.size(), 2u);
  for (const BenchRow& row : result.rows) {
    EXPECT_EQ(row.rounds, 17);
    EXPECT_GT(row.median_us, 0);
    EXPECT_LE(row.p10_us, row.median_us);
    EXPECT_LE(row.median_us, row.p90_us);
    EXPECT_LE(row.ratio_low, row.ratio);
    EXPECT_LE(row.ratio, row.ratio_high);
  }
  EXPECT_EQ(result.rows[0].ratio_low, 1);
  EXPECT_EQ(result.rows[0].ratio_high, 1);
}

TEST(MedianInterval, HoldsTheMedianInNineteenOfTwenty) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> times(1);  // lopsided, as times are
  constexpr double kMedian = 0.6931471805599453;
  for (int n : {6, 10, 15, 31, 61}) {
    int held = 0, above = 0, below = 0;
    constexpr int kTrials = 20000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples(n);
      for (double& sample : samples) sample = times(random);
      const MedianInterval interval = median_interval(samples);
      EXPECT_LE(interval.low, interval.median);
      EXPECT_LE(interval.median, interval.high);
      above += interval.low > kMedian;
      below += interval.high < kMedian;
      held += interval.low <= kMedian && kMedian <= interval.high;
    }
    EXPECT_GT(held, 0.945 * kTrials) << n;
    EXPECT_LT(held, 0.985 * kTrials) << n;
    EXPECT_NEAR(above, below, 0.01 * kTrials) << n;
  }
}

TEST(MedianInterval, OfFewIsTheirRange) {
  const MedianInterval interval = median_interval({3, 1, 2, 5});
  EXPECT_EQ(interval.median, 2.5);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 5);
}

TEST_F(Compile, EveryStrategyIsVerified) {
  const Graph imported = import_onnx(model_);
  for (Strategy strategy : {Strategy::optimal, Strategy::greedy, Strategy::unfused}) {
    options_.strategy = strategy;
    const CompileResult result = compile("m.so");
    EXPECT_TRUE(compare_executable(imported, path("m.so"), {.samples = 2, .seed = 7}).passed);
    EXPECT_FALSE(result.plan.steps.empty());
  }
}

// With bounds for costs, which no noise changes: every strategy chooses among columns that the program has.
TEST_F(Compile, NoStrategyBeatsTheProgram) {
  options_.measure = Measure::none;
  options_.bounds = Bounds::analytic;
  double optimal_us = 0;
  for (Strategy strategy : {Strategy::optimal, Strategy::greedy, Strategy::unfused}) {
    options_.strategy = strategy;
    const double objective_us = compile("m.so").plan.report.objective_us;
    if (strategy == Strategy::optimal) optimal_us = objective_us;
    EXPECT_GT(optimal_us, 0);
    EXPECT_LE(optimal_us, objective_us * (1 + 1e-9)) << static_cast<int>(strategy);
  }
}

// Features of a quarter of the pixels, enlarged, next to others, mixed by a convolution: mixing before
// enlarging takes a sixteenth of the products.
Graph decoder_head() {
  Graph g;
  const ValueId low = g.add_input({DType::f32, {1, 64, 8, 8}}, "low"),
                high = g.add_input({DType::f32, {1, 8, 32, 32}}, "high");
  const ValueId apart = g.add(Op::Reshape, ShapeAttrs{{1, 64, 8, 1, 8, 1}}, {low}, {"resize"});
  const ValueId repeated = g.add(Op::Expand, ShapeAttrs{{1, 64, 8, 4, 8, 4}}, {apart}, {"resize"});
  const ValueId up = g.add(Op::Reshape, ShapeAttrs{{1, 64, 32, 32}}, {repeated}, {"resize"});
  const ValueId both = g.add(Op::Concat, AxisAttrs{1}, {up, high}, {"concat"});
  const ConvAttrs conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 1};
  const ValueId y = g.add(Op::Conv, conv, {both, g.add_constant(pattern({64, 72, 1, 1}, 0.2))}, {"mix"});
  g.set_outputs({g.add(Op::Relu, NoAttrs{}, {y}, {"relu"})}, {"y"});
  return g;
}

TEST_F(Compile, AlternativesTakePartInThePlan) {
  options_.measure = Measure::none;  // on bounds, so that the choice does not depend on this machine's mood
  const Graph graph = decoder_head();
  const PlanReport with = compile_graph(graph, "head", path("with.so"), options_).plan.report;
  EXPECT_GT(with.alternatives_used.at("convolution_over_concat"), 0);
  EXPECT_GT(with.alternatives_used.at("channel_map_before_upsampling"), 0);
  EXPECT_GT(with.alternative_constant_bytes, 0);
  EXPECT_TRUE(compare_executable(graph, path("with.so"), {.samples = 2, .seed = 7}).passed);
  const PlanReport read = plan_from_json(read_plan_json(path("with.so"))).report;
  EXPECT_EQ(read.rules, with.rules);
  EXPECT_EQ(read.alternatives_used, with.alternatives_used);
  EXPECT_NE(
      explain(plan_from_json(read_plan_json(path("with.so"))), {}, {}).find("alternatives in this plan"),
      std::string::npos);

  options_.rules = {"channel_map_before_upsampling"};  // has nothing to do where the concat stays
  EXPECT_TRUE(compile_graph(graph, "head", path("one.so"), options_).plan.report.alternatives_used.empty());
  options_.rules = {"no_such_rule"};
  EXPECT_THROW(compile_graph(graph, "head", path("none.so"), options_), Error);
  options_.rules = {};
  options_.alternatives = false;
  const PlanReport without = compile_graph(graph, "head", path("without.so"), options_).plan.report;
  EXPECT_TRUE(without.rules.empty());
  EXPECT_LT(with.objective_us, without.objective_us);
}

TEST_F(Compile, WithoutMeasuring) {
  options_.measure = Measure::none;
  const CompileResult result = compile("m.so");
  EXPECT_EQ(result.measured, 0);
  EXPECT_FALSE(result.plan.report.certified);
}

TEST_F(Compile, WarmCompileMeasuresNothingAndRepeatsTheBytes) {
  compile("cold.so");
  const CompileResult warm = compile("warm.so");
  EXPECT_EQ(warm.measured, 0);
  EXPECT_EQ(warm.compiled, 0);
  EXPECT_EQ(read_file(path("cold.so")), read_file(path("warm.so")));
}

TEST_F(Compile, LazyFindsWhatExhaustiveFinds) {
  options_.measure = Measure::prove;
  options_.exhaustive = true;
  const CompileResult all = compile("all.so");
  options_.exhaustive = false;
  options_.bounds = Bounds::analytic;  // learned ones promise less
  const CompileResult lazy = compile("lazy.so");
  EXPECT_NEAR(lazy.plan.report.objective_us, all.plan.report.objective_us,
              1e-6 * all.plan.report.objective_us);
  EXPECT_LT(lazy.plan.report.measured, all.plan.report.measured);
}

TEST_F(Compile, PlanInsideTheExecutableTellsTheSteps) {
  const CompileResult result = compile("m.so");
  const Plan plan = plan_from_json(read_plan_json(path("m.so")));
  ASSERT_EQ(plan.steps.size(), result.plan.steps.size());
  EXPECT_EQ(plan.inputs[0].name, "x");
  EXPECT_EQ(plan.outputs[0].name, "probabilities");
  EXPECT_EQ(plan.report.objective_us, result.plan.report.objective_us);
  EXPECT_EQ(plan.steps[0].primitives, result.plan.steps[0].primitives);
}

TEST_F(Compile, ReportKeepsWhatWasRunWhole) {
  Plan plan = compile("m.so").plan;
  plan.report.whole_runs = {{"greedy", 120.5, 140.25}, {"solver's", 118, 150}};
  plan.flushes_subnormals = true;
  const Plan read = plan_from_json(plan_to_json(plan));
  ASSERT_EQ(read.report.whole_runs.size(), 2u);
  EXPECT_EQ(read.report.whole_runs[0].plan, "greedy");
  EXPECT_EQ(read.report.whole_runs[1].measured_us, 150);
  EXPECT_EQ(predicted_us(read.report), 120.5);
  EXPECT_TRUE(read.flushes_subnormals);
  EXPECT_NE(explain(read, {}, {}).find("greedy plan, predicted 120.5 us, measured 140.2 us, kept"),
            std::string::npos);
}

// Outputs that nothing computes, or that are other outputs, with a step to run and without one.
TEST_F(Compile, OutputsThatAreInputsConstantsAndOneAnother) {
  for (const bool computes : {true, false}) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {3, 8}}, "x"),
                  empty = graph.add_input({DType::f32, {0, 2}}, "empty");
    const ValueId constant = graph.add_constant(pattern({2, 2}, 1));
    const ValueId rows = graph.add(Op::Slice, SliceAttrs{{1, 0}, {2, 8}, {1, 1}}, {x});
    std::vector<ValueId> outputs = {x, constant, x, rows, empty, constant};
    if (computes) {
      const ValueId y = graph.add(Op::Tanh, NoAttrs{}, {x});
      outputs.insert(outputs.end(), {y, y, graph.add(Op::Reshape, ShapeAttrs{{24}}, {y})});
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < outputs.size(); ++i) names.push_back("output" + std::to_string(i));
    graph.set_outputs(outputs, names);
    for (Strategy strategy : {Strategy::optimal, Strategy::greedy, Strategy::unfused}) {
      options_.strategy = strategy;
      const CompileResult result = compile_graph(graph, "outputs", path("m.so"), options_);
      EXPECT_EQ(result.plan.outputs.size(), outputs.size());
      EXPECT_TRUE(compare_executable(graph, path("m.so"), {.samples = 1, .seed = 7}).passed);
    }
  }
}

// Weights too large to be folded otherwise, a convolution, a normalization, an opaque operator: all in 16
// bits.
TEST_F(Compile, SmallFloats) {
  options_.measure = Measure::none;
  for (const DType type : {DType::f16, DType::bf16}) {
    Graph g;
    const auto constant = [&](Shape shape, double scale) {
      return g.add_constant(converted(pattern(std::move(shape), scale), type));
    };
    const ValueId x = g.add_input({type, {1, 3, 14, 14}}, "x");
    const ConvAttrs conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1};
    ValueId y = g.add(Op::Conv, conv, {x, constant({20, 3, 3, 3}, 0.3), constant({20}, 0.1)}, {"conv"});
    y = g.add(Op::Relu, NoAttrs{}, {y}, {"relu"});
    const ValueId rows = g.add(Op::Reshape, ShapeAttrs{{4, 980}}, {y}, {"rows"});
    ValueId z = g.add(Op::MatMul, MatMulAttrs{}, {rows, constant({980, 600}, 0.05)}, {"matmul"});
    z = g.add(Op::LayerNormalization, NormAttrs{1, 1e-5, 1}, {z, constant({600}, 1)}, {"norm"});
    z = g.add(Op::Softmax, AxisAttrs{1}, {z}, {"softmax"});
    const ValueId sums = g.add(Op::CumSum, ScanAttrs{1, false, false}, {z}, {"sums"});
    g.set_outputs({sums, z, y}, {"sums", "probabilities", "features"});
    for (Strategy strategy : {Strategy::optimal, Strategy::greedy, Strategy::unfused}) {
      options_.strategy = strategy;
      compile_graph(g, "small", path("m.so"), options_);  // verifies
      EXPECT_EQ(plan_from_json(read_plan_json(path("m.so"))).outputs[0].type.dtype, type);
    }
  }
}

TEST_F(Compile, DumpsAreTheSameTwice) {
  compile("m.so");  // fills the database
  options_.dump_dir = path("dump1");
  compile("m.so");
  options_.dump_dir = path("dump2");
  compile("m.so");
  for (const char* file : {"1-imported.txt", "2-primitive.txt", "2-alternatives.txt", "3-candidates.txt",
                           "4-columns.txt", "5-plan.json", "6-tasks.txt"})
    EXPECT_EQ(read_file(path("dump1/") + file), read_file(path("dump2/") + file)) << file;
}

TEST_F(Compile, FailedCompileLeavesTheOldFile) {
  write_file(path("m.so"), "precious");
  write_file(model_, "not a network");
  EXPECT_THROW(compile("m.so"), Error);
  EXPECT_EQ(read_file(path("m.so")), "precious");
}

}  // namespace
}  // namespace korch
