#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"
#include "korch/codegen/kernel_spec.h"
#include "korch/kernel/tile_equivalence.h"

namespace korch::testing {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kSmallL2 = 32 << 10;  // so that rows of some dozen keys are done in blocks

struct AttentionCase {
  const char* name;
  Shape q, k, v;
  Shape mask = {};  // none
};

const AttentionCase kCases[] = {
    {"one_head", {33, 16}, {70, 16}, {70, 16}},
    {"heads", {3, 40, 32}, {3, 96, 32}, {3, 96, 32}},
    {"odd", {2, 1, 29, 13}, {2, 1, 37, 13}, {2, 1, 37, 19}},
    {"one_key", {2, 5, 8}, {2, 1, 8}, {2, 1, 8}},
    {"one_key_and_query", {3, 1, 1, 8}, {3, 1, 1, 8}, {3, 1, 1, 8}, {3, 1, 1, 1}},
    {"one_query", {4, 1, 64}, {4, 300, 64}, {4, 300, 64}},
    {"many_keys", {2, 45, 16}, {2, 1024, 16}, {2, 1024, 16}},
    {"many_odd_keys", {61, 24}, {1001, 24}, {1001, 40}},
    {"wide", {1, 2, 30, 64}, {1, 2, 77, 64}, {1, 2, 77, 160}},
    {"one_feature", {2, 30, 1}, {2, 77, 1}, {2, 77, 1}},
    {"keys_for_all_heads", {2, 3, 21, 16}, {2, 1, 50, 16}, {50, 16}},
    {"queries_for_all_heads", {21, 16}, {2, 1, 50, 16}, {3, 50, 16}},
    {"mask_of_all_heads", {2, 3, 21, 16}, {2, 3, 50, 16}, {2, 3, 50, 16}, {21, 50}},
    {"mask_of_keys", {2, 3, 21, 16}, {2, 3, 300, 16}, {2, 3, 300, 16}, {2, 1, 1, 300}},
    {"mask_of_rows", {2, 21, 16}, {2, 50, 16}, {2, 50, 16}, {21, 1}},
};

Graph attention_graph(const AttentionCase& c) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (const Shape& shape : {c.q, c.k, c.v}) inputs.push_back(graph.add_input({DType::f32, shape}, "x"));
  if (!c.mask.empty()) inputs.push_back(graph.add_input({DType::f32, c.mask}, "mask"));
  graph.set_outputs({graph.add(Op::Attention, NoAttrs{}, inputs)}, {"y"});
  return graph;
}

class Attention : public ::testing::TestWithParam<std::tuple<AttentionCase, Isa>> {};

TEST_P(Attention, MatchesInterpreter) {
  const auto& [c, isa] = GetParam();
  EXPECT_EQ(check_family(attention_graph(c), "attention", {.isa = isa}), 1);
}

TEST_P(Attention, MatchesInterpreterInBlocksOfKeys) {
  const auto& [c, isa] = GetParam();
  EXPECT_EQ(check_family(attention_graph(c), "attention", {.isa = isa, .l2_bytes = kSmallL2}), 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Attention,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::ValuesIn(isas_that_run_here())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(static_cast<int>(std::get<1>(info.param)));
                         });

// Of the kernels themselves, whatever the scores are taken relative to. (Without a bound: a quotient is
// scaled by what comparisons choose.)
TEST(AttentionInBlocks, IsThatOfTheWhole) {
  const Graph graph = attention_graph({"", {3, 2}, {6, 2}, {6, 2}});
  const Candidate candidate = whole_graph(graph);
  const Device target = cpu_device(Isa::portable, 1);
  std::vector<Refusal> refused;
  const auto all = implementations(graph, candidate, target, Accuracy::standard, &refused);
  const auto found = std::ranges::find(all, "attention", &Implementation::family);
  ASSERT_NE(found, all.end());
  const auto kernel = [&](int64_t keys) {
    Implementation implementation = *found;
    auto& schedule = std::get<AttentionSchedule>(implementation.schedule);
    schedule.keys = keys;
    schedule.score.vectors = 1;  // of four lanes: blocks of keys are of whole vectors
    return *propose(graph, candidate, implementation, target).value().tiles;
  };
  const FieldResult result = tile::compare_over_field(kernel(6), kernel(4));
  EXPECT_EQ(result.says, FieldResult::Says::same) << result.why;
}

// Rows with nothing before some key, with gaps, with one key, with none (which are NaN), and of the least
// finite number.
HostTensor mask(int64_t rows, int64_t keys) {
  HostTensor tensor(TensorType{DType::f32, {rows, keys}});
  float* m = tensor.mutable_data<float>();
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < keys; ++k) {
      const bool masked[] = {k > r, k < keys / 2, k % 3 != 0, k != keys - 1, true, true, false};
      m[r * keys + k] = !masked[r % 7] ? 0.0f
                        : r % 7 == 5   ? std::numeric_limits<float>::lowest()
                                       : -kInfinity;
    }
  return tensor;
}

TEST(AttentionMask, OfInfinities) {
  const Shape q = {2, 30, 16}, k = {2, 151, 16};
  std::vector<HostTensor> inputs;
  for (const Shape& shape : {q, k, k}) inputs.push_back(random_tensor({DType::f32, shape}, 5));
  inputs.push_back(mask(30, 151));
  for (Isa isa : isas_that_run_here())
    for (int64_t l2_bytes : {kSmallL2, int64_t{1} << 20})
      EXPECT_EQ(check_family(attention_graph({"mask", q, k, k, {30, 151}}), "attention",
                             {.isa = isa, .l2_bytes = l2_bytes}, inputs),
                1);
}

// Scores of some hundreds, growing and falling along the keys: maxima move between blocks.
TEST(AttentionMask, LargeScores) {
  const Shape q = {50, 16}, k = {300, 16};
  for (Isa isa : isas_that_run_here()) {
    std::vector<HostTensor> inputs = {random_tensor({DType::f32, q}, 5, 20),
                                      random_tensor({DType::f32, k}, 6)};
    float* keys = inputs[1].mutable_data<float>();
    for (int64_t i = 0; i < inputs[1].elements(); ++i) keys[i] *= static_cast<float>(i) / 300;
    // Scores are rounded to a few 1e-5 before their exponentials are taken.
    EXPECT_EQ(check_family(attention_graph({"large", q, k, k}), "attention",
                           {.isa = isa, .tolerance = 1e-3, .l2_bytes = kSmallL2}, inputs),
              1);
  }
}

// As the models have it: heads split before, a factor on the queries, heads joined after.
TEST(AttentionMask, LayoutPrologueAndEpilogue) {
  for (Isa isa : isas_that_run_here()) {
    Graph graph;
    const ValueId q = graph.add_input({DType::f32, {1, 21, 48}}, "q");
    const ValueId kv = graph.add_input({DType::f32, {1, 39, 96}}, "kv");
    auto heads = [&](ValueId value, int64_t rows, std::vector<int64_t> perm) {
      const ValueId split = graph.add(Op::Reshape, ShapeAttrs{{1, rows, 3, 16}}, {value});
      return graph.add(Op::Transpose, PermAttrs{std::move(perm)}, {split});
    };
    auto half = [&](int64_t start) {
      return graph.add(Op::Slice, SliceAttrs{{0, 0, start}, {1, 39, 48}, {1, 1, 1}}, {kv});
    };
    const ValueId scale = graph.add_constant(HostTensor::of<float>(DType::f32, {}, {0.25f}), "scale");
    const ValueId scaled = graph.add(Op::Mul, NoAttrs{}, {heads(q, 21, {0, 2, 1, 3}), scale});
    const ValueId k = graph.add(Op::Transpose, PermAttrs{{0, 1, 3, 2}}, {heads(half(0), 39, {0, 2, 3, 1})});
    ValueId y = graph.add(Op::Attention, NoAttrs{}, {scaled, k, heads(half(48), 39, {0, 2, 1, 3})});
    y = graph.add(Op::Reshape, ShapeAttrs{{1, 21, 48}},
                  {graph.add(Op::Transpose, PermAttrs{{0, 2, 1, 3}}, {y})});
    graph.set_outputs({graph.add(Op::Add, NoAttrs{}, {y, q})}, {"y"});
    EXPECT_EQ(check_family(graph, "attention", {.isa = isa}), 1);
  }
}

// The weight of a second key with score x is e^x / (1 + e^x): in every head x falls by one, and the second
// value grows as e^-x, so that results are near 1 and show the relative error of small exponentials.
TEST(AttentionMask, ExponentialsOfAllSizes) {
  constexpr int64_t kHeads = 86, kQueries = 64;
  const Shape q = {kHeads, kQueries, 1}, k = {2, 1}, v = {kHeads, 2, 1};
  std::vector<HostTensor> inputs;
  for (const Shape& shape : {q, k, v}) inputs.emplace_back(TensorType{DType::f32, shape});
  inputs[1].mutable_data<float>()[0] = 0;
  inputs[1].mutable_data<float>()[1] = 1;
  for (int64_t head = 0; head < kHeads; ++head) {
    const auto from = static_cast<float>(head);
    for (int64_t i = 0; i < kQueries; ++i)
      inputs[0].mutable_data<float>()[head * kQueries + i] = -from - static_cast<float>(i) / kQueries;
    inputs[2].mutable_data<float>()[2 * head] = 0;
    inputs[2].mutable_data<float>()[2 * head + 1] = std::exp(from);
  }
  for (Isa isa : isas_that_run_here())
    EXPECT_EQ(check_family(attention_graph({"exponentials", q, k, v}), "attention",
                           {.isa = isa, .tolerance = isa == Isa::portable ? 6e-6 : 6e-7}, inputs),
              1);
}

// No fewer bytes and products than the bound says can be done.
TEST(AttentionMask, BoundIsWhatMustBeDone) {
  const Graph graph = attention_graph({"", {2, 30, 8}, {2, 50, 8}, {2, 50, 24}, {30, 50}});
  Device target;
  const auto listed = implementations(graph, whole_graph(graph), target, Accuracy::strict);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].flops, 2.0 * 2 * 30 * 50 * (8 + 24));
  EXPECT_EQ(listed[0].bytes, 4.0 * (2 * 30 * 8 + 2 * 50 * 8 + 2 * 50 * 24 + 30 * 50 + 2 * 30 * 24));
}

}  // namespace
}  // namespace korch::testing
