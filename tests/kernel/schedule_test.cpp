// A schedule stands beside its graph.
#include "korch/kernel/schedule.h"

#include <gtest/gtest.h>

namespace korch::tile {
namespace {

std::string text(const std::string& schedule) {
  return "kernel {\n  in0: f32[32]\n  out0: f32[32]\n  phase {\n    map i0 in 2, i1 in 16" + schedule +
         " {\n      %0 = in0[i0 * 16 + i1]\n      out0[i0 * 16 + i1] <- %0\n    }\n  }\n}\n";
}

TEST(Schedule, OneGraphHasManySchedules) {
  const ScheduledGraph plain = parse_tile_graph(text("")),
                       lanes = parse_tile_graph(text(" lanes 8 along i1"));
  const auto graph = [](const ScheduledGraph& scheduled) {
    return print(static_cast<const TileGraph&>(scheduled));
  };
  EXPECT_EQ(graph(plain), text(""));
  EXPECT_EQ(graph(lanes), graph(plain));
  EXPECT_NE(print(lanes), print(plain));
  ScheduledGraph again = plain;
  again.schedule = lanes.schedule;
  EXPECT_EQ(print(again), text(" lanes 8 along i1"));
}

TEST(Schedule, MustFitItsGraph) {
  ScheduledGraph graph = parse_tile_graph(text(""));
  EXPECT_EQ(structural_fault(graph), "");
  graph.schedule[0][0].variable = "r";
  EXPECT_EQ(structural_fault(graph), "'r' is no loop that lanes could run along");
  EXPECT_EQ(structural_fault(static_cast<const TileGraph&>(graph)), "");
  graph.schedule[0][0] = {};
  graph.schedule[0][0].registers = true;
  EXPECT_EQ(structural_fault(graph), "registers hold products of rows and columns of f32 or i32 alone");
  graph.schedule[0].clear();
  EXPECT_EQ(structural_fault(graph), "nests without a schedule");
  graph.schedule.clear();
  EXPECT_EQ(structural_fault(graph), "phases without a schedule");
}

TEST(Schedule, MatrixUnitsMakeProductsInRegisters) {
  const auto product = [](const std::string& schedule) {
    return "kernel {\n  in0: f32[512]\n  in1: f32[512]\n  out0: f32[1024]\n  phase {\n"
           "    reduce add r in 32, c in 32 over k in 16" +
           schedule +
           " {\n      %0 = in0[k * 32 + r]\n      %1 = in1[c + k * 32]\n      %2 = f32 mul(%0, %1)\n"
           "      out0[c + r * 32] <- %2\n    }\n  }\n}\n";
  };
  for (const char* schedule : {" registers", " registers matrix tf32", " registers matrix f32"})
    EXPECT_EQ(print(parse_tile_graph(product(schedule))), product(schedule));
  for (const char* schedule : {" matrix f32", " registers matrix f64"})
    EXPECT_THROW(parse_tile_graph(product(schedule)), Error) << schedule;
}

TEST(Schedule, SegmentsAreThoseOfTheLanes) {
  const std::string body =
      " {\n      %0 = in0[i0 * 16 + i1]\n      out0[i0 * 16 + i1] <- %0\n      segment i1 in 0..16 {\n"
      "        out0[i0 * 16 + i1] <- %0\n      }\n    }\n  }\n}\n";
  const std::string head = "kernel {\n  in0: f32[32]\n  out0: f32[32]\n  phase {\n    map i0 in 2, i1 in 16";
  EXPECT_EQ(print(parse_tile_graph(head + " lanes 8 along i1" + body)), head + " lanes 8 along i1" + body);
  EXPECT_THROW(parse_tile_graph(head + " lanes 8 along i0" + body), Error);
  std::string other = body;
  other.replace(other.find("segment i1"), 10, "segment i9");
  EXPECT_THROW(parse_tile_graph(head + " lanes 8 along i1" + other), Error);
}

}  // namespace
}  // namespace korch::tile
