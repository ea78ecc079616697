// Reshapes that are views: checked against the offset of every element.
#include <gtest/gtest.h>

#include "korch/search/columns.h"

namespace korch {
namespace {

Shape index_of(int64_t flat, const Shape& shape) {
  Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

bool same_offsets(const Shape& a, const Layout& la, const Shape& b, const Layout& lb) {
  for (int64_t flat = 0; flat < element_count(a); ++flat)
    if (element_offset(a, la, index_of(flat, a)) != element_offset(b, lb, index_of(flat, b))) return false;
  return true;
}

TEST(SameBytes, AgreesWithOffsets) {
  const std::vector<Shape> shapes = {{1, 6, 4}, {1, 6, 2, 2},  {2, 3, 4}, {2, 3, 2, 2}, {6, 4},
                                     {24},      {1, 24, 1, 1}, {4, 6},    {1, 2, 3, 4}};
  int views = 0, channels_last_views = 0;
  for (const Shape& a : shapes)
    for (const Shape& b : shapes)
      for (const Layout& la : {Layout{}, Layout::channels_last(static_cast<int>(a.size()))})
        for (const Layout& lb : {Layout{}, Layout::channels_last(static_cast<int>(b.size()))}) {
          const bool claimed = same_bytes(a, la, b, lb);
          if (claimed) {
            EXPECT_TRUE(same_offsets(a, la, b, lb))
                << to_string(a) << to_string(la) << " " << to_string(b) << to_string(lb);
            ++views;
            channels_last_views += !la.is_row_major() && !lb.is_row_major() && a != b;
          }
        }
  EXPECT_GT(views, static_cast<int>(shapes.size()));
  EXPECT_GT(channels_last_views, 0);
  EXPECT_TRUE(same_bytes({1, 6, 4}, Layout::channels_last(3), {1, 6, 2, 2}, Layout::channels_last(4)));
  EXPECT_FALSE(same_bytes({1, 6, 4}, Layout{}, {1, 6, 2, 2}, Layout::channels_last(4)));
  EXPECT_TRUE(same_bytes({6, 4}, Layout{}, {4, 6}, Layout{}));
}

}  // namespace
}  // namespace korch
