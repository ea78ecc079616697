// Networks whose noise few runs do not show. Honest evaluations pass, because a difference is not believed
// before more runs looked for it; errors put in do not.
#include <gtest/gtest.h>

#include <cmath>

#include "korch/fission/fission.h"
#include "korch/inspect/tolerance.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/random_rounding.h"
#include "normal_numbers.h"

namespace korch {
namespace {

ValueId number(Graph& g, float value) {
  return g.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
}

ValueId product(Graph& g, ValueId x, Shape weights, double scale) {
  return g.add(Op::MatMul, MatMulAttrs{}, {x, g.add_constant(normal_numbers(std::move(weights), scale))});
}

Graph finished(Graph& g, ValueId y) {
  g.set_outputs({y}, {"y"});
  return std::move(g);
}

// Probabilities of many classes: few are large, each among ones near 0, and each row's logits are off alike.
Graph few_large_among_small() {
  Graph g;
  ValueId y = product(g, g.add_input({DType::f32, {30, 32}}, "x"), {32, 48}, 0.3);
  y = product(g, g.add(Op::Tanh, NoAttrs{}, {y}), {48, 400}, 0.8);
  return finished(g, g.add(Op::Softmax, AxisAttrs{1}, {y}));
}

// Decibels between their least and their largest: all are off by what these two are, and the least is a
// logarithm of what cancels.
Graph common_factor() {
  Graph g;
  ValueId y = product(g, g.add_input({DType::f32, {40, 200}}, "x"), {200, 60}, 0.1);
  y = g.add(Op::Log, NoAttrs{},
            {g.add(Op::Add, NoAttrs{}, {g.add(Op::Mul, NoAttrs{}, {y, y}), number(g, 1e-4F)})});
  const ValueId least = g.add(Op::ReduceMin, ReduceAttrs{{0, 1}, true}, {y});
  y = g.add(Op::Sub, NoAttrs{}, {y, least});
  const ValueId most = g.add(Op::ReduceMax, ReduceAttrs{{0, 1}, true}, {y});
  return finished(g, g.add(Op::Div, NoAttrs{}, {y, most}));
}

// Sigmoids of what is mostly far from 0.
Graph saturating() {
  Graph g;
  const ValueId y = product(g, g.add_input({DType::f32, {40, 64}}, "x"), {64, 100}, 5);
  return finished(g, g.add(Op::Sigmoid, NoAttrs{}, {y}));
}

// A variance as the mean of squares less the square of the mean, of numbers that hardly vary.
Graph cancelling_variance() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {24, 80}}, "x");
  const ValueId y =
      g.add(Op::Add, NoAttrs{}, {g.add(Op::Mul, NoAttrs{}, {x, number(g, 0.1F)}), number(g, 1)});
  const auto mean = [&](ValueId value) { return g.add(Op::ReduceMean, ReduceAttrs{{1}, true}, {value}); };
  const ValueId center = mean(y);
  const ValueId variance =
      g.add(Op::Sub, NoAttrs{},
            {mean(g.add(Op::Mul, NoAttrs{}, {y, y})), g.add(Op::Mul, NoAttrs{}, {center, center})});
  const ValueId deviation =
      g.add(Op::Sqrt, NoAttrs{}, {g.add(Op::Max, NoAttrs{}, {variance, number(g, 1e-6F)})});
  return finished(g, g.add(Op::Div, NoAttrs{}, {g.add(Op::Sub, NoAttrs{}, {y, center}), deviation}));
}

struct Network {
  const char* name;
  Graph (*make)();
  double part;  // of the output's deviation: an error of it is found in any element
};

class RareNoiseOf : public ::testing::TestWithParam<Network> {
 protected:
  void prepare(uint64_t seed) {
    seed_ = seed;
    inputs_ = random_inputs(graph_, seed);
    exact_ = interpret(graph_, inputs_);
  }
  // What a right executable computes, with roundings that nobody has drawn before.
  HostTensor honest(Roundings roundings) const {
    return interpret_rounding_at_random(fission(graph_), inputs_, 1000003 * (seed_ + 1), {}, {},
                                        roundings)[0];
  }
  Deviation judged(const HostTensor& got) const {
    return output_deviations(graph_, inputs_, exact_, {got}, seed_)[0];
  }

  const Graph graph_ = GetParam().make();
  uint64_t seed_ = 0;
  std::vector<HostTensor> inputs_, exact_;
};

TEST_P(RareNoiseOf, HonestRunsPass) {
  int by_few = 0;  // condemned by few runs
  for (uint64_t seed = 0; seed < 60; ++seed) {
    prepare(seed);
    const std::vector<Tolerance> few = output_tolerances(graph_, inputs_, exact_, seed);
    for (const Roundings roundings : {Roundings::of_operators, Roundings::of_kernels}) {
      const HostTensor got = honest(roundings);
      by_few += !few[0].compare(got).passed();
      const Deviation deviation = judged(got);
      EXPECT_TRUE(deviation.passed()) << "seed " << seed << ": " << to_string(deviation);
    }
  }
  if (std::string(GetParam().name) == "few_large_among_small") {
    EXPECT_GT(by_few, 0) << "few runs are enough";
  }
}

TEST_P(RareNoiseOf, ErrorsOfOneElementAreFound) {
  prepare(5);
  const HostTensor right = honest(Roundings::of_operators);
  double mean = 0, squares = 0;
  const auto count = static_cast<double>(right.elements());
  for (int64_t i = 0; i < right.elements(); ++i) {
    mean += element_as_double(right, i) / count;
    squares += element_as_double(right, i) * element_as_double(right, i) / count;
  }
  const double error = GetParam().part * std::sqrt(squares - mean * mean);
  for (int64_t i = 0; i < right.elements(); i += 1 + right.elements() / 12) {
    HostTensor wrong =
        HostTensor::of(DType::f32, right.shape(),
                       std::vector<float>(right.data<float>(), right.data<float>() + right.elements()));
    wrong.mutable_data<float>()[i] += static_cast<float>(error);
    const Deviation found = judged(wrong);
    EXPECT_FALSE(found.passed()) << "element " << i << ", error " << error << ": " << to_string(found);
    EXPECT_EQ(found.element, i);
  }
}

// A network that takes one element of its input for 0.
TEST_P(RareNoiseOf, MissingTermsAreFound) {
  prepare(6);
  HostTensor without(inputs_[0].type());
  for (int64_t i = 0; i < without.elements(); ++i)
    without.mutable_data<float>()[i] = i == 3 ? 0 : inputs_[0].data<float>()[i];
  const HostTensor wrong = converted(interpret(graph_, {without})[0], DType::f32);
  EXPECT_FALSE(judged(wrong).passed());
}

// A subnormal number is 0 for kernels of `standard` accuracy, and what it divides or what its logarithm is
// leaves the range of finite numbers. Elsewhere nothing is forgiven.
TEST(RareNoise, SubnormalsMayVanish) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {200}}, "x");
  g.set_outputs({g.add(Op::Log, NoAttrs{}, {g.add(Op::Exp, NoAttrs{}, {x})})}, {"y"});
  std::vector<float> numbers(200, 1.3F);
  numbers[7] = -90;
  const std::vector<HostTensor> inputs = {HostTensor::of<float>(DType::f32, {200}, numbers)};
  const std::vector<HostTensor> exact = interpret(g, inputs);
  std::vector<float> got = numbers;
  got[7] = -INFINITY;
  const auto judged = [&] {
    return output_deviations(g, inputs, exact, {HostTensor::of<float>(DType::f32, {200}, got)}, 1)[0];
  };
  EXPECT_TRUE(judged().passed()) << to_string(judged());
  EXPECT_EQ(judged().unjudged, 1);
  got[150] = -INFINITY;
  EXPECT_FALSE(judged().passed());
  got[150] = 1.301F;
  EXPECT_FALSE(judged().passed());
}

// Somewhere between too little time for few runs and enough for all.
TEST(RareNoise, WhatTheDeadlineCutsShortIsUndecided) {
  const Graph g = common_factor();
  const std::vector<HostTensor> inputs = random_inputs(g, 1), exact = interpret(g, inputs);
  const std::vector<HostTensor> wrong = {HostTensor(g.value(g.outputs()[0]).type)};
  EXPECT_FALSE(output_deviations(g, inputs, exact, wrong, 1)[0].undecided);
  Deviation deviation;
  for (double seconds = 1e-5; !deviation.undecided; seconds *= 1.2) try {
      deviation = output_deviations(g, inputs, exact, wrong, 1, Deadline(seconds))[0];
      ASSERT_FALSE(deviation.passed());
      ASSERT_LT(seconds, 60) << to_string(deviation);
    } catch (const BudgetSpent&) {
    }
  EXPECT_NE(to_string(deviation).find("undecided"), std::string::npos) << to_string(deviation);
}

INSTANTIATE_TEST_SUITE_P(Networks, RareNoiseOf,
                         ::testing::Values(Network{"few_large_among_small", few_large_among_small, 3e-3},
                                           Network{"common_factor", common_factor, 3e-3},
                                           Network{"saturating", saturating, 1e-3},
                                           Network{"cancelling_variance", cancelling_variance, 5e-3}),
                         [](const auto& network) { return std::string(network.param.name); });

}  // namespace
}  // namespace korch
