// Each pass of the lowering before and after, as text.
#include <gtest/gtest.h>

#include "korch/codegen/passes/expand.h"
#include "korch/codegen/passes/partition.h"
#include "korch/codegen/passes/segment.h"
#include "korch/codegen/passes/vectorize.h"
#include "korch/kernel/partition.h"
#include "korch/kernel/region.h"

namespace korch::testing {
namespace {

std::string kernel(const std::string& buffers, const std::string& nests) {
  return "kernel {\n" + buffers + "  phase {\n" + nests + "  }\n}\n";
}

template <typename Pass>
void expect_pass(const std::string& before, Pass pass, const std::string& after) {
  tile::ScheduledGraph graph = tile::parse_tile_graph(before);
  pass(graph);
  EXPECT_EQ(tile::print(graph), after);
  EXPECT_EQ(tile::structural_fault(graph), "");
  EXPECT_EQ(tile::coverage_fault(graph), "");
}

TEST(Passes, ExpandWritesOutLoopsThatDecideConditions) {
  const std::string buffers = "  in0: f32[8]\n  out0: f32[16]\n";
  expect_pass(kernel(buffers, R"(    map i0 in 8, i1 in 2 {
      %0 = in0[i0]
      %1 = f32 0
      %2 = %0 if 0 <= (i1 + 1) % 2 <= 0 else %1
      out0[i0 * 2 + i1] <- %2
    }
)"),
              tile::expand, kernel(buffers, R"(    map i0 in 8 {
      %0 = f32 0
      out0[i0 * 2] <- %0
    }
    map i0 in 8 {
      %0 = in0[i0]
      out0[i0 * 2 + 1] <- %0
    }
)"));
}

// As a family of linear kernels asks for them: short vectors, whose elements come from here or from there.
TEST(Passes, ExpandLeavesTheLoopThatLanesRunAlong) {
  const std::string text = kernel("  in0: f32[32]\n  in1: f32[32]\n  out0: f32[32]\n",
                                  R"(    map i0 in 4, i1 in 8 lanes 8 along i1 {
      %0 = in0[i0 * 8 + i1]
      %1 = in1[i0 * 8 + i1]
      %2 = %0 if 0 <= ((i1) / 2) + ((i1) % 2) * 4 <= 5 else %1
      out0[i0 * 8 + i1] <- %2
    }
)");
  expect_pass(text, tile::expand, text);
}

TEST(Passes, VectorizeTakesTheVariableWithTheCheapestAccesses) {
  const std::string buffers = "  in0: f32[80]\n  out0: f32[80]\n";
  const std::string body = R"({
      %0 = in0[i0 * 20 + i1]
      out0[i0 * 20 + i1] <- %0
    }
)";
  expect_pass(
      kernel(buffers, "    map i0 in 4, i1 in 20 " + body),
      [](tile::ScheduledGraph& graph) { tile::vectorize(graph, 16); },
      kernel(buffers, "    map i0 in 4, i1 in 20 lanes 16 along i1 " + body));
}

TEST(Passes, VectorizeTurnsBlocksWhereLoadsAndStoresRunAcross) {
  const std::string buffers = "  in0: f32[640]\n  out0: f32[640]\n";
  const std::string body = R"({
      %0 = in0[i0 + i1 * 32]
      out0[i0 * 20 + i1] <- %0
    }
)";
  expect_pass(
      kernel(buffers, "    map i0 in 32, i1 in 20 " + body),
      [](tile::ScheduledGraph& graph) { tile::vectorize(graph, 16); },
      kernel(buffers, "    map i0 in 32, i1 in 20 lanes 16 along i1 transposed with i0 " + body));
}

TEST(Passes, VectorizeLeavesGathersAlone) {
  const auto gather = [](const std::string& loops, const std::string& value) {
    return kernel(
        "  in0: f32[80]\n  in1: i64[20]\n  out0: f32[80]\n", "    map i0 in 4, i1 in 20" + loops + R"( {
      %0 = in1[i1]
      %1 = checked %0 of 20
      %2 = in0[%1 + i0 * 20]
      %3 = f32 )" + value + R"((%2)
      out0[i0 * 20 + i1] <- %3
    }
)");
  };
  const auto vectorize = [](tile::ScheduledGraph& graph) { tile::vectorize(graph, 16); };
  expect_pass(gather("", "exp"), vectorize, gather(" lanes 16 along i1", "exp"));
  const auto moved = [&](const std::string& loops) {
    std::string text = gather(loops, "cast");
    const size_t at = text.find("      %3 = ");
    text.erase(at, text.find('\n', at) + 1 - at);
    return text.replace(text.find("<- %3"), 5, "<- %2");
  };
  expect_pass(moved(""), vectorize, moved(""));
}

// No loop of it is written out before the others, and lanes run along the innermost alone, unless data says
// where that goes, too.
TEST(Passes, AScatterKeepsItsOrder) {
  const auto scatter =
      [](const std::string& loops, const std::string& row) {
        return kernel("  in0: f32[80]\n  in1: i64[80]\n  out0: f32[80]\n",
                      R"(    map i0 in 80 {
      %0 = in0[i0]
      out0[i0] <- %0
    }
    scatter )" + loops + R"( {
      %0 = in0[i0 * 20 + i1]
      %1 = f32 0
      %2 = %0 if 0 <= ((i0 + 1) % 2) <= 0 else %1
      %3 = in1[)" + row + R"(]
      %4 = checked %3 of 4
      out0[%4 * 20 + i1] <- %2
    }
)");
      };
  const auto vectorize = [](tile::ScheduledGraph& graph) {
    const tile::NestSchedule first = graph.schedule[0][0];
    tile::vectorize(graph, 16);
    graph.schedule[0][0] = first;
  };
  expect_pass(scatter("i0 in 4, i1 in 20", "i0"), tile::expand, scatter("i0 in 4, i1 in 20", "i0"));
  expect_pass(scatter("i0 in 4, i1 in 20", "i0"), vectorize,
              scatter("i0 in 4, i1 in 20 lanes 16 along i1", "i0"));
  for (const auto& [loops, row] :
       {std::pair{"i1 in 20, i0 in 4", "i0"}, {"i0 in 4, i1 in 20", "i0 * 20 + i1"}})
    expect_pass(scatter(loops, row), vectorize, scatter(loops, row));
}

TEST(Passes, SegmentCutsWhereAConditionChanges) {
  const std::string buffers = "  in0: f32[8]\n  out0: f32[8]\n";
  const std::string whole = R"(    map i0 in 8 lanes 4 along i0 {
      %0 = in0[i0 - 1]
      %1 = f32 0
      %2 = %0 if 1 <= i0 <= 7 else %1
      out0[i0] <- %2
)";
  expect_pass(kernel(buffers, whole + "    }\n"), tile::segment,
              kernel(buffers, whole + R"(      segment i0 in 0..1 {
        out0[0] <- %1
      }
      segment i0 in 1..8 {
        out0[i0] <- %0
      }
    }
)"));
}

// The second nest copies the first one's panel out; it stores no scratch.
std::string panels(const std::string& head) {
  return R"(kernel {
  in0: f32[64]
  out0: f32[96]
  s0: f32[24] at 0
  scratch 128
  phase y in 2, x in 2 {
    map pr in 4, px in 6)" +
         head + R"( {
      %0 = in0[pr * 8 + px + x * 4 + y * 32 - 9]
      %1 = f32 0
      %2 = %0 if 0 <= pr + y * 4 - 1 <= 7 and 0 <= px + x * 4 - 1 <= 7 else %1
      s0[pr * 6 + px] <- %2
    }
    map pr in 4, px in 6 {
      %0 = s0[pr * 6 + px]
      %1 = f32 0
      %2 = %0 if 0 <= px + x * 4 - 1 <= 7 else %1
      out0[pr * 6 + px + x * 24 + y * 48] <- %2
    }
  }
}
)";
}

TEST(Passes, PartitionTakesConditionsOutOfLoopsThatFillScratch) {
  expect_pass(
      panels(""), [](tile::ScheduledGraph& graph) { tile::partition(graph); },
      panels(" partition along pr, px"));
}

// What the printer makes of it, as nests of their own.
TEST(Passes, PartsOfAPartitionedNestAskNothingOfWhatIsDecided) {
  tile::ScheduledGraph graph = tile::parse_tile_graph(panels(" partition along pr, px"));
  const auto parts_now = [&] {
    return tile::parts_of(graph.pool, graph.phases[0], graph.phases[0].nests[0], graph.schedule[0][0]);
  };
  const tile::Parts parts = parts_now();
  const auto value_of = [&](const tile::Body& body) { return graph.pool[body.stores[0].value]; };
  EXPECT_EQ(value_of(parts.inside).kind, tile::ExprKind::load);
  EXPECT_EQ(value_of(parts.outside).kind, tile::ExprKind::constant);
  graph.schedule[0][0].partitioned = {"px"};  // rows are asked for where pixels are inside
  const tile::Parts of_pixels = parts_now();
  EXPECT_EQ(value_of(of_pixels.inside).condition.variables(), (std::set<std::string>{"pr", "y"}));
  EXPECT_EQ(value_of(of_pixels.outside).kind, tile::ExprKind::constant);
}

TEST(Passes, PartitionAsksNothingThatIsMetOnlyOutside) {
  std::string text = panels("");
  const std::string before = "      s0[pr * 6 + px] <- %2";
  text.replace(text.find(before), before.size(), R"(      %3 = in0[pr]
      %4 = %3 if 3 <= px + x * 4 - 1 <= 9 else %1
      %5 = %0 if 0 <= pr + y * 4 - 1 <= 7 and 0 <= px + x * 4 - 1 <= 7 else %4
      s0[pr * 6 + px] <- %5)");
  const tile::ScheduledGraph graph = tile::parse_tile_graph(text);
  const tile::Phase& phase = graph.phases[0];
  EXPECT_EQ(print(tile::decided_along(graph.pool, phase, phase.nests[0], "", "px")),
            "(px + x * 4) >= 1 && (px + x * 4) <= 8");
}

// Of a window, neighbouring results share what they load; that is worth it for outputs, too.
TEST(Passes, PartitionJamsWindows) {
  const auto window = [](const std::string& schedule) {
    return kernel("  in0: f32[128]\n  out0: f32[128]\n",
                  "    map x in 8, c in 16 lanes 16 along c" + schedule + R"( {
      %0 = in0[c + x * 16 - 16]
      %1 = f32 0
      %2 = %0 if 1 <= x <= 8 else %1
      %3 = in0[c + x * 16]
      %4 = f32 add(%2, %3)
      %5 = in0[c + x * 16 + 16]
      %6 = %5 if -1 <= x <= 6 else %1
      %7 = f32 add(%4, %6)
      out0[c + x * 16] <- %7
    }
)");
  };
  const std::string after = window(" partition along x jam 3");
  tile::ScheduledGraph graph = tile::parse_tile_graph(window(""));
  tile::partition(graph, 4);
  const tile::NestSchedule& schedule = graph.schedule[0][0];
  EXPECT_EQ(schedule.partitioned, std::vector<std::string>{"x"});
  EXPECT_EQ(schedule.jam, 3);  // six values are inside: two threes rather than a four and two by themselves
  const tile::Parts parts = tile::parts_of(graph.pool, graph.phases[0], graph.phases[0].nests[0], schedule);
  EXPECT_EQ(parts.jammed.stores.size(), 3u);
  EXPECT_EQ(tile::print(tile::parse_tile_graph(after)), after);
  EXPECT_THROW(tile::parse_tile_graph(window(" jam 3")), Error);
  EXPECT_THROW(tile::parse_tile_graph(window(" partition along c jam 3")), Error);
}

}  // namespace
}  // namespace korch::testing
