// The fuzzer's own parts: every operator has a generator, the oracle tells right from wrong, a wrong kernel
// is found and made small, a seed repeats.
#include <gtest/gtest.h>

#include <set>

#include "finding_file.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "motifs.h"
#include "open_maker.h"
#include "operators.h"

namespace korch::fuzz {
namespace {

TEST(Operators, EachHasAGenerator) {
  constexpr uint64_t kTries = 200;
#define X(name, ...)                                                      \
  {                                                                       \
    bool made = false;                                                    \
    for (uint64_t seed = 0; seed < kTries && !made; ++seed) {             \
      GraphMaker maker(seed);                                             \
      made = grow(maker, Op::name).has_value();                           \
    }                                                                     \
    EXPECT_TRUE(made) << #name << ": add it to tests/fuzz/operators.cpp"; \
  }
  KORCH_OPS(X)
#undef X
}

TEST(Motifs, EachMakesGraphsThatAreInOrder) {
  for (const Motif& motif : motifs()) {
    int made = 0;
    for (uint64_t seed = 0; seed < 12; ++seed) {
      GraphMaker maker(seed);
      try {
        motif.add(maker);
      } catch (const GraphMaker::GaveUp&) {
        continue;
      }
      const Graph graph = maker.finish();
      verify(graph, GraphForm::imported);
      made += graph.live_node_count() > 0;
    }
    EXPECT_GE(made, 3) << motif.name;
  }
}

TEST(OpenModel, EachMotifTakesPart) {
  std::set<std::string> made;
  for (uint64_t seed = 0; seed < 600; ++seed)
    for (const std::string& motif : random_open_model(seed).motifs) made.insert(motif);
  for (const auto* table : {&open_motifs(), &open_image_motifs(), &open_quantized_motifs()})
    for (const OpenMotif& motif : *table) EXPECT_TRUE(made.contains(motif.name)) << motif.name;
}

TEST(OpenModel, SameSeedSameModel) {
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(random_open_model(seed).model.SerializeAsString(),
              random_open_model(seed).model.SerializeAsString());
}

TEST(RandomGraph, SameSeedSameGraph) {
  std::set<std::string> different;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = print(random_graph(seed));
    EXPECT_EQ(text, print(random_graph(seed)));
    different.insert(text);
  }
  EXPECT_GE(different.size(), 15u);  // the smallest graphs may meet
}

TEST(FindingFile, RoundTrips) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::string text = to_text({make_case(seed), seed});
    EXPECT_EQ(to_text(saved_case_from(text)), text) << seed;
  }
}

class OracleOf : public ::testing::Test {
 protected:
  // round(x w), and x w, of rows of ones.
  OracleOf() {
    const ValueId x = graph_.add_input({DType::f32, {3, 4}}, "x");
    const ValueId w = graph_.add_constant(random_tensor({DType::f32, {4, 5}}, Contents::normal, 1));
    product_ = graph_.add(Op::MatMul, MatMulAttrs{}, {x, w});
    moved_ = graph_.add(Op::Transpose, PermAttrs{{1, 0}}, {x});
    graph_.set_outputs({product_, moved_}, {"product", "moved"});
    inputs_ = {random_tensor({DType::f32, {3, 4}}, Contents::normal, 2)};
  }
  Graph graph_;
  ValueId product_ = 0, moved_ = 0;
  std::vector<HostTensor> inputs_;
};

TEST_F(OracleOf, AllowsRoundingAndNothingElse) {
  Oracle oracle(graph_, inputs_);
  const std::vector<HostTensor> rounded = interpret(graph_, inputs_, {Precision::native, {}});
  EXPECT_EQ(oracle.difference(product_, rounded[0]), std::nullopt);
  EXPECT_EQ(oracle.difference(moved_, rounded[1]), std::nullopt);
  HostTensor wrong = converted(rounded[0], DType::f64);
  wrong.mutable_data<double>()[7] *= 1.01;
  EXPECT_NE(oracle.difference(product_, wrong), std::nullopt);
  HostTensor slightly = converted(rounded[1], DType::f64);  // nothing rounds here
  slightly.mutable_data<double>()[7] *= 1 + 1e-7;
  EXPECT_NE(oracle.difference(moved_, slightly), std::nullopt);
}

// What rounding decides is not compared; what stands beside it is.
TEST(Oracle, KnowsWhatRoundingDecides) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {2}}, "x");
  const ValueId y = graph.add(Op::Sin, NoAttrs{}, {x});
  const ValueId difference = graph.add(Op::Sub, NoAttrs{}, {y, y});
  const HostTensor one = HostTensor::of<float>(DType::f32, {2}, {0, 100});
  const ValueId sign = graph.add(Op::Greater, NoAttrs{}, {difference, graph.add_constant(one)});
  graph.set_outputs({sign}, {"sign"});
  Oracle oracle(graph, {HostTensor::of<float>(DType::f32, {2}, {1.5F, 0.5F})});
  EXPECT_EQ(oracle.difference(sign, HostTensor::of<uint8_t>(DType::bool_, {2}, {1, 0})), std::nullopt);
  EXPECT_NE(oracle.difference(sign, HostTensor::of<uint8_t>(DType::bool_, {2}, {0, 1})), std::nullopt);
}

// sin(x) is x where x is small, in float32 alone.
// exp(p) / exp(p) with both computed for themselves: of a large p each is off by some of its roundings.
TEST(Oracle, KnowsThatKernelsComputeAgain) {
  const auto quotient_may_be = [](float x, float got) {
    Graph graph;
    const ValueId product =
        graph.add(Op::Mul, NoAttrs{}, {graph.add_input({DType::f32, {1}}, "x"), graph.inputs()[0]});
    const ValueId nearest = graph.add_constant(HostTensor::of<float>(DType::f32, {1}, {x * x}));
    const ValueId power = graph.add(Op::Exp, NoAttrs{}, {graph.add(Op::Sub, NoAttrs{}, {product, nearest})});
    const ValueId quotient = graph.add(Op::Div, NoAttrs{}, {power, power});
    graph.set_outputs({quotient}, {"y"});
    Oracle oracle(graph, {HostTensor::of<float>(DType::f32, {1}, {x})});
    return !oracle.difference(quotient, HostTensor::of<float>(DType::f32, {1}, {got}));
  };
  EXPECT_TRUE(quotient_may_be(100, 1.002F));
  EXPECT_FALSE(quotient_may_be(100, 10));
  EXPECT_FALSE(quotient_may_be(1, 1.002F));
}

TEST(Oracle, KnowsWhereRoundingMakesEqual) {
  Graph graph;
  const ValueId x = graph.add_input({DType::f32, {2}}, "x");
  const ValueId equal = graph.add(Op::Equal, NoAttrs{}, {x, graph.add(Op::Sin, NoAttrs{}, {x})});
  graph.set_outputs({equal}, {"equal"});
  Oracle oracle(graph, {HostTensor::of<float>(DType::f32, {2}, {1e-4F, 0.5F})});
  EXPECT_EQ(oracle.difference(equal, HostTensor::of<uint8_t>(DType::bool_, {2}, {1, 0})), std::nullopt);
  EXPECT_NE(oracle.difference(equal, HostTensor::of<uint8_t>(DType::bool_, {2}, {0, 1})), std::nullopt);
}

TEST(RandomPlan, SameSeedSamePlanWhoeverDrewBefore) {
  const Case what = make_case(5);
  Coverage alone, after_others;
  Subject first(what.graph, what.setting, 5), second(what.graph, what.setting, 5);
  ASSERT_TRUE(first.is_defined());
  first.check_plan(Subject::Kind::random, 7, alone);
  Coverage ignored;
  for (uint64_t seed = 0; seed < 4; ++seed) second.check_plan(Subject::Kind::random, seed, ignored);
  second.check_plan(Subject::Kind::random, 7, after_others);
  EXPECT_FALSE(alone.empty());
  EXPECT_EQ(alone, after_others);
}

}  // namespace
}  // namespace korch::fuzz
