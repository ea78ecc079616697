// Compile that heals itself: kernels that are wrong on purpose, and that fail.
#include "korch/driver/heal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "korch/backend/cpu/compiler.h"
#include "korch/base/files.h"
#include "korch/inspect/explain.h"
#include "korch/inspect/verify.h"
#include "korch/package/executable.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

HostTensor ramp(Shape shape) {
  HostTensor tensor(TensorType{DType::f32, std::move(shape)});
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 2654435761U) % 1000) / 2000 - 0.25F;
  return tensor;
}

// Two products with something elementwise between and behind them.
Graph network() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {12, 40}}, "x");
  ValueId y = g.add(Op::MatMul, MatMulAttrs{}, {x, g.add_constant(ramp({40, 24}))}, {"first"});
  y = g.add(Op::Tanh, NoAttrs{}, {y}, {"tanh"});
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(ramp({24, 36}))}, {"second"});
  g.set_outputs({g.add(Op::Softmax, AxisAttrs{1}, {y}, {"softmax"})}, {"y"});
  return g;
}

HostTensor whole_numbers(Shape shape) {
  HostTensor tensor(TensorType{DType::f32, std::move(shape)});
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 2654435761U) % 255) - 127;
  return tensor;
}

HostTensor number(float value) {
  return HostTensor::of<float>(DType::f32, {}, {value});
}

// Two products of numbers that are rounded to 0, 1, ..., 255, by weights that are whole: where the target has
// it, products of bytes. Between them something that kernels exchange as numbers or as bytes.
Graph quantized_network() {
  Graph g;
  const auto rounded = [&](ValueId x, float scale) {
    x = g.add(Op::Mul, NoAttrs{}, {x, g.add_constant(number(scale))});
    x = g.add(Op::Max, NoAttrs{}, {g.add(Op::Round, NoAttrs{}, {x}), g.add_constant(number(0))});
    return g.add(Op::Min, NoAttrs{}, {x, g.add_constant(number(255))});
  };
  ValueId y = rounded(g.add_input({DType::f32, {12, 40}}, "x"), 50);
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(whole_numbers({40, 24}))}, {"first"});
  y = rounded(y, 0.01F);
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(whole_numbers({24, 36}))}, {"second"});
  y = g.add(Op::Mul, NoAttrs{}, {y, g.add_constant(number(1e-4F))});
  g.set_outputs({g.add(Op::Softmax, AxisAttrs{1}, {y}, {"softmax"})}, {"y"});
  return g;
}

// What rules put into the second product's weights stands between two kernels: the factor before it.
Graph network_with_a_factor() {
  Graph g;
  ValueId y = g.add_input({DType::f32, {12, 40}}, "x");
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(ramp({40, 24}))}, {"first"});
  y = g.add(Op::Tanh, NoAttrs{}, {y}, {"tanh"});
  y = g.add(Op::Mul, NoAttrs{}, {y, g.add_constant(ramp({24}))}, {"factor"});
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(ramp({24, 36}))}, {"second"});
  y = g.add(Op::Mul, NoAttrs{}, {y, g.add_constant(ramp({36}))}, {"last"});
  g.set_outputs({g.add(Op::Softmax, AxisAttrs{1}, {y}, {"softmax"})}, {"y"});
  return g;
}

Graph tanh_of_maximum(Shape shape) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, std::move(shape)}, "x");
  const ValueId y = g.add(Op::Max, NoAttrs{}, {x, g.add_constant(number(0))}, {"max"});
  g.set_outputs({g.add(Op::Tanh, NoAttrs{}, {y}, {"tanh"})}, {"y"});
  return g;
}

Graph one_exp() {
  Graph g;
  g.set_outputs({g.add(Op::Exp, NoAttrs{}, {g.add_input({DType::f32, {5, 7}}, "x")}, {"exp"})}, {"y"});
  return g;
}

class Heal : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.threads = 2;
    options_.measure = Measure::none;  // which kernels are chosen depends on the database's speeds alone
    options_.database_path = path("k.db");
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  CompileResult compile(const Graph& graph, const std::string& name = "m.so") {
    return compile_graph(graph, "network", path(name), options_);
  }

  // A kernel that the plan for `graph` takes, by step.
  Kernel chosen_kernel(const Graph& graph, size_t step) {
    const Plan plan = compile(graph, "right.so").plan;
    return plan.kernels[plan.steps.at(step).kernel];
  }

  static std::string source_that_returns(const Kernel& kernel, int code) {
    std::string source;
    for (const KernelPhase& phase : kernel.phases)
      source += "extern \"C\" int " + phase.symbol + "(const void*, long, long) { return " +
                std::to_string(code) + "; }\n";
    return source;
  }

  // From now on the database holds an object for this kernel that only returns `code`; of bytes, which may be
  // multiplied in tiles, too.
  void spoil(const Kernel& kernel, int code) {
    for (const std::string& target : {native_code(), with_matrix_tiles(native()).code}) {
      Result<std::string> object = compile_object(source_that_returns(kernel, code), target);
      ASSERT_TRUE(object.ok());
      Database(options_.database_path)
          .put_object(hash_text(compiler_version() + target + kernel.source), object.value());
    }
  }

  // The same for a kernel with a maximum: right on all numbers, and it drops a NaN.
  void let_nan_drop(const Kernel& kernel) {
    std::string source = kernel.source;
    const std::string keeps = "return a != a ? a : r;";
    ASSERT_NE(source.find(keeps), std::string::npos);
    for (size_t at = source.find(keeps); at != std::string::npos; at = source.find(keeps, at))
      source.replace(at, keeps.size(), "return r;");
    Result<std::string> object = compile_object(source, native_code());
    ASSERT_TRUE(object.ok());
    Database(options_.database_path)
        .put_object(hash_text(compiler_version() + native_code() + kernel.source), object.value());
  }

  // Of a wrong m.so: what looks wrong by the first of longer and longer deadlines by which something does;
  // empty where nothing does.
  std::string suspicion(const Graph& graph, const Plan& plan) {
    for (double seconds = 1e-4; seconds < 1000; seconds *= 1.2) try {
        if (find_fault(graph, plan, path("m.so"), "m", true, Deadline(seconds))) return "";
      } catch (const Undecided& undecided) {
        return undecided.what;
      } catch (const BudgetSpent&) {
      }
    return "";
  }

  void expect_healed(const Graph& graph, const CompileResult& result, const Kernel& struck) {
    EXPECT_TRUE(compare_executable(graph, path("m.so"), {.samples = 2, .seed = 5}).passed);
    ASSERT_EQ(result.plan.report.struck.size(), 1U);
    EXPECT_EQ(result.plan.report.struck[0].key, struck.key().hex());
    for (const Kernel& kernel : result.plan.kernels) EXPECT_NE(kernel.key().hex(), struck.key().hex());
    const Plan stored = plan_from_json(read_plan_json(path("m.so")));
    ASSERT_EQ(stored.report.struck.size(), 1U);
    EXPECT_NE(
        explain(stored, {}, {}).find("struck, so that no plan takes it: " + stored.report.struck[0].kernel),
        std::string::npos);
  }

  std::string reproducer(const Kernel& kernel) const {
    return path("m.so.struck/" + kernel.key().hex().substr(0, 12));
  }

  // The exit code of `sh run.sh` and what it prints.
  std::pair<int, std::string> run_reproducer(const Kernel& kernel) const {
    const std::string command = "cd '" + reproducer(kernel) + "' && sh run.sh 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {-1, ""};
    std::array<char, 4096> text{};
    const size_t length = fread(text.data(), 1, text.size(), pipe);
    return {WEXITSTATUS(pclose(pipe)), std::string(text.data(), length)};
  }

  static Device native() { return detect_device("native", 2); }
  static std::string native_code() { return native().code; }

  TempDir folder_;
  CompileOptions options_;
};

// A busy machine, or one with a single processor, adds a warning of its own.
std::vector<std::string> without_the_machines(std::vector<std::string> warnings) {
  std::erase_if(warnings, [](const std::string& warning) {
    return warning.find("this machine is busy") != std::string::npos ||
           warning.find("take turns") != std::string::npos;
  });
  return warnings;
}

TEST_F(Heal, StrikesAKernelThatDropsNan) {
  const Graph graph = tanh_of_maximum({6, 40});
  const Kernel kernel = chosen_kernel(graph, 0);
  let_nan_drop(kernel);
  const CompileResult result = compile(graph);
  expect_healed(graph, result, kernel);
}

TEST_F(Heal, WrongKernelsAreStruck) {
  const Graph graph = network();
  const std::pair<Strategy, size_t> cases[] = {
      {Strategy::optimal, 0}, {Strategy::optimal, 1}, {Strategy::greedy, 0}};
  for (const auto& [strategy, step] : cases) {
    SCOPED_TRACE("strategy " + std::to_string(static_cast<int>(strategy)) + ", step " + std::to_string(step));
    options_.strategy = strategy;
    options_.database_path += "+";
    const Kernel kernel = chosen_kernel(graph, step);
    spoil(kernel, 0);
    const CompileResult result = compile(graph);
    expect_healed(graph, result, kernel);
    const std::vector<std::string> warnings = without_the_machines(result.warnings);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("kernel struck"), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find(reproducer(kernel)), std::string::npos) << warnings[0];
    EXPECT_EQ(read_file(reproducer(kernel) + "/kernel.cpp"), kernel.source);

    // The database remembers: nothing goes wrong a second time.
    const CompileResult again = compile(graph);
    EXPECT_TRUE(without_the_machines(again.warnings).empty());
    expect_healed(graph, again, kernel);
  }
}

// The plan is for a graph that only this compilation knows: rules for bytes apply to some targets alone.
TEST_F(Heal, WrongKernelsOfQuantizedNetworksAreStruck) {
  if (!detect_device("native", 2).multiplies_bytes) GTEST_SKIP() << "this machine does not multiply bytes";
  const Graph graph = quantized_network();
  for (size_t step = 0;; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    options_.database_path += "+";  // in which this machine's speeds are measured anew: plans may differ
    const Plan right = compile(graph, "right.so").plan;
    if (step >= right.steps.size()) {
      EXPECT_GE(step, 2U);
      break;
    }
    const Kernel kernel = right.kernels[right.steps[step].kernel];
    spoil(kernel, 0);
    const CompileResult result = compile(graph);
    expect_healed(graph, result, kernel);
    const std::vector<std::string> warnings = without_the_machines(result.warnings);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("kernel struck"), std::string::npos) << warnings[0];
  }
}

// Alternatives end when the time does, so that no rule that is applied afterwards makes the plan's graph
// again.
TEST_F(Heal, WrongKernelsAreStruckWhenTheBudgetIsSpent) {
  for (const Graph& graph : {network_with_a_factor(), quantized_network()}) {
    options_.database_path += "+";
    options_.budget_s = 1e-6;  // a check may take two seconds more
    const Kernel kernel = chosen_kernel(graph, 1);
    spoil(kernel, 0);
    const CompileResult result = compile(graph);
    const std::vector<std::string> warnings = without_the_machines(result.warnings);
    if (warnings.at(0).find("not verified") != std::string::npos)
      GTEST_SKIP() << "this machine is too busy to verify within two seconds";
    expect_healed(graph, result, kernel);
    EXPECT_NE(warnings[0].find("kernel struck"), std::string::npos) << warnings[0];
  }
}

TEST_F(Heal, AMemoizedPlanWithAStruckKernelIsNotReplayed) {
  const Graph graph = network();
  const Kernel kernel = chosen_kernel(graph, 0);  // and the memo of its plan is in the database
  {
    Database database(options_.database_path);
    Strikes(&database, native()).strike({kernel.key().hex(), "a kernel", "told so"});
  }
  const CompileResult result = compile(graph);
  expect_healed(graph, result, kernel);
  EXPECT_EQ(result.plan.report.struck[0].reason, "told so");
  options_.heal = false;  // what was struck counts no more
  bool taken = false;
  for (const Kernel& k : compile(graph).plan.kernels) taken = taken || k.key() == kernel.key();
  EXPECT_TRUE(taken);
}

TEST_F(Heal, SwitchedOffAWrongKernelIsAnError) {
  const Graph graph = network();
  const Kernel kernel = chosen_kernel(graph, 1);
  spoil(kernel, 0);
  options_.heal = false;
  try {
    compile(graph);
    FAIL() << "a wrong executable was kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::accuracy);
    EXPECT_NE(std::string(error.what()).find("first wrong kernel: step 1 ("), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(file_exists(path("m.so")));
  EXPECT_FALSE(file_exists(path("m.so.struck")));
}

TEST_F(Heal, KernelsThatFailAreStruck) {
  const Graph graph = network();
  const Kernel kernel = chosen_kernel(graph, 1);
  spoil(kernel, 99);
  const CompileResult result = compile(graph);
  expect_healed(graph, result, kernel);
  EXPECT_NE(result.plan.report.struck[0].reason.find("unknown code"), std::string::npos);
  EXPECT_EQ(result.plan.report.struck[0].reason.find("draft"), std::string::npos);
}

TEST_F(Heal, WithoutAnotherKernelThereIsNoPlan) {
  const Graph graph = one_exp();
  options_.strategy = Strategy::unfused;
  const Kernel kernel = chosen_kernel(graph, 0);
  spoil(kernel, 0);
  try {
    compile(graph);
    FAIL() << "a wrong executable was kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::accuracy);
    EXPECT_NE(std::string(error.what()).find("struck, for example: Exp"), std::string::npos) << error.what();
  }
}

// The reproducer of a kernel whose source is right shows that it is: arguments and launch are what they were.
// Of another source it says that it is wrong.
TEST_F(Heal, ReproducersRun) {
  if (std::system("clang++-19 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no clang++-19";
  const Graph graph = network();
  const Kernel kernel = chosen_kernel(graph, 1);
  spoil(kernel, 0);
  compile(graph);
  const auto [code, text] = run_reproducer(kernel);
  EXPECT_EQ(code, 0) << text;
  double difference = 1;
  ASSERT_EQ(std::sscanf(text.c_str(), "output 0: largest difference %lf", &difference), 1) << text;
  EXPECT_LT(difference, 1e-5);
  EXPECT_NE(text.find(": right\n"), std::string::npos) << text;

  write_file(reproducer(kernel) + "/kernel.cpp", source_that_returns(kernel, 0));
  const auto [code_of_wrong, text_of_wrong] = run_reproducer(kernel);
  EXPECT_EQ(code_of_wrong, 1) << text_of_wrong;
  EXPECT_NE(text_of_wrong.find(": wrong\n"), std::string::npos) << text_of_wrong;
}

TEST_F(Heal, ReproducersWithoutArgumentsOnlyCompile) {
  if (std::system("clang++-19 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no clang++-19";
  const Graph graph = network();
  const Kernel kernel = chosen_kernel(graph, 1);
  spoil(kernel, 99);
  compile(graph);
  const auto [code, text] = run_reproducer(kernel);
  EXPECT_EQ(code, 2) << text;
  EXPECT_EQ(text, "compiled; the arguments were not kept\n");
}

TEST_F(Heal, WhereNoKernelIsToBlameThePlanBecomesStrict) {
  const Fault fault{Error(ErrorKind::accuracy, "off by much"), {}};
  Strikes strikes(nullptr, native());
  Healer healer(path("m.so"), native(), &strikes);
  EXPECT_EQ(healer.heal(fault, options_).size(), 1U);
  EXPECT_EQ(options_.accuracy, Accuracy::strict);
  EXPECT_TRUE(strikes.met().empty());
  EXPECT_THROW(healer.heal(fault, options_), Error);
  EXPECT_THROW(Healer(path("m.so"), native(), nullptr).heal(fault, options_), Error);
}

TEST_F(Heal, BisectionFindsEveryWrongKernel) {
  const Graph graph = network();
  options_.strategy = Strategy::unfused;
  const Plan plan = compile(graph, "right.so").plan;
  spoil(plan.kernels[plan.steps[0].kernel], 0);
  spoil(plan.kernels[plan.steps[2].kernel], 0);
  options_.verify = false;
  compile(graph);
  const VerifyResult result = compare_executable(graph, path("m.so"), {.samples = 1});
  EXPECT_FALSE(result.passed);
  ASSERT_EQ(result.bisection.wrong.size(), 2U) << describe(result.bisection);
  EXPECT_EQ(result.bisection.wrong[0].step, 0);
  EXPECT_EQ(result.bisection.wrong[1].step, 2);
  EXPECT_NE(describe(result.bisection).find("also wrong: step 2"), std::string::npos);
}

TEST_F(Heal, BisectionSaysWhatItMeansToFindNone) {
  const Graph graph = network();
  compile(graph);
  LoadedExecutable executable(path("m.so"));
  const Bisection bisection = bisect(graph, executable, random_inputs(graph, 1));
  EXPECT_TRUE(bisection.wrong.empty());
  EXPECT_NE(describe(bisection).find("accumulates"), std::string::npos);
  EXPECT_NE(describe(bisection).find("step "), std::string::npos);
}

// What rules made of constants is not in the network's file: the executable says how it follows from that.
TEST_F(Heal, BisectionKnowsWhatRulesMadeOfConstants) {
  for (const Graph& graph : {network_with_a_factor(), quantized_network()}) {
    compile(graph);
    LoadedExecutable executable(path("m.so"));
    const Bisection bisection = bisect(graph, executable, random_inputs(graph, 1));
    EXPECT_EQ(bisection.unknown, "");
    EXPECT_TRUE(bisection.wrong.empty()) << describe(bisection);
    EXPECT_GE(bisection.largest.step, 0);
  }
}

TEST_F(Heal, BisectionTellsAnotherNetwork) {
  compile(network());
  LoadedExecutable executable(path("m.so"));
  Graph other = network();
  other.set_outputs({other.inputs()[0]}, {"y"});
  const Bisection bisection = bisect(other, executable, random_inputs(other, 1));
  EXPECT_NE(describe(bisection).find("unknown: the executable was made from another network"),
            std::string::npos)
      << describe(bisection);
}

TEST_F(Heal, BisectionOfWhichTheTimeIsOverSaysSo) {
  const Graph graph = network();
  compile(graph);
  LoadedExecutable executable(path("m.so"));
  const Bisection bisection = bisect(graph, executable, random_inputs(graph, 1), Deadline(-1));
  EXPECT_TRUE(bisection.budget_spent);
  EXPECT_EQ(describe(bisection), "unknown: the budget ended before a kernel was judged");
}

// y = softmax(Winograd's convolution of x + mask): a mask of -FLT_MAX spoils nobody's judgement of the kernel
// that reads it, though there is an algorithm in the plan that spreads huge numbers.
TEST_F(Heal, BisectionIsAsStrictWhereAMaskIsHuge) {
  Graph graph;
  ValueId y = graph.add_input({DType::f32, {1, 64, 16, 16}}, "x");
  const ValueId mask = graph.add_input({DType::f32, {1, 1, 1, 256}}, "mask");
  y = graph.add(Op::Conv, ConvAttrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {}},
                {y, graph.add_constant(ramp({64, 64, 3, 3}))}, {"conv"});
  y = graph.add(Op::Reshape, ShapeAttrs{{1, 1, 64, 256}}, {y}, {"rows"});
  y = graph.add(Op::Softmax, AxisAttrs{3}, {graph.add(Op::Add, NoAttrs{}, {y, mask}, {"mask"})}, {"softmax"});
  graph.set_outputs({y}, {"y"});
  options_.rules = {"winograd"};
  options_.verify = false;
  const Plan plan = compile(graph, "right.so").plan;
  ASSERT_EQ(plan.report.alternatives_used.count("winograd"), 1U) << "the plan has no Winograd";
  const auto reads_mask = [&](const PlanStep& step) {
    return std::any_of(step.inputs.begin(), step.inputs.end(), [&](int id) {
      return plan.tensors[id].role == TensorRole::input && plan.tensors[id].index == 1;
    });
  };
  const auto reader = std::find_if(plan.steps.begin(), plan.steps.end(), reads_mask);
  ASSERT_NE(reader, plan.steps.end());
  spoil(plan.kernels[reader->kernel], 0);
  compile(graph);
  std::vector<HostTensor> inputs = random_inputs(graph, 1);
  std::fill_n(inputs[1].mutable_data<float>(), 64, -std::numeric_limits<float>::max());
  LoadedExecutable executable(path("m.so"));
  const Bisection bisection = bisect(graph, executable, inputs);
  ASSERT_EQ(bisection.wrong.size(), 1U) << describe(bisection);
  EXPECT_EQ(bisection.wrong[0].step, reader - plan.steps.begin());
}

// Few runs condemn, no kernel is known to be wrong, and the time ends before more runs tell.
TEST_F(Heal, ADifferenceIsUndecidedWhereTheTimeEndsBeforeAllRuns) {
  const auto product = [](float first) {
    Graph g;
    HostTensor weights = ramp({128, 256});
    weights.mutable_data<float>()[0] = first;
    const ValueId x = g.add_input({DType::f32, {64, 128}}, "x");
    g.set_outputs({g.add(Op::MatMul, MatMulAttrs{}, {x, g.add_constant(weights)}, {"product"})}, {"y"});
    return g;
  };
  options_.verify = false;
  const Plan plan = compile(product(0)).plan;
  EXPECT_NE(suspicion(product(1), plan).find("output y: error"), std::string::npos);
  const std::optional<Fault> fault = find_fault(product(1), plan, path("m.so"), "m", true);
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->kernels.empty());
}

TEST_F(Heal, WhatLooksWrongWithSpecialValuesIsSaidWhereTheTimeEnds) {
  const Graph graph = tanh_of_maximum({600, 400});
  let_nan_drop(chosen_kernel(graph, 0));
  options_.verify = false;
  const Plan plan = compile(graph).plan;
  EXPECT_NE(suspicion(graph, plan).find("a NaN"), std::string::npos);
  const std::optional<Fault> fault = find_fault(graph, plan, path("m.so"), "m", true);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kernels.size(), 1U);
}

// A wrong executable is never handed out for want of time.
TEST_F(Heal, WhatIsUnknownForWantOfTimeIsAnError) {
  Fault fault{Error(ErrorKind::accuracy, "off by much"), {}, "steps from 0 on not", true};
  Strikes strikes(nullptr, native());
  EXPECT_THROW(Healer(path("m.so"), native(), &strikes).heal(fault, options_), Error);
  fault.budget_spent = false;
  const std::vector<std::string> warnings = Healer(path("m.so"), native(), &strikes).heal(fault, options_);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("no kernel was found at fault (steps from 0 on not)"), std::string::npos);
}

}  // namespace
}  // namespace korch
