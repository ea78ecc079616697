#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness.h"

namespace korch::testing {
namespace {

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
    {"one_query", {4, 1, 64}, {4, 300, 64}, {4, 300, 64}},
    {"many_keys", {2, 45, 16}, {2, 1024, 16}, {2, 1024, 16}},
    {"many_odd_keys", {61, 24}, {1001, 24}, {1001, 40}},
    {"wide", {1, 2, 30, 64}, {1, 2, 77, 64}, {1, 2, 77, 160}},
    {"keys_for_all_heads", {2, 3, 21, 16}, {2, 1, 50, 16}, {50, 16}},
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
  EXPECT_GE(check_family(attention_graph(c), "attention", {.isa = isa}), 1);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Attention,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::ValuesIn(isas_that_run_here())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(static_cast<int>(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace korch::testing
