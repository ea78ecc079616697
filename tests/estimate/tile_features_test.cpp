#include "korch/estimate/tile_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "korch/estimate/features.h"

namespace korch {
namespace {

// Two workers, eight lanes.
Device two_workers() {
  return with_nominal_speeds(cpu_device(Isa::x86_64_v3, 2));
}

constexpr double kBound_us = 10;

class Row {
 public:
  explicit Row(const std::string& text)
      : values_(tile_features(tile::parse_tile_graph(text), two_workers(), kBound_us)) {}
  double operator[](const std::string& name) const {
    const auto& names = tile_feature_names();
    const auto found = std::find(names.begin(), names.end(), name);
    EXPECT_NE(found, names.end()) << name;
    return values_.at(static_cast<size_t>(found - names.begin()));
  }
  // How many vectors, or scalars, of a kind there are.
  double count(const std::string& name) const {
    const Device device = two_workers();
    return std::exp2((*this)[name]) * kBound_us * device.flops_per_us / (2.0 * device.lanes());
  }

 private:
  std::vector<float> values_;
};

std::string copy(const std::string& load, const std::string& store) {
  return "kernel {\n  in0: f32[4096]\n  out0: f32[4096]\n  phase i0 in 64 {\n    map i1 in 64 {\n      %0 = "
         "in0[" +
         load + "]\n      out0[" + store + "] <- %0\n    }\n  }\n}\n";
}

constexpr double kNear = 0.02;  // they are rounded

TEST(TileFeatures, StandBehindTheDrafts) {
  const auto& names = feature_names();
  ASSERT_EQ(names.size(), draft_features() + tile_feature_names().size());
  EXPECT_EQ(names[draft_features()], tile_feature_names()[0]);
  EXPECT_EQ(tile_features(std::nullopt, two_workers(), kBound_us).size(), tile_feature_names().size());
}

TEST(TileFeatures, CountVectors) {
  const Row row(copy("i0 * 64 + i1", "i0 * 64 + i1"));
  EXPECT_NEAR(row.count("tile_near") / (2 * 4096 / 8), 1, kNear);
  EXPECT_NEAR(row.count("tile_maps") / (4096 / 8), 1, kNear);
  EXPECT_NEAR(row.count("tile_far"), 0, 1);
  EXPECT_EQ(row["tile_idle"], 0);
  EXPECT_EQ(row["tile_lines"], 0);
}

// Whole lines are read where every element lies in one of its own.
TEST(TileFeatures, TellStrides) {
  const Row row(copy("i0 + i1 * 64", "i0 * 64 + i1"));
  EXPECT_NEAR(row.count("tile_far") / 4096, 1, kNear);
  EXPECT_NEAR(row.count("tile_near") / (4096 / 8), 1, kNear);
  EXPECT_NEAR(row["tile_far_stride"], std::log2(256), kNear);
  EXPECT_NEAR(row["tile_lines"], std::log2((16 + 1) / 2.0), kNear);
}

TEST(TileFeatures, CountWhatIsComputedOnceOnce) {
  const Row row(R"(kernel {
  in0: f32[64]
  in1: f32[1]
  out0: f32[64]
  phase {
    map i1 in 64 {
      %0 = in1[0]
      %1 = f32 exp(%0)
      %2 = in0[i1]
      %3 = f32 mul(%1, %2)
      out0[i1] <- %3
    }
  }
}
)");
  EXPECT_NEAR(row.count("tile_same"), 1, kNear);
  EXPECT_NEAR(row.count("tile_costly"), 16, kNear * 16);
  EXPECT_NEAR(row.count("tile_simple"), 8, kNear * 8);
}

// By one worker alone, the other one has nothing to do.
TEST(TileFeatures, TellHowSlicesFillWorkers) {
  EXPECT_EQ(Row(copy("i0 * 64 + i1", "i0 * 64 + i1"))["tile_waves"], 0);
  std::string one = copy("i1", "i1");
  one.replace(one.find(" i0 in 64"), 9, "");
  EXPECT_EQ(Row(one)["tile_waves"], 1);
}

TEST(TileFeatures, WeighProducts) {
  const Row row(R"(kernel {
  in0: f32[1024]
  const0: f32[1024] packed columns(1, 1, 16, 0)
  out0: f32[256]
  phase t in 4 {
    reduce add r in 4, c in 16 over k in 64 registers {
      %0 = in0[t * 256 + r * 64 + k]
      %1 = const0[k * 16 + c]
      %2 = f32 mul(%0, %1)
      out0[t * 64 + r * 16 + c] <- %2
    }
  }
}
)");
  EXPECT_NEAR(row.count("tile_products") / (4 * 4 * 2 * 64), 1, kNear);
  EXPECT_EQ(row["product_rows"], 4);
  EXPECT_EQ(row["product_terms"], 6);
  EXPECT_EQ(row["product_row_stride"], 8);
  EXPECT_EQ(row["product_row_alias"], 0);
  EXPECT_EQ(row["product_column_bytes"], 12);
}

}  // namespace
}  // namespace korch
