// Winograd's minimal filtering F(m x m, r x r) of convolutions of stride 1, as three primitives (Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016; Toom 1963, Cook 1966 for the points):
//
//   WinogradInput(x)       B^T d B of every tile d of m + r - 1 by m + r - 1 inputs, tiles m apart
//   WinogradProduct(v, w)  per element of a tile: rows of tiles by the matrix of G g G^T, g the taps of w
//   WinogradOutput(p)      A^T p A: m by m outputs of every tile; those beyond the result are dropped
//
// Tiles have 4 or 6 inputs per axis. Their points are 0, +-1, or 0, +-sqrt(1/2), +-sqrt(2), and infinity; B
// depends on the points alone.
//
// With one tap the same three primitives are Strassen's algorithm (Strassen, "Gaussian Elimination is not
// Optimal", Numer. Math. 1969) for a product of pixels and weights: a tile is two pixels that follow one
// another, in halves of their channels; it takes 7 products with combinations of the weights' quarters
// instead of 8. A pixel without a second one is paired with zeros.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "korch/ir/op.h"

namespace korch {

constexpr int64_t kWinogradInputs[] = {6, 4};  // of a tile, per axis
constexpr int64_t kFewestWinogradTaps = 2, kMostWinogradTaps = 5;

inline int64_t tile_inputs(const WinogradAttrs& attrs) {
  return attrs.tile + attrs.taps - 1;
}

inline bool is_strassen(const WinogradAttrs& attrs) {
  return attrs.taps == 1;
}
constexpr int64_t kStrassenPixels = 2, kStrassenHalves = 2, kStrassenProducts = 7;

// Transformed elements of a tile, each of which has a matrix of weights.
int64_t tile_elements(const WinogradAttrs& attrs);
// Parts that channels, of the data and of the result, are divided into.
inline int64_t channel_parts(const WinogradAttrs& attrs) {
  return is_strassen(attrs) ? kStrassenHalves : 1;
}

// Whether tiles of so many outputs have a number of inputs that tiles have, and taps are as many as they may
// be; or two pixels and one tap.
bool is_winograd(int64_t tile, int64_t taps);

// Tiles of `tile` outputs along axes of these extents; Strassen's are one row of them, of all images.
struct WinogradTiles {
  WinogradTiles(const WinogradAttrs& attrs, const Shape& result);  // [N, M, H, W]
  int64_t images, down, across;
  int64_t count() const { return images * down * across; }
};
// The extents [N, -, H, W] of the convolution's result, for data x[N, C, H, W]; M is 0.
Shape winograd_result(const WinogradAttrs& attrs, const Shape& x);

// Row-major matrices over any numbers: data (B^T) and weights (G) have a row per point, result (A^T) one per
// output.
template <typename T>
struct WinogradMatrices {
  using Rows = std::vector<std::vector<T>>;
  Rows data, weights, result;
};

// Arithmetic of T: zero(), one(), root_of_2(), sum(a, b), product(a, b), negative(a), inverse(a).
template <typename Arithmetic>
auto winograd_matrices(int64_t tile, int64_t taps, const Arithmetic& in) {
  using T = decltype(in.one());
  std::vector<T> positive = {in.one()};
  if (tile + taps - 1 == 6) positive = {in.inverse(in.root_of_2()), in.root_of_2()};
  std::vector<T> points = {in.zero()};
  for (const T& p : positive) points.insert(points.end(), {p, in.negative(p)});

  // Coefficients of the product of (x - p) over all points but the one at `without`.
  const auto polynomial = [&](size_t without) {
    std::vector<T> c(points.size() + 1, in.zero());
    c[0] = in.one();
    size_t degree = 0;
    for (size_t k = 0; k < points.size(); ++k) {
      if (k == without) continue;
      ++degree;
      for (size_t i = degree + 1; i-- > 0;)
        c[i] = in.sum(i > 0 ? c[i - 1] : in.zero(), in.negative(in.product(points[k], c[i])));
    }
    return c;
  };
  WinogradMatrices<T> m;
  m.result.assign(tile, {});
  std::vector<T> powers(points.size(), in.one());
  for (int64_t i = 0; i < tile; ++i) {
    m.result[i] = powers;
    m.result[i].push_back(i == tile - 1 ? in.one() : in.zero());
    for (size_t j = 0; j < points.size(); ++j) powers[j] = in.product(powers[j], points[j]);
  }
  for (size_t j = 0; j <= points.size(); ++j) {
    m.data.push_back(polynomial(j));
    std::vector<T> row(taps, in.zero());
    if (j == points.size()) {
      row.back() = in.one();
    } else {
      T differences = in.one();
      for (size_t k = 0; k < points.size(); ++k)
        if (k != j) differences = in.product(differences, in.sum(points[j], in.negative(points[k])));
      T entry = in.inverse(differences);
      for (T& e : row) {
        e = entry;
        entry = in.product(entry, points[j]);
      }
    }
    m.weights.push_back(std::move(row));
  }
  return m;
}

// rows * block * rows^T, for a square block. A coefficient of 0 is no term: nothing is said of 0 times
// infinity.
template <typename T, typename Arithmetic>
std::vector<T> on_both_sides(const std::vector<std::vector<T>>& rows, const std::vector<T>& block,
                             const Arithmetic& in) {
  const size_t n = rows[0].size(), m = rows.size();
  std::vector<T> half(m * n, in.zero()), full(m * m, in.zero());
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        if (rows[i][k] != in.zero())
          half[i * n + j] = in.sum(half[i * n + j], in.product(rows[i][k], block[k * n + j]));
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j)
      for (size_t k = 0; k < n; ++k)
        if (rows[j][k] != in.zero())
          full[i * m + j] = in.sum(full[i * m + j], in.product(half[i * n + k], rows[j][k]));
  return full;
}

// Rows of coefficients of the quarters of a matrix, in row-major order, or of the products.
inline constexpr int kStrassenData[7][4] = {{1, 0, 0, 1}, {0, 0, 1, 1},  {1, 0, 0, 0}, {0, 0, 0, 1},
                                            {1, 1, 0, 0}, {-1, 0, 1, 0}, {0, 1, 0, -1}};
inline constexpr int kStrassenWeights[7][4] = {{1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0},
                                               {0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 1, 1}};
inline constexpr int kStrassenResult[4][7] = {
    {1, 0, 0, 1, -1, 0, 1}, {0, 0, 1, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 0, 0}, {1, -1, 1, 0, 0, 1, 0}};

// The sum of coefficient * value(i) over the coefficients, each of which is 1, 0 or -1.
template <typename Arithmetic, typename Value>
auto signed_sum(std::span<const int> coefficients, const Value& value, const Arithmetic& in) {
  auto sum = in.zero();
  for (size_t i = 0; i < coefficients.size(); ++i)
    if (coefficients[i] != 0) sum = in.sum(sum, coefficients[i] > 0 ? value(i) : in.negative(value(i)));
  return sum;
}

// What `element` of a tile is multiplied by for a result and a channel of a half, from w[results, C, 1, 1] of
// this shape. Quarter i of the weights is half i / 2 of the channels and half i % 2 of the results.
template <typename T, typename Arithmetic>
auto strassen_weight(const T* w, const Shape& shape, int64_t element, int64_t result, int64_t channel,
                     const Arithmetic& in) {
  const auto quarter = [&](size_t i) {
    const auto of_channel = static_cast<int64_t>(i / 2), of_result = static_cast<int64_t>(i % 2);
    return decltype(in.zero())(
        w[(of_result * (shape[0] / 2) + result) * shape[1] + of_channel * (shape[1] / 2) + channel]);
  };
  return signed_sum(kStrassenWeights[element], quarter, in);
}

struct Doubles {
  static double zero() { return 0; }
  static double one() { return 1; }
  static double root_of_2() { return std::sqrt(2.0); }
  static double sum(double a, double b) { return a + b; }
  static double product(double a, double b) { return a * b; }
  static double negative(double a) { return -a; }
  static double inverse(double a) { return 1 / a; }
};

}  // namespace korch
