// What the primitives of ir/winograd.h compute, in any arithmetic that winograd_matrices takes; tensors are
// row-major.
#pragma once

#include <algorithm>
#include <vector>

#include "korch/ir/winograd.h"

namespace korch {

// The place of a tile's first output, and so of its first input but for padding.
struct WinogradPlace {
  WinogradPlace(const WinogradAttrs& attrs, const WinogradTiles& tiles, int64_t tile)
      : image(tile / (tiles.down * tiles.across)),
        y(tile / tiles.across % tiles.down * attrs.tile),
        x(tile % tiles.across * attrs.tile) {}
  int64_t image, y, x;
};

// Element e of tile t in channel c is at (e tiles + t) channels + c; quarter i of a tile is half i % 2 of the
// channels of its pixel i / 2.
template <typename T, typename Arithmetic>
void strassen_input(const Shape& shape, int64_t tiles, const T* x, T* v, const Arithmetic& in) {
  const int64_t plane = shape[2] * shape[3], pixels = shape[0] * plane, channels = shape[1] / 2;
  for (int64_t t = 0; t < tiles; ++t)
    for (int64_t c = 0; c < channels; ++c) {
      const auto quarter = [&](size_t i) {
        const int64_t pixel = 2 * t + static_cast<int64_t>(i / 2), half = static_cast<int64_t>(i % 2);
        if (pixel >= pixels) return in.zero();
        return x[(pixel / plane * shape[1] + half * channels + c) * plane + pixel % plane];
      };
      for (int64_t e = 0; e < kStrassenProducts; ++e)
        v[(e * tiles + t) * channels + c] = signed_sum(kStrassenData[e], quarter, in);
    }
}

template <typename T, typename Arithmetic>
void strassen_output(const Shape& shape, int64_t tiles, const T* p, T* y, const Arithmetic& in) {
  const int64_t plane = shape[2] * shape[3], pixels = shape[0] * plane, results = shape[1] / 2;
  for (int64_t t = 0; t < tiles; ++t)
    for (int64_t m = 0; m < results; ++m)
      for (int64_t quarter = 0; quarter < 4; ++quarter) {
        const int64_t pixel = 2 * t + quarter / 2, result = quarter % 2 * results + m;
        if (pixel >= pixels) continue;
        const auto product = [&](size_t e) { return p[(static_cast<int64_t>(e) * tiles + t) * results + m]; };
        y[(pixel / plane * shape[1] + result) * plane + pixel % plane] =
            signed_sum(kStrassenResult[quarter], product, in);
      }
}

template <typename T, typename Arithmetic>
void winograd_input(const WinogradAttrs& attrs, const Shape& shape, const T* x, T* v, const Arithmetic& in) {
  const WinogradTiles tiles(attrs, winograd_result(attrs, shape));
  if (is_strassen(attrs)) return strassen_input(shape, tiles.count(), x, v, in);
  const auto rows = winograd_matrices(attrs.tile, attrs.taps, in).data;
  const int64_t side = tile_inputs(attrs), channels = shape[1], height = shape[2], width = shape[3];
  std::vector<T> block(side * side, in.zero());
  for (int64_t tile = 0; tile < tiles.count(); ++tile) {
    const WinogradPlace place(attrs, tiles, tile);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < side * side; ++i) {
        const int64_t at_y = place.y - attrs.pads_before[0] + i / side,
                      at_x = place.x - attrs.pads_before[1] + i % side;
        const bool inside = at_y >= 0 && at_y < height && at_x >= 0 && at_x < width;
        block[i] = inside ? x[((place.image * channels + c) * height + at_y) * width + at_x] : in.zero();
      }
      const std::vector<T> made = on_both_sides(rows, block, in);
      for (int64_t e = 0; e < side * side; ++e) v[(e * tiles.count() + tile) * channels + c] = made[e];
    }
  }
}

// v[elements, tiles, C] of this shape and w[results, C, taps, taps]; with one tap, halves of C and `results`.
template <typename T, typename Arithmetic>
void winograd_product(const WinogradAttrs& attrs, const Shape& shape, const T* v, int64_t results, const T* w,
                      T* p, const Arithmetic& in) {
  const int64_t elements = shape[0], tiles = shape[1], channels = shape[2], taps = attrs.taps * attrs.taps;
  typename WinogradMatrices<T>::Rows rows;
  if (!is_strassen(attrs)) rows = winograd_matrices(attrs.tile, attrs.taps, in).weights;
  std::fill_n(p, elements * tiles * results, in.zero());
  for (int64_t m = 0; m < results; ++m)
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<T> made;
      if (is_strassen(attrs)) {
        for (int64_t e = 0; e < elements; ++e)
          made.push_back(strassen_weight(w, {2 * results, 2 * channels}, e, m, c, in));
      } else {
        const T* filter = w + (m * channels + c) * taps;
        made = on_both_sides(rows, std::vector<T>(filter, filter + taps), in);
      }
      for (int64_t e = 0; e < elements; ++e)
        for (int64_t t = 0; t < tiles; ++t) {
          T& sum = p[(e * tiles + t) * results + m];
          sum = in.sum(sum, in.product(v[(e * tiles + t) * channels + c], made[e]));
        }
    }
}

template <typename T, typename Arithmetic>
void winograd_output(const WinogradAttrs& attrs, const T* p, T* y, const Arithmetic& in) {
  const WinogradTiles tiles(attrs, attrs.shape);
  if (is_strassen(attrs)) return strassen_output(attrs.shape, tiles.count(), p, y, in);
  const auto rows = winograd_matrices(attrs.tile, attrs.taps, in).result;
  const int64_t elements = tile_inputs(attrs) * tile_inputs(attrs), results = attrs.shape[1];
  const int64_t height = attrs.shape[2], width = attrs.shape[3];
  std::vector<T> block(elements, in.zero());
  for (int64_t tile = 0; tile < tiles.count(); ++tile) {
    const WinogradPlace place(attrs, tiles, tile);
    for (int64_t m = 0; m < results; ++m) {
      for (int64_t e = 0; e < elements; ++e) block[e] = p[(e * tiles.count() + tile) * results + m];
      const std::vector<T> made = on_both_sides(rows, block, in);
      for (int64_t i = 0; i < attrs.tile * attrs.tile; ++i) {
        const int64_t at_y = place.y + i / attrs.tile, at_x = place.x + i % attrs.tile;
        if (at_y < height && at_x < width)
          y[((place.image * results + m) * height + at_y) * width + at_x] = made[i];
      }
    }
  }
}

}  // namespace korch
