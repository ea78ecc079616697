// What slices read and write, against an element-by-element account.
#include "korch/kernel/region.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "graphs.h"
#include "korch/kernel/schedule.h"

namespace korch::testing {
namespace {

std::set<int64_t> elements(const tile::Region& region) {
  std::set<int64_t> found;
  tile::for_each_element(region, [&](int64_t element) { found.insert(element); });
  return found;
}

std::set<int64_t> interval(int64_t low, int64_t high) {
  std::set<int64_t> result;
  for (int64_t i = low; i <= high; ++i) result.insert(i);
  return result;
}

tile::Region of(const tile::ScheduledGraph& graph, tile::Direction direction, int buffer, int64_t begin,
                int64_t end) {
  return tile::region(graph, graph.phases[0], direction, buffer, begin, end);
}

TEST(Regions, ARowPerSlice) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(kSoftmax);
  const tile::Region read = of(graph, tile::Direction::read, 0, 2, 3);
  EXPECT_TRUE(read.exact);
  ASSERT_EQ(read.boxes.size(), 1u);  // both passes over the row are one box
  EXPECT_EQ(read.boxes[0].base, 12);
  EXPECT_EQ(read.boxes[0].last(), 17);
  EXPECT_EQ(elements(of(graph, tile::Direction::written, 1, 1, 4)), interval(6, 23));
  EXPECT_TRUE(of(graph, tile::Direction::written, 0, 0, 4).boxes.empty());
}

// Conditions narrow what is read; the last chunk is shorter.
TEST(Regions, WindowsStayInsideTheirRows) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(kWindows);
  EXPECT_EQ(elements(of(graph, tile::Direction::read, 0, 0, 1)), interval(0, 15));
  EXPECT_EQ(elements(of(graph, tile::Direction::read, 0, 2, 3)), interval(32, 39));
  EXPECT_EQ(elements(of(graph, tile::Direction::written, 1, 2, 3)), interval(32, 39));
}

std::string one_nest(const std::string& elements, const std::string& loops, const std::string& body) {
  return "kernel {\n in0: f32[" + elements + "]\n out0: f32[" + elements + "]\n phase " + loops +
         " {\n map {\n" + body + "}\n}\n}\n";
}

// A row that two conditions are about, one of them for a row further on: both hold where it is read.
TEST(Regions, ConditionsOnOneSumHoldTogether) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(R"(kernel {
  in0: f32[60]
  out0: f32[72]
  phase block in 4 {
    map row in 3, i in 6 {
      %0 = in0[block * 18 + row * 6 + i - 6]
      %1 = f32 0
      %2 = %0 if 0 <= block * 3 + row - 1 <= 9 else %1
      %3 = %2 if 0 <= block * 3 + row <= 9 else %1
      out0[block * 18 + row * 6 + i] <- %3
    }
  }
}
)");
  EXPECT_EQ(elements(of(graph, tile::Direction::read, 0, 0, 1)), interval(0, 11));
  EXPECT_EQ(elements(of(graph, tile::Direction::read, 0, 3, 4)), interval(48, 53));
  EXPECT_EQ(tile::structural_fault(graph), "");
}

// Tiles of 4 x 4 of a map enlarged to twice its size and padded: a bound on multiples of a tile's number says
// how far that number goes, not only how far the multiples do.
TEST(Regions, OfBoundsOnMultiplesAreThoseOfWholeNumbers) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(R"(kernel {
  in0: f32[4096]
  out0: f32[98304]
  phase tile in 64 by 32 {
    for tl in 32 {
      map i in 6, l in 16 {
        %0 = in0[((tl) / 8) * 512 + ((i + 1) / 2) * 256 + l + ((tl) % 8) * 32 + tile_block * 2048 - 272]
        %1 = f32 0
        %2 = %0 if 0 <= ((tl) / 8) * 4 + i + tile_block * 16 - 1 <= 31 and 0 <= ((tl) % 8) * 4 - 1 <= 31 else %1
        out0[tile_block * 3072 + tl * 96 + i * 16 + l] <- %2
      }
    }
  }
}
)");
  EXPECT_EQ(tile::structural_fault(graph), "");
  const tile::Region first = of(graph, tile::Direction::read, 0, 0, 32);
  EXPECT_EQ(*elements(first).begin(), 16);
}

// Row and column of a map of 16 columns: where the outer condition holds, the row is not carried over by the
// quotient that the inner one is about, and the inner one never fails.
TEST(Regions, OfBoundsOnSumsNarrowTheirSummands) {
  const auto graph = [](int most) {
    return tile::parse_tile_graph(R"(kernel {
  in0: f32[4096]
  in1: f32[64]
  out0: f32[5376]
  phase i in 64, column in 21 {
    map j in 4 {
      %0 = in0[i * 64 + column * 4 + j]
      %1 = in1[i * 64 + column * 4 + j - 4096]
      %2 = %0 if 0 <= column / 16 + i <= 63 else %1
      %3 = f32 0
      %4 = %2 if 0 <= column * 4 + j <= )" +
                                  std::to_string(most) +
                                  R"( else %3
      out0[i * 84 + column * 4 + j] <- %4
    }
  }
}
)");
  };
  EXPECT_EQ(tile::structural_fault(graph(63)), "");
  EXPECT_THROW(graph(64), Error);  // of the last row one element more
}

// More values than are taken one by one.
TEST(Regions, OfBoundsOnQuotientsNarrowWhatIsDivided) {
  const auto graph = [](const std::string& bound) {
    return tile::parse_tile_graph(
        "kernel {\n in0: f32[4003]\n out0: f32[5000]\n phase {\n map x in 5000 {\n"
        " %0 = in0[x]\n %1 = f32 0\n %2 = %0 if " +
        bound + " else %1\n out0[x] <- %2\n}\n}\n}\n");
  };
  for (const char* bound : {"0 <= (x + 1) / 4 <= 1000", "-1000 <= -((x + 1) / 4) <= 0"}) {
    EXPECT_EQ(tile::structural_fault(graph(bound)), "");
    EXPECT_EQ(elements(of(graph(bound), tile::Direction::read, 0, 0, 1)), interval(0, 4002));
  }
  EXPECT_THROW(graph("0 <= (x + 1) / 4 <= 1001"), Error);
}

// Of 4 images of 11 rows the data name one, and the first 7 of an image are there: image and row are digits
// of one number that is not known, and a condition is about one of them.
TEST(Regions, OfRunTimeValuesAreThoseThatAConditionLeaves) {
  const auto graph = [](int most) {
    return tile::parse_tile_graph(R"(kernel {
  in0: i64[5]
  in1: f32[84]
  out0: f32[15]
  phase {
    map i in 5, c in 3 {
      %0 = in0[i]
      %1 = checked %0 of 44
      %2 = in1[%1 / 11 * 21 + %1 % 11 * 3 + c]
      %3 = f32 0
      %4 = %2 if 0 <= %1 % 11 <= )" +
                                  std::to_string(most) + R"( else %3
      out0[i * 3 + c] <- %4
    }
  }
}
)");
  };
  EXPECT_EQ(tile::structural_fault(graph(6)), "");
  EXPECT_EQ(elements(of(graph(6), tile::Direction::read, 1, 0, 1)), interval(0, 83));
  EXPECT_THROW(graph(7), Error);
}

// Two bounds that no values meet, each of which takes one value from what the other one left.
TEST(Regions, OfContradictingBoundsAreFoundInShortTime) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(R"(kernel {
  in0: f32[1]
  out0: f32[1000000000]
  phase {
    map x in 1000000000, y in 1000000000 {
      %0 = in0[0]
      %1 = f32 0
      %2 = %0 if 0 <= x - y <= 1000000000 else %1
      %3 = %2 if 1 <= y - x <= 1000000000 else %1
      out0[y] <- %3
    }
  }
}
)");
  EXPECT_EQ(tile::structural_fault(graph), "");
}

// Tiles of 4 x 4 results, 52 x 52 of them in each of 16 images, 56 to a slice: a slice's tiles and its number
// are one number, whose digits say which row of an image begins.
TEST(Regions, OfSlicesThatSpanImagesStayInside) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(R"(kernel {
  in0: f32[8306688]
  out0: f32[2076672]
  phase tile in 43264 by 56 {
    for tl in 56 {
      map i in 6, l in 8 {
        %0 = in0[((tile_block * 56 + tl) / 52) * 9984 + i * 2496 + l + ((tile_block * 56 + tl) % 52) * 48 - 2460]
        %1 = f32 0
        %2 = %0 if 0 <= tile_block * 56 + tl <= 43263 and 0 <= i + ((((tile_block * 56 + tl) / 52)) % 52) * 4 - 1 <= 207 else %1
        out0[tile_block * 2688 + tl * 48 + i * 8 + l] <- %2 if 0 <= tile_block * 56 + tl <= 43263
      }
    }
  }
}
)");
  EXPECT_EQ(tile::structural_fault(graph), "");
}

// Tiles of 5 x 5 results, 12 x 12 of them over 57 x 57, with halves of their channels interleaved: millions
// of points, whose digits are the axes of a few boxes.
TEST(Regions, AreExactForTilesInChunks) {
  const auto tiles = [](const std::string& chunk, const std::string& step) {
    return tile::parse_tile_graph(
        "kernel {\n in0: f32[1]\n out0: f32[415872]\n phase tile in 144 by " + chunk +
        " {\n for tile in 144 {\n map i in 5, j in 5, c in 128 {\n %0 = in0[0]\n out0[((tile / 12 * " + step +
        " + i) * 57 + tile % 12 * 5 + j) * 128 + c % 64 * 2 + c / 64] <- %0"
        " if 0 <= tile / 12 * 5 + i <= 56 and 0 <= tile % 12 * 5 + j <= 56\n}\n}\n}\n}\n");
  };
  for (const char* chunk : {"48", "50"}) {  // whole rows of tiles, and not
    const tile::ScheduledGraph graph = tiles(chunk, "5");
    EXPECT_EQ(tile::coverage_fault(graph), "");
    size_t written = 0;
    for (int64_t slice = 0; slice < 3; ++slice) {
      const tile::Region region = of(graph, tile::Direction::written, 1, slice, slice + 1);
      EXPECT_TRUE(region.exact);
      tile::for_each_element(region, [&](int64_t) { ++written; });
    }
    EXPECT_EQ(written, 415872u);
  }
  EXPECT_NE(tile::coverage_fault(tiles("48", "4")), "");
}

// Divisions, reflections, alternatives and conditions on two variables, each taken value by value.
TEST(Regions, AreExactForWhatIsNotAffine) {
  const auto read = [](const std::string& loops, const std::string& body, int64_t begin, int64_t end) {
    const tile::ScheduledGraph graph = tile::parse_tile_graph(one_nest("12", loops, body));
    const tile::Region region = of(graph, tile::Direction::read, 0, begin, end);
    EXPECT_TRUE(region.exact) << body;
    return elements(region);
  };
  const auto copy = [](const std::string& index) { return "%0 = in0[" + index + "]\nout0[i0] <- %0\n"; };
  using Set = std::set<int64_t>;
  EXPECT_EQ(read("i0 in 12", copy("i0 / 5 * 3"), 4, 11), (Set{0, 3, 6}));
  EXPECT_EQ(read("i0 in 12", copy("index_abs(i0 - 2)"), 0, 4), (Set{0, 1, 2}));
  EXPECT_EQ(read("i0 in 12", copy("index_clamp(i0 - 3, 0, 5)"), 8, 12), (Set{5}));
  const std::string either =
      "%0 = in0[0]\n%1 = in0[i0 - 4]\n%2 = %0 if 0 <= i0 <= 3 else %1\nout0[i0] <- %2\n";
  EXPECT_EQ(read("i0 in 12", either, 0, 4), (Set{0}));
  EXPECT_EQ(read("i0 in 12", either, 6, 8), (Set{2, 3}));
  const std::string backwards =
      "%0 = f32 0\n%1 = in0[8 - i0 * 2]\n%2 = %1 if 0 <= 8 - i0 * 2 <= 7 else %0\nout0[i0] <- %2\n";
  EXPECT_EQ(read("i0 in 12", backwards, 0, 12), (Set{0, 2, 4, 6}));
  const std::string triangle =
      "%0 = f32 0\n%1 = in0[i0 * 4 + i1 - 1]\n%2 = %1 if 1 <= i0 + i1 <= 2 else %0\nout0[i0 * 4 + i1] <- "
      "%2\n";
  EXPECT_EQ(read("i0 in 3, i1 in 4", triangle, 0, 12), (Set{0, 1, 3, 4, 7}));
}

TEST(Regions, OfIndicesFromDataAreWholeTensors) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(
      "kernel {\n in0: i64[3]\n in1: f32[20]\n out0: f32[12]\n phase i0 in 3 {\n map i1 in 4 {\n %0 = "
      "in0[i0]\n"
      " %1 = checked %0 of 5\n %2 = in1[%1 * 4 + i1]\n out0[i0 * 4 + i1] <- %2\n }\n }\n}\n");
  const tile::Region table = of(graph, tile::Direction::read, 1, 0, 1);
  EXPECT_FALSE(table.exact);
  EXPECT_EQ(elements(table), interval(0, 19));
  const tile::Region ids = of(graph, tile::Direction::read, 0, 1, 2);
  EXPECT_TRUE(ids.exact);
  EXPECT_EQ(elements(ids), interval(1, 1));
}

TEST(Regions, OfWhatHasAnOrder) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(kInOrder);
  const tile::Region over = tile::region(graph, graph.phases[1], tile::Direction::written, 3, 0, 1);
  EXPECT_FALSE(over.exact);
  EXPECT_EQ(elements(over), interval(0, 23));
  const auto last = [&](tile::Direction direction, int buffer) {
    return elements(tile::region(graph, graph.phases[2], direction, buffer, 1, 2));
  };
  EXPECT_EQ(last(tile::Direction::read, 3), interval(6, 11));  // windows stay in their row
  EXPECT_EQ(last(tile::Direction::written, 4), interval(6, 11));
  EXPECT_EQ(last(tile::Direction::written, 5), interval(2, 3));
  EXPECT_EQ(last(tile::Direction::written, 6), interval(2, 3));
}

// What is said of a range of slices at once holds what is said of each of them, and for these kernels no
// more.
TEST(Regions, OfRangesOfSlicesAsOfEachSlice) {
  for (const char* text : {kSoftmax, kWindows, kInOrder, kInParts}) {
    const tile::ScheduledGraph graph = tile::parse_tile_graph(text);
    for (const tile::Phase& phase : graph.phases)
      for (int64_t begin = 0; begin < phase.slices(); ++begin)
        for (int64_t end = begin + 1; end <= phase.slices(); ++end) {
          std::map<std::pair<int, tile::Direction>, std::set<int64_t>> found;
          for (const tile::Access& access : tile::accesses(graph, phase, begin, end))
            found[{access.buffer, access.direction}].merge(elements(access.region));
          for (int buffer = 0; buffer < static_cast<int>(graph.buffers.size()); ++buffer) {
            if (graph.buffers[static_cast<size_t>(buffer)].role == tile::BufferRole::scratch) continue;
            for (const tile::Direction direction : {tile::Direction::read, tile::Direction::written})
              EXPECT_EQ((found[{buffer, direction}]),
                        elements(tile::region(graph, phase, direction, buffer, begin, end)))
                  << text << begin << ".." << end << " of " << graph.name(buffer);
          }
        }
  }
}

}  // namespace
}  // namespace korch::testing
