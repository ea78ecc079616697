// What the search finds: goldens in tests/block/structures. KORCH_UPDATE=1 rewrites them; read the diff.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "groups.h"
#include "korch/block/enumerate.h"
#include "korch/block/prove.h"
#include "korch/block/split.h"

namespace korch::block {
namespace {

std::vector<BlockGraph> found(const Terms& group) {
  SearchLog log;
  return structures(group, {}, log);
}

std::vector<std::string> loops_of(const BlockGraph& graph) {
  std::vector<std::string> loops;
  for (int loop : graph.loops) loops.push_back(graph.axes[static_cast<size_t>(loop)].name);
  return loops;
}

// The cheapest one with these loops.
std::string text_with_loops(const std::string& group, const std::vector<std::string>& loops) {
  for (const BlockGraph& graph : found(groups().at(group)))
    if (loops_of(graph) == loops) return print(graph);
  return "none\n";
}

struct Golden {
  std::string group;
  std::vector<std::string> loops;
};

class BlockStructures : public testing::TestWithParam<Golden> {};

void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = std::string(KORCH_SOURCE_DIR) + "/tests/block/structures/" + file;
  if (std::getenv("KORCH_UPDATE") != nullptr) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << "KORCH_UPDATE=1 rewrites " << file;
}

TEST_P(BlockStructures, AreFound) {
  const std::string text = text_with_loops(GetParam().group, GetParam().loops);
  expect_golden(GetParam().group + ".kt", text);
  const Proof proof = prove(groups().at(GetParam().group), parse_block_graph(text));
  EXPECT_TRUE(proof.proven && proof.saturation.saturated);
}

INSTANTIATE_TEST_SUITE_P(Goldens, BlockStructures,
                         testing::Values(Golden{"attention", {"n"}}, Golden{"attention_scaled", {"n"}},
                                         Golden{"attention_soft_cap", {"n"}}, Golden{"attention_bias", {"n"}},
                                         Golden{"attention_where", {"n"}},
                                         Golden{"attention_two_terms", {"n"}},
                                         Golden{"linear_attention", {"n"}}, Golden{"qk_norm_gqa", {"n"}},
                                         Golden{"rms_norm_matmul", {"d"}}, Golden{"lora", {"d"}},
                                         Golden{"gated_mlp", {"d"}}, Golden{"rms_swiglu", {"d"}},
                                         Golden{"rms_mlp", {"f"}}, Golden{"attention_with_statistics", {"n"}},
                                         Golden{"absmax_matmul", {"d"}}, Golden{"ntrans", {}},
                                         Golden{"log_sum_exp", {"n"}}, Golden{"inverted_residual", {"c"}}),
                         [](const auto& info) { return info.param.group; });

// FlashDecoding: the golden's loop in two phases.
TEST(BlockSearch, SplitsItsLoops) {
  const std::variant<TwoPhases, std::string> split =
      split_loop(parse_block_graph(text_with_loops("attention_scaled", {"n"})), 8);
  const TwoPhases& phases = std::get<TwoPhases>(split);
  expect_golden("attention_two_phases.kt", print(phases.first) + print(phases.second));
}

TEST(BlockSearch, CountsWhatItLeavesOut) {
  std::string text;
  for (const auto& [name, group] : groups()) {
    SearchLog log;
    const size_t kept = structures(group, {}, log).size();
    text += fmt::format("{}: {} nodes in {} classes, {} choices, {} block graphs, {} kept\n", name,
                        log.saturation.nodes, log.saturation.classes, log.choices, log.generated, kept);
    for (const auto& [why, count] : log.pruned) text += fmt::format("  {} {}\n", count, why);
  }
  expect_golden("counts.txt", text);
}

TEST(BlockSearch, FindsTheSameTwice) {
  for (const auto& [name, group] : groups()) {
    SearchLog first, second;
    EXPECT_EQ(structures(group, {}, first), structures(group, {}, second)) << name;
    EXPECT_EQ(first.pruned, second.pruned) << name;
  }
}

// All are proven, without a fault, and each found once; what is found is little work.
TEST(BlockSearch, FindsOnlyWhatIsProven) {
  for (const auto& [name, group] : groups()) {
    SearchLog log;
    const std::vector<BlockGraph> all = structures(group, {}, log);
    EXPECT_FALSE(all.empty()) << name;
    EXPECT_TRUE(log.saturation.saturated) << name;
    EXPECT_LE(log.generated, 5000) << name;
    for (const BlockGraph& graph : all) {
      EXPECT_EQ(fault_in(graph), "") << name;
      EXPECT_TRUE(prove(group, graph).proven) << name << "\n" << print(graph);
      EXPECT_EQ(print(parse_block_graph(print(graph))), print(graph));
    }
  }
}

TEST(BlockSearch, KeepsWithinItsLimits) {
  const Terms group = groups().at("layer_norm_matmul");
  SearchLog log;
  EXPECT_LE(structures(group, {.structures = 3}, log).size(), 3u);
  EXPECT_TRUE(structures(group, {.operations = 3}, log).empty());
  EXPECT_GT(log.pruned["too many operations"], 0);
  SearchLog few;
  structures(group, {.choices = 2}, few);
  EXPECT_EQ(few.choices, 2);
  // A graph that did not saturate is used, and said.
  SearchLog unsaturated;
  EXPECT_FALSE(structures(group, {.saturation = {.sweeps = 1}}, unsaturated).empty());
  EXPECT_FALSE(unsaturated.saturation.saturated);
}

// exp(s) / sum exp(s) is in the same class, and overflows.
TEST(BlockSearch, TakesNoExponentialWithoutItsMaximum) {
  SearchLog log;
  for (const BlockGraph& graph : structures(groups().at("attention"), {}, log))
    for (const Step& step : graph.steps)
      if (step.kind == Step::Kind::call && step.op == Op::Exp) {
        const Step& arg = graph.steps[static_cast<size_t>(step.args[0])];
        EXPECT_TRUE(arg.kind == Step::Kind::call && arg.op == Op::Sub) << print(graph);
      }
  EXPECT_GT(log.pruned["exp that the group does not take"], 0);
}

// Relative to a minimum exponentials grow: what earlier blocks hold would be multiplied by exp(inf - r).
TEST(BlockSearch, RescalesNothingByInfinity) {
  GroupBuilder g("m:4 n:8");
  const int x = g.leaf("m n");
  g.terms.results = {g.sum("n", g.call(Op::Exp, {g.sub(x, g.terms.fold(ScalarFn::min, g.axes("n"), x))}))};
  SearchLog log;
  for (const BlockGraph& graph : structures(g.terms, {}, log))
    EXPECT_NE(loops_of(graph), std::vector<std::string>{"n"});
  EXPECT_EQ(log.pruned["a rescaling that begins with infinity"], 1);
  const BlockGraph online = parse_block_graph(R"(block {
  axes m 4 grid, n 8
  leaf x0 f32 [m, n]
  loop n {
    %0 = load x0
    %1 = min n %0
    %2 = Sub(%0, %1)
    %3 = Exp(%2)
    %4 = before %1
    %5 = Sub(%4, %1)
    %6 = Exp(%5)
    %7 = sum n %3 rescaled %6
  }
  result %7
})");
  EXPECT_FALSE(prove(g.terms, online).proven);
}

}  // namespace
}  // namespace korch::block
