// Winograd's transforms (ir/winograd.h) of one tile and one vector of channels, as nests. Kernels of all
// three primitives and of a single one share them.
#pragma once

#include <functional>
#include <vector>

#include "korch/codegen/linear/kernel_builder.h"
#include "korch/ir/winograd.h"

namespace korch::linear {

// Channels of data or result that are computed together: first + l for l in `count`, in a vector of `width`.
struct ChannelVector {
  Index first;
  int64_t count = 1;
  int width = 1;
};

// Where transformed element e of the tile at hand lies, for a channel.
struct TransformedTile {
  int buffer = 0;
  std::function<Index(const Index& element, const Index& channel)> offset;
};

class WinogradNests {
 public:
  // `workload`: its `conv`, `data` and `value`. Adds the scratch that is needed between the dimensions.
  WinogradNests(KernelBuilder& builder, const LinearWorkload& workload, const WinogradAttrs& attrs,
                int lanes);

  // B^T d B of tile number `tile`; where that is beyond the last one, of zeros.
  void transform_data(const Index& tile, const ChannelVector& channels, const TransformedTile& to,
                      const std::vector<tile::OuterLoop>& around, std::vector<tile::ScheduledNest>& nests);
  // A^T p A, the epilogue, and the stores of the candidate's outputs.
  void transform_result(const Index& tile, const ChannelVector& channels, const TransformedTile& from,
                        const std::vector<tile::OuterLoop>& around, std::vector<tile::ScheduledNest>& nests);

 private:
  // The values of the variables image, iy and ix of a pixel, and the condition that the pixel exists.
  struct Pixel {
    tile::Replacements places;
    tile::Condition there;
  };
  Pixel pixel(const Index& tile, const Index& y_in_tile, const Index& x_in_tile, int64_t height,
              int64_t width, int64_t first_y, int64_t first_x) const;
  Pixel strassen_pixel(const Index& tile, int64_t number) const;
  int data(const Pixel& pixel, const Index& channel);
  Index half(const Index& row, const Index& column) const;
  std::vector<int> data_transform(const std::vector<int>& in);
  std::vector<int> result_transform(const std::vector<int>& in);
  int signed_sum_of(std::span<const int> coefficients, const std::vector<int>& values);
  Coords result_coords(const Index& column) const;

  KernelBuilder& builder_;
  const LinearWorkload& workload_;
  const ConvShape& s_;
  const WinogradAttrs attrs_;
  const WinogradTiles tiles_;
  const int64_t m_, alpha_, lanes_;  // outputs and inputs of a tile per axis
  int half_ = -1, rows_ = -1;        // scratch: between the dimensions, and results before the epilogue
};

// The vectors of `channels` channels: full ones, and one of what is left, each with the loop that goes over
// them.
void for_channel_vectors(
    int64_t channels, int lanes,
    const std::function<void(int64_t low, int64_t high, int64_t count, int width)>& visit);

}  // namespace korch::linear
