// A loop in two phases: FlashDecoding, of any block graph with one loop that was found.
#include "korch/block/split.h"

#include <gtest/gtest.h>

#include "evaluate.h"
#include "groups.h"
#include "korch/block/enumerate.h"

namespace korch::block {
namespace {

// Phases of all structures with one loop, over few values in two parts.
struct Split {
  std::string name;
  Terms parts;  // the group
  TwoPhases phases;
};

std::vector<Split> all_split() {
  std::vector<Split> all;
  for (auto [name, group] : groups()) {
    for (size_t i = 0; i < group.axes.size(); ++i) {
      const std::string& axis = group.axes[i].name;
      group.axes[i].extent = axis == "n" || axis == "d" ? 4 : 2;
    }
    SearchLog log;
    for (const BlockGraph& graph : structures(group, {}, log)) {
      const std::variant<TwoPhases, std::string> split = split_loop(graph, 2);
      if (const TwoPhases* phases = std::get_if<TwoPhases>(&split))
        all.push_back({name, split_axis(group, graph.loops[0], 2), *phases});
    }
  }
  return all;
}

TEST(BlockPhases, AreProvenAndComputeTheirGroups) {
  int many = 0;
  for (const auto& [name, parts, phases] : all_split()) {
    EXPECT_EQ(fault_in(phases.first), "") << name << "\n" << print(phases.first);
    EXPECT_EQ(fault_in(phases.second), "") << name << "\n" << print(phases.second);
    EXPECT_TRUE(prove(parts, phases).proven) << name << "\n" << print(phases.first) << print(phases.second);
    const Evaluator evaluator(parts.axes);
    std::vector<Numbers> leaves;
    for (size_t i = 0; i < parts.leaves.size(); ++i)
      leaves.push_back(parts.leaves[i].type == DType::bool_
                           ? Numbers(evaluator.points(), 1)
                           : evaluator.random(parts.leaves[i].axes, parts.leaves[i].type, i));
    const std::vector<Numbers> expected = evaluator.evaluate(parts, leaves);
    std::vector<Numbers> between = leaves;
    for (Numbers& made : evaluator.run(phases.first, leaves, 1)) between.push_back(std::move(made));
    const std::vector<Numbers> results = evaluator.run(phases.second, between, 1);
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(close(results[i], expected[static_cast<size_t>(parts.results[i])])) << name;
    ++many;
  }
  EXPECT_GT(many, 30);
}

// The second phase's factors swapped, dropped, taken from another part; the first one's loop without
// rescaling.
TEST(BlockPhases, WithAMistakeAreNotProven) {
  int many = 0;
  for (const auto& [name, parts, phases] : all_split()) {
    const auto expect_refused = [&, &parts = parts, &name = name](const TwoPhases& wrong) {
      EXPECT_FALSE(prove(parts, wrong).proven) << name << "\n" << print(wrong.first) << print(wrong.second);
      ++many;
    };
    for (size_t i = 0; i < phases.second.steps.size(); ++i) {
      const Step& step = phases.second.steps[i];
      TwoPhases wrong = phases;
      Step& changed = wrong.second.steps[i];
      if (step.kind == Step::Kind::fold) {
        changed.combine = step.combine == ScalarFn::add ? ScalarFn::max : ScalarFn::add;
        expect_refused(wrong);
      }
      // Not a difference that is squared.
      if (step.kind == Step::Kind::call &&
          (step.op == Op::Div || (step.op == Op::Sub && name != "matmul_statistics"))) {
        std::swap(changed.args[0], changed.args[1]);
        expect_refused(wrong);
      }
    }
    for (size_t i = 0; i < phases.first.steps.size(); ++i) {
      if (phases.first.steps[i].rescale < 0) continue;
      TwoPhases wrong = phases;
      wrong.first.steps[i].rescale = -1;
      expect_refused(wrong);
    }
  }
  EXPECT_GT(many, 100);
}

TEST(BlockPhases, RefuseByName) {
  SearchLog log;
  const Terms group = groups().at("attention");
  std::map<std::string, int> why;
  for (const BlockGraph& graph : structures(group, {}, log))
    for (int64_t parts : {7, 8}) {
      const std::variant<TwoPhases, std::string> split = split_loop(graph, parts);
      if (const std::string* refused = std::get_if<std::string>(&split)) ++why[*refused];
    }
  EXPECT_GT(why["not one loop"], 0);
  EXPECT_GT(why["7 parts of 1024"], 0);
}

}  // namespace
}  // namespace korch::block
