// Results at their bounds become dense ones of their own extents.
#include "korch/runtime/packed.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace korch::rt {
namespace {

TEST(Packed, MovesWhatCountsToTheFront) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const uint32_t rank = random() % 5;
    std::vector<int64_t> bounds, extents;
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < rank; ++axis) {
      bounds.push_back(1 + static_cast<int64_t>(random() % 4));
      extents.push_back(random() % 2 == 0 ? bounds.back()
                                          : static_cast<int64_t>(random()) % (bounds.back() + 1));
      elements *= bounds.back();
    }
    std::vector<uint32_t> data(static_cast<size_t>(elements)), wanted;
    for (size_t at = 0; at < data.size(); ++at) {
      data[at] = static_cast<uint32_t>(at);
      bool counts = true;
      size_t rest = at;
      for (uint32_t axis = rank; axis-- > 0;) {
        counts = counts && static_cast<int64_t>(rest) % bounds[axis] < extents[axis];
        rest /= static_cast<size_t>(bounds[axis]);
      }
      if (counts) wanted.push_back(data[at]);
    }
    // There and back.
    std::vector<uint32_t> at_bounds(data.size(), UINT32_MAX);
    if (!wanted.empty())
      unpack(at_bounds.data(), wanted.data(), sizeof(uint32_t), rank, bounds.data(), extents.data());
    for (size_t at = 0, row = 0; at < data.size(); ++at) {
      const bool counts = row < wanted.size() && wanted[row] == data[at];
      EXPECT_EQ(at_bounds[at], counts ? data[at] : UINT32_MAX);
      row += counts ? 1 : 0;
    }
    pack(data.data(), sizeof(uint32_t), rank, bounds.data(), extents.data());
    data.resize(wanted.size());
    EXPECT_EQ(data, wanted);
  }
}

}  // namespace
}  // namespace korch::rt
