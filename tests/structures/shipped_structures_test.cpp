// The file of block graphs that is part of the program.
#include <gtest/gtest.h>

#include <algorithm>

#include "korch/structures/structured_candidates.h"

namespace korch::structures {
namespace {

// Tests over a field, of each block graph; all 64 where a file of somebody's is loaded.
constexpr int kTests = 8;

TEST(ShippedStructures, AllPassTheChecks) {
  const std::vector<block::KnownGroup> shipped = shipped_structures();
  EXPECT_GE(shipped.size(), 50u);
  for (const block::KnownGroup& known : shipped)
    for (const block::BlockGraph& graph : known.structures) {
      const Checked checked = check_structure(known.group, graph, kTests);
      EXPECT_TRUE(checked.accepted) << checked.why << "\n" << block::print(graph);
    }
}

TEST(ShippedStructures, AreTakenWithoutASearch) {
  StructureBook book;
  book.add_shipped();
  const block::KnownGroup known = shipped_structures().front();
  const Searched& found = book.find(known.group, {});
  EXPECT_FALSE(found.was_searched);
  ASSERT_EQ(found.accepted.size(), known.structures.size());
  EXPECT_EQ(found.accepted[0].origin, "found by search, ships with korch");
}

TEST(StructureBook, AFilesBlockGraphsComeFirstAndAreChecked) {
  const block::KnownGroup known = shipped_structures().front();
  // The last one first, and one that computes something else: a file that was edited.
  block::KnownGroup mine = known;
  std::ranges::reverse(mine.structures);
  block::BlockGraph wrong = known.structures[0];
  for (block::Step& step : wrong.steps)
    if (step.kind == block::Step::Kind::number) step.number *= 2;
  mine.structures.insert(mine.structures.begin(), wrong);
  StructureBook book;
  book.add_file({mine}, "mine.kt");
  book.add_shipped();
  const Searched& found = book.find(known.group, {});
  EXPECT_FALSE(found.was_searched);
  EXPECT_EQ(found.refused.at("not equal by the laws"), 1);
  ASSERT_EQ(found.accepted.size(), known.structures.size());
  EXPECT_EQ(found.accepted[0].origin, "from mine.kt");
  EXPECT_EQ(found.accepted[0].graph, known.structures.back());
  EXPECT_EQ(found.accepted[0].checked.field.tests, 64);

  // An axis more, which no term names: another group, so that a search is made.
  block::KnownGroup wider = known;
  wider.group.axes.push_back({"unused", 0});
  for (block::BlockGraph& graph : wider.structures) graph.axes.push_back({"unused", 0});
  StructureBook of_wider;
  of_wider.add_file({wider}, "wider.kt");
  EXPECT_TRUE(of_wider.find(known.group, {}).was_searched);

  // Nothing of the file is right: a search is made.
  StructureBook other;
  mine.structures = {wrong};
  other.add_file({mine}, "mine.kt");
  EXPECT_TRUE(other.find(known.group, {}).was_searched);
  EXPECT_EQ(other.find(known.group, {}).accepted.size(), known.structures.size());
}

}  // namespace
}  // namespace korch::structures
