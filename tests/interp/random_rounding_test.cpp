// Roundings that fall at random: what is exact stays, what is not has the noise that float32 has there.
#include "korch/interp/random_rounding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "korch/interp/interpreter.h"

namespace korch {
namespace {

HostTensor row(const std::vector<float>& values) {
  return HostTensor::of<float>(DType::f32, {1, static_cast<int64_t>(values.size())}, values);
}

Graph one_node(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs) {
  Graph g;
  std::vector<ValueId> values;
  for (const HostTensor& input : inputs) values.push_back(g.add_input(input.type(), "x"));
  g.set_outputs({g.add(op, attrs, values)}, {"y"});
  return g;
}

// The largest difference from float64 of so many runs.
double noise(const Graph& graph, const std::vector<HostTensor>& inputs, int runs = 20,
             Roundings roundings = Roundings::of_operators, ProductType products = ProductType::f32) {
  const HostTensor exact = interpret(graph, inputs)[0];
  double largest = 0;
  for (int seed = 0; seed < runs; ++seed) {
    const HostTensor got =
        interpret_rounding_at_random(graph, inputs, seed, {}, {}, roundings, {}, products)[0];
    for (int64_t i = 0; i < exact.elements(); ++i)
      largest = std::max(largest, std::fabs(element_as_double(got, i) - element_as_double(exact, i)));
  }
  return largest;
}

double noise(Op op, const Attrs& attrs, const std::vector<HostTensor>& inputs) {
  return noise(one_node(op, attrs, inputs), inputs);
}

TEST(RandomRounding, ExactResultsStay) {
  EXPECT_EQ(noise(Op::Relu, NoAttrs{}, {row({-1.1F, 0.3F, 7})}), 0);
  EXPECT_EQ(noise(Op::Mul, NoAttrs{}, {row({0.7F, 3}), row({2, 0.5F})}), 0);
  EXPECT_EQ(noise(Op::MatMul, MatMulAttrs{false, true}, {row({3, 4, 5}), row({1, 2, 7})}), 0);
}

TEST(RandomRounding, InexactResultsGoToEitherNeighbour) {
  const double ulp = 0x1p-24;  // below one
  const double error = noise(Op::Div, NoAttrs{}, {row({2}), row({3})});
  EXPECT_GT(error, ulp / 2);
  EXPECT_LT(error, ulp);
}

TEST(RandomRounding, SumsHaveTheNoiseOfTheirTerms) {
  const double large = noise(Op::ReduceSum, ReduceAttrs{{1}, true}, {row({1e6F, 0.25F, -1e6F})});
  EXPECT_GT(large, 0.02);
  EXPECT_LT(large, 0.2);
  // Products of numbers that are not whole: the terms move by an ulp.
  EXPECT_GT(noise(Op::MatMul, MatMulAttrs{false, true}, {row({1e4F / 3, 0.2F, -1e4F / 3}), row({1, 1, 1})}),
            1e-4);
}

// What a transform adds up has the noise of its terms, and so has what a product of many numbers is made of.
TEST(RandomRounding, TransformsAndLongProductsRound) {
  HostTensor image(TensorType{DType::f32, {1, 1, 4, 4}});
  for (int64_t i = 0; i < 16; ++i) image.mutable_data<float>()[i] = 1.1F + 0.01F * static_cast<float>(i);
  WinogradAttrs attrs;
  attrs.pads_before = attrs.pads_after = {0, 0};
  EXPECT_GT(noise(Op::WinogradInput, attrs, {image}), 1e-8);
  EXPECT_GT(noise(Op::ReduceProd, ReduceAttrs{{1}, true}, {row({1.1F, 0.3F, 0.7F})}), 1e-9);
}

// Two kernels compute the same Value, each in its own order.
TEST(RandomRounding, KernelsComputeValuesAgain) {
  Graph g;
  const ValueId y = g.add(Op::Exp, NoAttrs{}, {g.add_input({DType::f32, {1, 8}}, "x")});
  g.set_outputs({g.add(Op::Sub, NoAttrs{}, {y, y})}, {"y"});
  const std::vector<HostTensor> inputs = {row({0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F})};
  EXPECT_EQ(noise(g, inputs), 0);
  EXPECT_GT(noise(g, inputs, 20, Roundings::of_kernels), 1e-7);
  // What nothing rounds is the same twice.
  const Graph exact = one_node(Op::Relu, NoAttrs{}, inputs);
  EXPECT_EQ(noise(exact, inputs, 20, Roundings::of_kernels), 0);
}

// Vectors add up every sixteenth product: what cancels from one to the next does not there.
TEST(RandomRounding, KernelsSumProductsInOrdersOfTheirOwn) {
  std::vector<float> terms(4096);
  for (size_t i = 0; i < terms.size(); ++i) terms[i] = i % 2 == 0 ? 1.1F : -1.1F;
  const std::vector<HostTensor> inputs = {row(terms), row(std::vector<float>(4096, 0.7F))};
  const Graph g = one_node(Op::MatMul, MatMulAttrs{false, true}, inputs);
  float sum = 0;
  for (size_t first : {0, 1})
    for (size_t i = first; i < terms.size(); i += 2) sum += terms[i] * 0.7F;
  const double error = std::fabs(sum - element_as_double(interpret(g, inputs)[0], 0));
  EXPECT_GT(error, 20 * noise(g, inputs));
  EXPECT_LT(error, 20 * noise(g, inputs, 20, Roundings::of_kernels));
}

TEST(RandomRounding, ProductsHaveTheNoiseOfWhatTheyMultiply) {
  const std::vector<HostTensor> inputs = {row({0.7F}), row({1})};
  const Graph graph = one_node(Op::MatMul, MatMulAttrs{false, true}, inputs);
  const auto noise_of = [&](ProductType type) {
    return noise(graph, inputs, 20, Roundings::of_operators, type);
  };
  EXPECT_LT(noise_of(ProductType::f32), 0x1p-22);
  for (const auto& [type, step] :
       {std::pair(ProductType::tf32, 0x1p-11), std::pair(ProductType::f16, 0x1p-11),
        std::pair(ProductType::bf16, 0x1p-8)}) {
    EXPECT_GT(noise_of(type), step / 4) << name(type);
    EXPECT_LT(noise_of(type), step * 1.01) << name(type);
  }
  const std::vector<HostTensor> exact = {row({0.75F, 3}), row({0.5F, 2})};  // stays
  EXPECT_EQ(noise(one_node(Op::MatMul, MatMulAttrs{false, true}, exact), exact, 20, Roundings::of_operators,
                  ProductType::bf16),
            0);
}

TEST(RandomRounding, EqualSeedsAreEqualRuns) {
  const std::vector<HostTensor> inputs = {row({0.1F, 0.2F, 0.3F, 0.7F})};
  const Graph graph = one_node(Op::Exp, NoAttrs{}, inputs);
  const auto run = [&](uint64_t seed) {
    const HostTensor got = interpret_rounding_at_random(graph, inputs, seed)[0];
    return std::vector<float>(got.data<float>(), got.data<float>() + 4);
  };
  EXPECT_EQ(run(3), run(3));
  bool differs = false;
  for (uint64_t seed = 0; seed < 20; ++seed) differs = differs || run(seed) != run(3);
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace korch
