#include "korch/codegen/linear/tiling.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace korch::linear {
namespace {

Device wide_target() {
  return cpu_device(Isa::x86_64_v4);
}

// The share of the longest worker, in columns, where whole blocks are dealt out in turn.
int64_t longest_share(int64_t columns, const TileShape& shape, const Device& target, int workers) {
  const ColumnBlocks blocks = split_columns(columns, shape.vectors, target.lanes());
  const int64_t whole = (blocks.blocks + workers - 1) / workers * blocks.block_lanes();
  return whole + (blocks.blocks % workers == 0 ? blocks.tail_lanes() : 0);
}

TEST(Tiling, WorkersThatShareColumnBlocksGetMoreEqualShares) {
  const Device target = wide_target();
  int improved = 0;
  for (int64_t columns = 64; columns <= 1024; columns += 32) {
    const TileShape alone = rank_tiles(16, columns, 256, false, target).front();
    const TileShape shared = rank_tiles(16, columns, 256, false, target, 2).front();
    const int64_t before = longest_share(columns, alone, target, 2);
    const int64_t after = longest_share(columns, shared, target, 2);
    EXPECT_LE(after, before) << columns << " columns";
    improved += after < before;
  }
  EXPECT_GT(improved, 0);
}

TEST(Tiling, EveryShapeIsRankedOnce) {
  const std::vector<TileShape> one = rank_tiles(28, 256, 256, false, wide_target());
  const std::vector<TileShape> two = rank_tiles(28, 256, 256, false, wide_target(), 2);
  ASSERT_EQ(one.size(), two.size());
  for (const TileShape& shape : one)
    EXPECT_EQ(
        std::count_if(two.begin(), two.end(), [&](const TileShape& s) { return s.vectors == shape.vectors; }),
        1);
}

}  // namespace
}  // namespace korch::linear
