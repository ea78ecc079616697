// The tolerance: honest float32 evaluations stay within it, errors put in do not.
#include "korch/inspect/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "korch/fission/fission.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/random_rounding.h"
#include "normal_numbers.h"

namespace korch {
namespace {

Graph with_output(Graph& g, ValueId y) {
  g.set_outputs({y}, {"y"});
  return std::move(g);
}

// One logit.
Graph one_number() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 64}}, "x");
  ValueId y = g.add(Op::MatMul, MatMulAttrs{}, {x, g.add_constant(normal_numbers({64, 300}, 0.1))});
  y = g.add(Op::Tanh, NoAttrs{}, {y});
  return with_output(g, g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(normal_numbers({300, 1}, 0.1))}));
}

// Sums of many terms that nearly cancel: the noise is that of the terms.
Graph cancelling() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {4, 500}}, "x");
  const ValueId twice =
      g.add(Op::Mul, NoAttrs{}, {x, g.add_constant(HostTensor::of<float>(DType::f32, {}, {1.1F}))});
  const ValueId sum = g.add(Op::ReduceSum, ReduceAttrs{{1}, true}, {twice});
  const ValueId other = g.add(Op::ReduceSum, ReduceAttrs{{1}, true}, {x});
  const ValueId scaled =
      g.add(Op::Mul, NoAttrs{}, {other, g.add_constant(HostTensor::of<float>(DType::f32, {}, {1.1F}))});
  return with_output(g, g.add(Op::Sub, NoAttrs{}, {sum, scaled}));
}

// Normalizations whose noise shows nowhere when they are rounded once, as composite operators are.
Graph normalizations() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {2, 49, 32}}, "x");
  ValueId y =
      g.add(Op::LayerNormalization, NormAttrs{2, 1e-6, 1}, {x, g.add_constant(normal_numbers({32}, 1))});
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(normal_numbers({32, 128}, 0.02))});
  y = g.add(Op::Gelu, NoAttrs{}, {y});
  const ValueId norm = g.add(Op::ReduceL2, ReduceAttrs{{1}, true}, {y});
  const ValueId mean = g.add(Op::ReduceMean, ReduceAttrs{{2}, true}, {norm});
  y = g.add(Op::Mul, NoAttrs{}, {y, g.add(Op::Div, NoAttrs{}, {norm, mean})});
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(normal_numbers({128, 32}, 0.02))});
  y = g.add(Op::ReduceMean, ReduceAttrs{{1}, false}, {y});
  y = g.add(Op::LayerNormalization, NormAttrs{1, 1e-6, 1}, {y, g.add_constant(normal_numbers({32}, 1))});
  return with_output(g,
                     g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(normal_numbers({32, 10}, 0.001))}));
}

Graph image() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 3, 20, 20}}, "x");
  const ConvAttrs conv{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1};
  ValueId y = g.add(Op::Conv, conv, {x, g.add_constant(normal_numbers({16, 3, 3, 3}, 0.3))});
  y = g.add(Op::Relu, NoAttrs{}, {y});
  y = g.add(Op::Conv, conv, {y, g.add_constant(normal_numbers({16, 16, 3, 3}, 0.1))});
  return with_output(g, g.add(Op::Relu, NoAttrs{}, {y}));
}

Graph attention() {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {1, 24, 32}}, "x");
  ValueId y = g.add(Op::MatMul, MatMulAttrs{false, true}, {x, x});
  y = g.add(Op::Softmax, AxisAttrs{2}, {y});
  return with_output(g, g.add(Op::MatMul, MatMulAttrs{}, {y, x}));
}

struct NoisyNetwork {
  const char* name;
  Graph (*make)();
};

class ToleranceOf : public ::testing::TestWithParam<NoisyNetwork> {
 protected:
  void prepare(uint64_t seed) {
    inputs_ = random_inputs(graph_, seed);
    exact_ = interpret(graph_, inputs_);
    tolerances_ = output_tolerances(graph_, inputs_, exact_, seed);
  }
  // What a right executable computes: float32 with roundings that nobody has drawn before.
  HostTensor honest(uint64_t seed) const {
    return interpret_rounding_at_random(fission(graph_), inputs_, 1000003 * (seed + 1))[0];
  }
  double ratio(const HostTensor& got) const { return tolerances_[0].compare(got).ratio; }

  const Graph graph_ = GetParam().make();
  std::vector<HostTensor> inputs_, exact_;
  std::vector<Tolerance> tolerances_;
};

// The distance kept: executables have kernels of more noise than the primitives, Winograd's up to 10 times.
TEST_P(ToleranceOf, HonestRunsAreFarFromIt) {
  double largest = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    prepare(seed);
    largest = std::max(largest, ratio(honest(seed)));
    largest = std::max(largest, ratio(interpret(graph_, inputs_, {Precision::native, {}})[0]));
  }
  EXPECT_LT(largest, 0.4);
}

// Whatever element is off: by a part in a thousand of the tensor's deviation, or 30 times its tolerance.
// (What cancels has no deviation but noise.)
TEST_P(ToleranceOf, ErrorsOfOneElementAreFound) {
  prepare(5);
  const HostTensor right = honest(5);
  double mean = 0, squares = 0;
  const auto count = static_cast<double>(right.elements());
  for (int64_t i = 0; i < right.elements(); ++i) {
    mean += element_as_double(right, i) / count;
    squares += element_as_double(right, i) * element_as_double(right, i) / count;
  }
  const bool cancels = std::string(GetParam().name) == "cancelling";
  const double deviation = right.elements() > 1 ? std::sqrt(squares - mean * mean) : std::fabs(mean);
  const int64_t step = right.elements() < 1000 ? 1 : 37;
  for (int64_t i = 0; i < right.elements(); i += step)
    for (const double error : {cancels ? 1 : 1e-3 * deviation, 30 * tolerances_[0].allowed(i)}) {
      HostTensor wrong(right.type());
      for (int64_t j = 0; j < right.elements(); ++j)
        wrong.mutable_data<float>()[j] = right.data<float>()[j] + static_cast<float>(i == j ? error : 0);
      const Deviation found = tolerances_[0].compare(wrong);
      EXPECT_FALSE(found.passed()) << "element " << i << ", error " << error << ": " << to_string(found);
      EXPECT_EQ(found.element, i);
    }
}

// A network that leaves one term of its first product out, or takes one row of the input for another.
TEST_P(ToleranceOf, WrongTermsAndRowsAreFound) {
  prepare(6);
  std::vector<HostTensor> without = {HostTensor(inputs_[0].type())}, shifted = without;
  const int64_t count = inputs_[0].elements(), row = inputs_[0].shape().back();
  for (int64_t i = 0; i < count; ++i) {
    without[0].mutable_data<float>()[i] = i == 3 ? 0 : inputs_[0].data<float>()[i];
    const bool moves = i < row;
    shifted[0].mutable_data<float>()[i] = inputs_[0].data<float>()[moves ? (i + 1) % row : i];
  }
  const bool sees_order = std::string(GetParam().name) != "cancelling";  // a sum does not
  EXPECT_EQ(ratio(interpret(graph_, shifted)[0]) > 30, sees_order);
  EXPECT_EQ(ratio(interpret(graph_, without)[0]) > 30, sees_order);
}

INSTANTIATE_TEST_SUITE_P(Networks, ToleranceOf,
                         ::testing::Values(NoisyNetwork{"one_number", one_number},
                                           NoisyNetwork{"cancelling", cancelling},
                                           NoisyNetwork{"normalizations", normalizations},
                                           NoisyNetwork{"image", image},
                                           NoisyNetwork{"attention", attention}),
                         [](const auto& network) { return std::string(network.param.name); });

// Half of the output is a million times larger than the other: each has its own tolerance.
TEST(Tolerance, IsThatOfThePlace) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {8, 256}}, "x");
  const ValueId y = g.add(Op::Tanh, NoAttrs{}, {x});
  const ValueId large =
      g.add(Op::Mul, NoAttrs{}, {y, g.add_constant(HostTensor::of<float>(DType::f32, {}, {1e3F}))});
  g.set_outputs({g.add(Op::Concat, AxisAttrs{1}, {y, large})}, {"y"});
  const std::vector<HostTensor> inputs = random_inputs(g, 3), exact = interpret(g, inputs);
  const Tolerance tolerance = output_tolerances(g, inputs, exact, 3)[0];
  EXPECT_LT(tolerance.allowed(100), tolerance.allowed(400) / 2);
  EXPECT_LT(tolerance.noise(100), tolerance.noise(400) / 100);
}

TEST(Tolerance, OfIntegersIsZero) {
  Graph g;
  const ValueId x = g.add_input({DType::f32, {4, 9}}, "x");
  g.set_outputs({g.add(Op::ArgMax, ArgReduceAttrs{1, true, false}, {x})}, {"y"});
  const std::vector<HostTensor> inputs = random_inputs(g, 3), exact = interpret(g, inputs);
  const Tolerance tolerance = output_tolerances(g, inputs, exact, 3)[0];
  EXPECT_EQ(tolerance.compare(exact[0]).ratio, 0);
  HostTensor wrong = HostTensor::of<int64_t>(DType::i64, {4, 1}, as_int_vector(exact[0]));
  ++wrong.mutable_data<int64_t>()[2];
  EXPECT_FALSE(tolerance.compare(wrong).passed());
}

// The largest of three sums chooses a number; the second is larger than the first by this part.
Graph choice(float margin) {
  Graph g;
  HostTensor weights(TensorType{DType::f32, {64, 3}});
  for (int64_t i = 0; i < 64; ++i) {
    const float weight = 0.5F + static_cast<float>(i % 7) / 7;
    weights.mutable_data<float>()[3 * i] = weight;
    weights.mutable_data<float>()[3 * i + 1] = weight * (1 + margin);
  }
  const ValueId sums =
      g.add(Op::MatMul, MatMulAttrs{}, {g.add_input({DType::f32, {1, 64}}, "x"), g.add_constant(weights)});
  const NodeId top = g.add_node(Op::TopK, TopKAttrs{1, 1, true, true}, {g.add(Op::Abs, NoAttrs{}, {sums})});
  const ValueId table = g.add_constant(HostTensor::of<float>(DType::f32, {3}, {100, 200, 300}));
  return with_output(g, g.add(Op::Gather, AxisAttrs{0}, {table, g.node(top).outputs[1]}));
}

TEST(Tolerance, ChoicesBetweenNumbersAsGoodAsEqualAreOpen) {
  const HostTensor first = HostTensor::of<float>(DType::f32, {1, 1}, {100});
  for (const auto& [margin, is_open] : {std::pair(0x1p-19F, true), std::pair(0x1p-12F, false)}) {
    const Graph g = choice(margin);
    const std::vector<HostTensor> inputs = random_inputs(g, 3), exact = interpret(g, inputs);
    EXPECT_EQ(element_as_double(exact[0], 0), 200);
    const Tolerance tolerance = output_tolerances(g, inputs, exact, 3)[0];
    EXPECT_TRUE(tolerance.compare(exact[0]).passed());
    EXPECT_EQ(tolerance.compare(first).passed(), is_open) << to_string(tolerance.compare(first));
  }
}

// What is masked by an infinity is not chosen.
TEST(Tolerance, InfinitiesAreNotDisturbed) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  Graph g;
  const ValueId x = g.add_input({DType::f32, {6}}, "x");
  const ValueId scores =
      g.add(Op::Add, NoAttrs{},
            {g.add(Op::Sigmoid, NoAttrs{}, {x}),
             g.add_constant(HostTensor::of<float>(DType::f32, {6}, {0, 1, 2, kNone, kNone, kNone}))});
  const NodeId top = g.add_node(Op::TopK, TopKAttrs{0, 3, true, true}, {scores});
  const Graph chosen = with_output(g, g.node(top).outputs[1]);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const std::vector<HostTensor> inputs = random_inputs(chosen, seed), exact = interpret(chosen, inputs);
    const Tolerance tolerance = output_tolerances(chosen, inputs, exact, seed)[0];
    for (int64_t i = 0; i < 3; ++i) EXPECT_TRUE(tolerance.is_judged(i)) << seed;
  }
}

// Whole numbers beyond 2^53 differ where doubles do not.
TEST(Tolerance, OfLargeIntegersIsZero) {
  const Tolerance tolerance(DType::i64, HostTensor::of<int64_t>(DType::i64, {1}, {(int64_t{1} << 53) + 1}));
  EXPECT_FALSE(tolerance.compare(HostTensor::of<int64_t>(DType::i64, {1}, {int64_t{1} << 53})).passed());
}

TEST(Tolerance, SpecialValuesMustAgree) {
  const double infinity = std::numeric_limits<double>::infinity();
  Tolerance tolerance(DType::f32, HostTensor::of<double>(DType::f64, {3}, {1, infinity, std::nan("")}));
  tolerance.add_run(HostTensor::of<float>(DType::f32, {3}, {1, INFINITY, NAN}));
  EXPECT_TRUE(tolerance.compare(HostTensor::of<float>(DType::f32, {3}, {1, INFINITY, NAN})).passed());
  EXPECT_FALSE(tolerance.compare(HostTensor::of<float>(DType::f32, {3}, {1, -INFINITY, NAN})).passed());
  EXPECT_FALSE(tolerance.compare(HostTensor::of<float>(DType::f32, {3}, {1, INFINITY, 0})).passed());
  EXPECT_FALSE(tolerance.compare(HostTensor::of<float>(DType::f32, {3}, {NAN, INFINITY, NAN})).passed());
  // Where float32 itself leaves its range there is nothing to judge, and that is said.
  Tolerance overflow(DType::f32, HostTensor::of<double>(DType::f64, {2}, {1, 2}));
  overflow.add_run(HostTensor::of<float>(DType::f32, {2}, {1, INFINITY}));
  const Deviation deviation = overflow.compare(HostTensor::of<float>(DType::f32, {2}, {1, INFINITY}));
  EXPECT_TRUE(deviation.passed());
  EXPECT_EQ(deviation.unjudged, 1);
  EXPECT_NE(to_string(deviation).find("1 elements not judged"), std::string::npos);
}

}  // namespace
}  // namespace korch
