// Tile graphs as text: what is printed is parsed to the same; what is wrong is refused with its line.
#include <gtest/gtest.h>

#include "graphs.h"
#include "korch/kernel/region.h"
#include "korch/kernel/schedule.h"

namespace korch::testing {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  try {
    return tile::coverage_fault(tile::parse_tile_graph(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    return error.what();
  }
}

TEST(TileText, RoundTrips) {
  for (const char* text : kGraphs) EXPECT_EQ(tile::print(tile::parse_tile_graph(text)), text);
}

TEST(TileText, EachKindOfNestHasAGraph) {
  for (const tile::NestKindRow& row : tile::kNestKinds) {
    int nests = 0;
    for (const char* text : kGraphs)
      for (const tile::Phase& phase : tile::parse_tile_graph(text).phases)
        for (const tile::Nest& nest : phase.nests) nests += nest.kind == row.kind;
    EXPECT_GT(nests, 0) << row.name << ": a graph in graphs.h";
  }
}

TEST(TileText, RefusesWhatIsNoKindByNamingAll) {
  const std::string told = refusal(replaced(kSoftmax, "reduce max", "sort max"));
  for (const tile::NestKindRow& row : tile::kNestKinds)
    EXPECT_NE(told.find(row.name), std::string::npos) << row.name << ": " << told;
}

constexpr const char* kEverything = R"(kernel {
  in0: i64[4]
  in1: f32[60]
  const0: f32[8]
  out0: i64[4]
  out1: f32[4]
  out2: bool[4]
  out3: f32[4]
  phase i0 in 4 {
    arg_reduce max over r0 in 5, r1 in 3 at r0 * 3 + r1 last {
      %0 = in1[i0 * 15 + r0 * 3 + r1]
      out0[i0] <- %0
    }
    map folding w0 in 7 {
      %0 = const0[w0 + 1]
      %1 = in1[index_abs(w0 * 2 - 3)]
      %2 = f32 mul(%0, %1)
      %3 = fold add w0 of %2
      out1[i0] <- %3
    }
    map {
      %0 = in0[i0]
      %1 = checked %0 of 20
      %2 = in1[%1 * 3 + index_clamp(i0 - 1, 0, 2)]
      %3 = f32 inf
      %4 = bool lt(%2, %3)
      out2[i0] <- %4
    }
  }
  phase {
    once map i1 in 4 lanes 4 along i1 {
      %0 = f32 -0.5
      %1 = in1[(i1 + 2) / 3]
      %2 = %1 if 1 <= i1 <= 3 and 0 <= (i1 + 1) % 3 <= 1 else %0
      out3[i1] <- %2
      segment i1 in 0..1 {
        out3[0] <- %0
      }
      segment i1 in 1..4 {
        %3 = in1[(i1 + 2) / 3]
        %4 = %3 if 0 <= (i1 + 1) % 3 <= 1 else %0
        out3[i1] <- %4
      }
    }
  }
}
)";

TEST(TileText, SaysEverything) {
  const std::string once = tile::print(tile::parse_tile_graph(kEverything));
  EXPECT_EQ(tile::print(tile::parse_tile_graph(once)), once);
  for (const char* part :
       {"arg_reduce max over r0 in 5, r1 in 3 at ", " last {", "folding w0 in 7", "checked %",
        "once map i1 in 4 lanes 4 along i1", "segment i1 in 1..4 {", "f32 inf", "index_clamp(i0 - 1, 0, 2)"})
    EXPECT_NE(once.find(part), std::string::npos) << part << "\n" << once;
}

// An image of 9 in blocks of 4, each with its neighbours.
constexpr const char* kPanels = R"(kernel {
  in0: f32[9]
  out0: f32[18]
  s0: f32[6] at 0
  scratch 64
  phase x in 3 {
    map px in 6 lanes 4 along px partition along px {
      %0 = in0[px + x * 4 - 1]
      %1 = f32 0
      %2 = %0 if 0 <= px + x * 4 - 1 <= 8 else %1
      s0[px] <- %2
    }
    map i0 in 6 {
      %0 = s0[i0]
      out0[i0 + x * 6] <- %0
    }
  }
}
)";

TEST(TileText, OrderedVariablesMayBeInChunks) {
  const std::string text =
      "kernel {\n  in0: f32[21]\n  out0: f32[21]\n  phase t in 7 by 3 ordered, i0 in 3 {\n    for t in 7 {\n"
      "      map i1 in 1 {\n        %0 = in0[i0 + t * 3]\n        out0[i0 + t * 3] <- %0\n      }\n    }\n"
      "  }\n}\n";
  const tile::ScheduledGraph graph = tile::parse_tile_graph(text);
  EXPECT_EQ(tile::print(graph), text);
  EXPECT_EQ(graph.phases[0].rounds(), 3);
  EXPECT_EQ(graph.phases[0].slices(), 9);
  std::string other = text;
  other.replace(other.find("t in 7 by 3 ordered, i0 in 3"), 28, "i0 in 3, t in 7 by 3 ordered");
  EXPECT_THROW(tile::parse_tile_graph(other), Error);
}

TEST(TileText, RefusesPartitionsOfNothing) {
  EXPECT_EQ(tile::print(tile::parse_tile_graph(kPanels)), kPanels);
  const std::string ask = "0 <= px + x * 4 - 1 <= 8";
  const struct {
    std::string from, to, reason;
    int line;
  } cases[] = {
      {"partition along px", "partition along pz", "no variable 'pz' to partition along", 12},
      {"partition along px", "partition along px, px", "partitioned along 'px' twice", 12},
      {"partition along px", "partition along x", "no condition changes along 'x'", 12},
      {"partition along px", "partition px", "expected", 7},
      {"map i0 in 6", "map i0 in 6 partition along i0", "no condition changes along 'i0'", 16},
      // The vector loop's own segments cut it here.
      {ask, "1 <= px <= 4", "no condition changes along 'px'", 12},
      {ask, "0 <= (px + x * 4 - 1) / 2 <= 4", "no condition changes along 'px'", 12},
      {"map px in 6 lanes 4 along px", "map px in 6, i9 in 2 lanes 4 along px transposed with i9",
       "only a map without transposed blocks is partitioned", 12},
  };
  for (const auto& c : cases) {
    const std::string told =
        refusal(replaced(replaced(kPanels, "in0: f32[9]", "in0: f32[16]"), c.from, c.to));
    EXPECT_NE(told.find(c.reason), std::string::npos) << c.to << ": " << told;
    EXPECT_NE(told.find("line " + std::to_string(c.line) + ", column "), std::string::npos) << told;
  }
}

TEST(TileText, RefusesWithTheLine) {
  const struct {
    const char *from, *to, *reason;
    int line = 0;  // 0: it is the graph as a whole that is at fault
  } cases[] = {
      {"in0[i0 * 6 + r0]", "in0[i0 * 6 + r0 + 1]", "reads 1..24 of in0, which has 24 elements", 12},
      {"s1[r1] <- %3", "s1[r1 + 1] <- %3", "writes 1..6 of s1, which has 6 elements", 20},
      {"out0[i0 * 6 + i1] <- %2", "in0[i0 * 6 + i1] <- %2", "in0 is only read"},
      {"out0[i0 * 6 + i1] <- %2", "out0[i0 * 6] <- %2", "out0 is written again for every i1"},
      {"out0[i0 * 6 + i1] <- %2", "out0[i0 * 5 + i1] <- %2", "element 5 of out0 is written twice"},
      {"phase i0 in 4 {", "phase i0 in 3 {", "element 18 of out0 is not written"},
      {"scratch 192", "scratch 128", "s2 exceeds the scratch"},
      {"s1: f32[6] at 64", "s1: f32[60] at 64", "s1 exceeds the scratch"},
      {"s2: f32[1] at 128", "s2: f32[1] at 80", "s2 lies in another buffer or unaligned"},
      {"%2 = f32 sub(%0, %1)", "%2 = f32 sub(%0)", "sub takes 2 operands, not 1", 16},
      {"%2 = f32 sub(%0, %1)", "%2 = f32 sub(%0, %7)", "%7 is not defined above", 16},
      {"%2 = f32 sub(%0, %1)", "%2 = i32 sub(%0, %1)", "i32 sub of f32"},
      {"%2 = f32 sub(%0, %1)", "%2 = f32 slice(%0, %1)", "unknown function 'slice'", 16},
      {"s0: f32[1]", "s0: i32[1]", "s0 of i32 takes no f32"},
      {"s0[0] <- %0", "s0[i9] <- %0", "no variable 'i9'", 11},
      {"map i1 in 6 {", "map i0 in 6 {", "'i0' is declared twice"},
      {"map i1 in 6 {", "map i1 in 99999999999999999999 {", "is not an integer"},
      {"map i1 in 6 {", "map i1 in 6 lanes 8 along i7 {", "'i7' is no loop that lanes could run along"},
      {"reduce max", "reduce sub", "nothing is combined by sub", 9},
      {"out0: f32[24]", "out1: f32[24]", "'out1' should be out0"},
      {"  }\n}\n", "  }\n", "expected"},
  };
  for (const auto& c : cases) {
    const std::string told = refusal(replaced(kSoftmax, c.from, c.to));
    EXPECT_NE(told.find(c.reason), std::string::npos) << c.from << " -> " << c.to << ": " << told;
    const std::string place = c.line > 0 ? "line " + std::to_string(c.line) + ", column " : "";
    EXPECT_NE(told.find(place), std::string::npos) << told;
  }
}

TEST(TileText, RefusesWhatHasAnOrder) {
  const struct {
    const char *from, *to, *reason;
    int line = 0;
  } cases[] = {
      {"scatter i0 in 2", "map i0 in 2", "a store where data says", 22},
      {"phase {", "phase p0 in 2 {", "several slices scatter over out0", 22},
      {"%0 = in1[i0 * 6 + i1]", "%0 = out0[i0 * 6 + i1]", "a scatter over out0 reads it", 22},
      {"checked %1 of 4", "checked %1 of 5", "writes 0..29 of out0, which has 24 elements", 22},
      {"scatter i0 in 2, i1 in 6 {", "scatter i0 in 2, i1 in 6 lanes 8 along i0 {",
       "lanes along i0 would scatter in another order", 22},
      {"phase i0 in 4 {\n    map i1 in 6", "phase i0 in 3 {\n    map i1 in 6",
       "element 18 of out0 is not written before a scatter"},
      {"scan add over", "scan add over i1 in 3,", "out1 is written again for every i1"},
      {"scan add", "scan sub", "nothing is combined by sub", 25},
      {"out1[i0 * 6 + r0] <- %0", "out1[i0 * 6] <- %0", "out1 is written again for every r0"},
      {"scan add", "reduce add", "the result of a reduction over r0 goes to every r0", 28},
      {"top_k max", "top_k add", "add finds no element", 29},
      {"rank k0 in 2", "", "expected 'rank'", 29},
      {"rank k0 in 2", "rank k0 in 7", "6 elements have no 7 best", 33},
      {"out2[i0 * 2 + k0] <- %0", "out2[i0] <- %0", "the positions have no places of their own along k0", 33},
      {"out3[i0 * 2 + k0] <- %0", "out3[i0 * 2 + r1] <- %0", "top_k stores at r1, not at k0", 33},
      {"%0 = out1[i0 * 6 + r1]", "%0 = out1[i0 * 6 + k0]", "top_k of elements that depend on k0", 33},
      {"%0 = out1[i0 * 6 + r1]", "%0 = out3[i0 + r1]", "top_k reads out3 and stores there", 33},
      {"over r1 in 6 rank", "over r1 in 3, r3 in 2 rank", "top_k looks along one variable", 33},
      {"out2[i0 * 2 + k0] <- %0", "out4[i0 * 2 + k0] <- %0", "element 0 of out2 is not written"},
      {"out3[i0 * 2 + k0] <- %0", "out3[i0 + k0] <- %0", "element 1 of out3 is written twice"},
      {"out2: i64[8]", "out2: i32[8]", "out2 of i32 takes no i64", 33},
      {"out3[i0 * 2 + k0] <- %0", "out3[i0 * 2 + k0] <- %0 if 1 <= r1 <= 3",
       "only maps, scatters and the element of an arg_reduce have conditions", 33},
      {"if 1 <= i1", "if 2 <= i1", ""},
      {"if 1 <= i1", "if 0 <= i1", "reads -1..23 of out0, which has 24 elements", 37},
      {"if 1 <= i1", "if 9 <= i1", "a condition that never holds", 36},
      {"if 1 <= i1 + r2", "if 1 <= i1 + r3", "no variable 'r3'", 36},
      {"by comparison", "by", "expected 'comparison'", 34},
  };
  for (const auto& c : cases) {
    const std::string told = refusal(replaced(kInOrder, c.from, c.to));
    EXPECT_EQ(told.empty(), std::string(c.reason).empty()) << c.from << " -> " << c.to << ": " << told;
    EXPECT_NE(told.find(c.reason), std::string::npos) << c.from << " -> " << c.to << ": " << told;
    const std::string place = c.line > 0 ? "line " + std::to_string(c.line) + ", column " : "";
    EXPECT_NE(told.find(place), std::string::npos) << c.from << " -> " << c.to << ": " << told;
  }
}

TEST(TileText, RefusesSuppressionsThatDoNotFit) {
  const struct {
    const char *from, *to, *reason;
  } cases[] = {
      {"suppress max", "suppress min", "suppress takes the largest"},
      {"over r0 in 6, r1 in 6", "over r0 in 6, r1 in 5", "with another for what was taken"},
      {"in0: f32[12]", "in0: i32[12]", "suppress compares floats"},
      {"<- %4", "<- %2", "to exclude is a bool"},
      {"out0[i0 * 3 + k0] <- %0", "out0[i0 * 3 + k0] <- %1", "a number that depends on r1, which was taken"},
      {"out0[i0 * 3 + k0]", "out0[i0 * 3 + r0]", "what is taken has no places of its own along k0"},
      {"temp0[i0 * 6 + r0]", "temp0[i0 * 6 + r1]", "no working memory of its own along r0"},
      {"%1 = in0[i0 * 6 + r1]", "%1 = in0[i0 * 6 + k0]", "suppress of elements that depend on k0"},
      {"rank k0 in 3", "rank k0 in 3 lanes 8 across r0", "what ranks has no lanes"},
      {"      temp0[i0 * 6 + r0] <- %4\n", "", "suppress stores what is taken, and works where it may"},
  };
  for (const auto& c : cases) {
    const std::string told = refusal(replaced(kSuppress, c.from, c.to));
    EXPECT_FALSE(told.empty()) << c.from << " -> " << c.to;
    EXPECT_NE(told.find(c.reason), std::string::npos) << c.from << " -> " << c.to << ": " << told;
  }
}

TEST(TileText, RefusesPartsThatDoNotFit) {
  const struct {
    const char *from, *to, *reason;
  } cases[] = {
      {"over r0 in 4 anew if 0 <= b <= 0", "over r0 in 4 anew if 0 <= i0 <= 0", "no variable 'i0' here"},
      {"anew never", "anew always", "expected 'if'"},
      {"reduce max over r1 in 100 by comparison", "reduce add over r1 in 100 by comparison",
       "only extremes are found by comparison"},
      {"f32 exp(%2) decaying", "f32 neg(%2) decaying", "no buffer 'decaying'"},
  };
  for (const auto& c : cases) {
    const std::string told = refusal(replaced(kInParts, c.from, c.to));
    EXPECT_NE(told.find(c.reason), std::string::npos) << c.from << " -> " << c.to << ": " << told;
  }
}

// Any prefix, and any byte changed, is a graph or an Error: nothing else happens.
TEST(TileText, SurvivesDamage) {
  for (const std::string text : {kEverything, kInOrder, kSuppress})
    for (size_t i = 0; i < text.size(); ++i) {
      refusal(text.substr(0, i));
      for (char c : {'%', '9', '-', '{', ']', 'z'}) {
        std::string damaged = text;
        damaged[i] = c;
        refusal(damaged);
      }
    }
}

}  // namespace
}  // namespace korch::testing
