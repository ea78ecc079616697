// Regions that are pooled with as many samples as their extents say, against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "one_node.h"

namespace korch {
namespace {

constexpr int64_t kRows = 5, kColumns = 7, kPartsDown = 3, kPartsAcross = 2;

struct Axis {
  float start, length;  // of a part
  int64_t count, size;

  static Axis of(float from, float to, float scale, bool half_pixel, int64_t parts, int64_t size) {
    const float start = from * scale - (half_pixel ? 0.5F : 0.0F);
    float extent = to * scale - (half_pixel ? 0.5F : 0.0F) - start;
    if (!half_pixel) extent = std::max(extent, 1.0F);
    const float length = extent / static_cast<float>(parts);
    return {start, length, static_cast<int64_t>(std::ceil(length)), size};
  }
  double at(int64_t part, int64_t sample) const {
    return start + static_cast<double>(part) * length +
           (static_cast<double>(sample) + 0.5) * length / static_cast<double>(count);
  }
};

struct Pair {
  int64_t low, high;
  double share;
  bool inside;
};
Pair neighbours(double at, int64_t size) {
  if (at < -1 || at > static_cast<double>(size)) return {0, 0, 0, false};
  at = std::max(at, 0.0);
  const int64_t low = std::min(static_cast<int64_t>(at), size - 1), high = std::min(low + 1, size - 1);
  return {low, high, low == size - 1 ? 0 : at - static_cast<double>(low), true};
}

double pooled(const std::vector<float>& image, const Axis& y, const Axis& x, int64_t row, int64_t column,
              bool averages) {
  double sum = 0, greatest = -INFINITY;
  for (int64_t i = 0; i < y.count; ++i)
    for (int64_t j = 0; j < x.count; ++j) {
      const Pair a = neighbours(y.at(row, i), y.size), b = neighbours(x.at(column, j), x.size);
      const double exists = a.inside && b.inside ? 1 : 0;
      for (const auto& [r, wr] : {std::pair(a.low, 1 - a.share), std::pair(a.high, a.share)})
        for (const auto& [c, wc] : {std::pair(b.low, 1 - b.share), std::pair(b.high, b.share)}) {
          const double value = exists * wr * wc * static_cast<double>(image[r * x.size + c]);
          sum += value;
          greatest = std::max(greatest, value);
        }
    }
  if (y.count <= 0 || x.count <= 0) return 0;
  return averages ? sum / static_cast<double>(y.count * x.count) : greatest;
}

// Regions inside, beyond the image on all sides, many times as large, of no or negative extent.
std::vector<float> regions() {
  std::vector<float> values = {0,  0,  6,   4, -20,  -30, 40, 50,   2,  1,   2,    1, 5,    4,
                               1,  2,  -90, 2, -80,  3,   3,  -50,  4,  900, 0,    0, 0.1F, 0.2F,
                               -1, -1, 7,   5, 6.5F, 4,   9,  7.5F, -3, 0,   4000, 2};
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(-9, 15);
  for (int i = 0; i < 160; ++i) values.push_back(place(random));
  return values;
}

void expect_pooled(bool averages, bool half_pixel, float scale) {
  const std::vector<float> corners = regions();
  const auto count = static_cast<int64_t>(corners.size()) / 4;
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> images(2 * kRows * kColumns);
  for (float& value : images) value = normal(random);
  std::vector<int64_t> batch;
  for (int64_t i = 0; i < count; ++i) batch.push_back(i % 2);
  OneNode node("RoiAlign",
               {f32({2, 1, kRows, kColumns}, images), f32({count, 4}, corners), i64({count}, batch)}, "");
  set_attribute(node.node(), "output_height", kPartsDown);
  set_attribute(node.node(), "output_width", kPartsAcross);
  set_float(node.node(), "spatial_scale", scale);
  set_attribute(node.node(), "mode", std::string(averages ? "avg" : "max"));
  set_attribute(node.node(), "coordinate_transformation_mode",
                std::string(half_pixel ? "half_pixel" : "output_half_pixel"));
  Values wanted;
  for (int64_t i = 0; i < count; ++i) {
    const float* c = corners.data() + 4 * i;
    const Axis x = Axis::of(c[0], c[2], scale, half_pixel, kPartsAcross, kColumns),
               y = Axis::of(c[1], c[3], scale, half_pixel, kPartsDown, kRows);
    const std::vector<float> image(images.begin() + batch[i] * kRows * kColumns,
                                   images.begin() + (batch[i] + 1) * kRows * kColumns);
    for (int64_t row = 0; row < kPartsDown; ++row)
      for (int64_t column = 0; column < kPartsAcross; ++column)
        wanted.push_back(pooled(image, y, x, row, column, averages));
  }
  expect_near(node.run(), wanted, 1e-4);
}

TEST(RoiAlign, AsManySamplesAsTheRegionsExtentsSay) {
  for (bool averages : {true, false})
    for (bool half_pixel : {true, false})
      for (float scale : {1.0F, 0.25F, 3.0F}) {
        SCOPED_TRACE(testing::Message() << averages << half_pixel << scale);
        expect_pooled(averages, half_pixel, scale);
      }
}

}  // namespace
}  // namespace korch
