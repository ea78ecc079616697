#include "korch/codegen/linear/winograd_nests.h"

#include <cmath>

#include "korch/codegen/cpu/micro_kernel.h"

namespace korch::linear {
namespace {

using tile::OuterLoop;
using tile::ScheduledNest;

ScheduledNest vector_nest(const std::vector<OuterLoop>& around, std::vector<tile::LoopVariable> loops,
                          const ChannelVector& channels) {
  ScheduledNest nest;
  nest.around = around;
  nest.loops = std::move(loops);
  nest.loops.push_back({"l", channels.count});
  if (channels.count > 1) nest.schedule = {.lanes = channels.width, .variable = "l"};
  return nest;
}

// The positive ones; their negatives and 0 are points too. +-sqrt(1/2), +-sqrt(2) give F(4,3) half the error
// of the usual +-1, +-2 (docs/design/codegen-linear.md).
std::vector<double> positive_points(int64_t alpha) {
  KORCH_ASSERT(alpha == 4 || alpha == 6, "Winograd tile");
  if (alpha == 4) return {1};
  return {std::sqrt(0.5), std::sqrt(2.0)};
}

}  // namespace

WinogradNests::WinogradNests(KernelBuilder& builder, const LinearWorkload& workload,
                             const WinogradAttrs& attrs, int lanes)
    : builder_(builder),
      workload_(workload),
      s_(*workload.conv),
      attrs_(attrs),
      tiles_(attrs, {s_.images, 0, s_.out_height, s_.out_width}),
      m_(attrs.tile),
      alpha_(tile_inputs(attrs)),
      lanes_(lanes) {
  if (is_strassen(attrs)) return;
  half_ = builder.add_scratch(alpha_ * alpha_ * lanes_);
  rows_ = builder.add_scratch(m_ * m_ * lanes_);
}

WinogradNests::Pixel WinogradNests::pixel(const Index& tile, const Index& y_in_tile, const Index& x_in_tile,
                                          int64_t height, int64_t width, int64_t first_y,
                                          int64_t first_x) const {
  const Index ty = tile::floor_mod(tile::floor_div(tile, tiles_.across), tiles_.down),
              tx = tile::floor_mod(tile, tiles_.across);
  const Index y = ty * m_ + first_y + y_in_tile, x = tx * m_ + first_x + x_in_tile;
  Pixel pixel;
  pixel.places = {{"image", tile::floor_div(tile, tiles_.down * tiles_.across)}, {"iy", y}, {"ix", x}};
  pixel.there.require(tile, 0, tiles_.count() - 1).require(y, 0, height - 1).require(x, 0, width - 1);
  return pixel;
}

// Tiles are two pixels that follow one another, of all images.
WinogradNests::Pixel WinogradNests::strassen_pixel(const Index& tile, int64_t number) const {
  const Index pixel = tile * kStrassenPixels + number;
  const int64_t per_image = s_.out_height * s_.out_width;
  Pixel result;
  result.places = {{"image", tile::floor_div(pixel, per_image)},
                   {"iy", tile::floor_mod(tile::floor_div(pixel, s_.out_width), s_.out_height)},
                   {"ix", tile::floor_mod(pixel, s_.out_width)}};
  result.there.require(pixel, 0, s_.images * per_image - 1);
  return result;
}

int WinogradNests::data(const Pixel& pixel, const Index& channel) {
  const Coords coords = {Index::variable("image", s_.images), channel, Index::variable("iy", s_.in_height),
                         Index::variable("ix", s_.in_width)};
  return builder_.padded(pixel.there, builder_.compose(workload_.data, coords, -1, pixel.places));
}

Coords WinogradNests::result_coords(const Index& column) const {
  return {Index::variable("image", s_.images), column, Index::variable("iy", s_.out_height),
          Index::variable("ix", s_.out_width)};
}

Index WinogradNests::half(const Index& row, const Index& column) const {
  return (row * alpha_ + column) * lanes_;
}

// Each value is the polynomial product of (x - p) over the other finite points, with x^i standing for in[i].
std::vector<int> WinogradNests::data_transform(const std::vector<int>& in) {
  KernelBuilder& b = builder_;
  if (alpha_ == 4)
    return {b.difference(in[2], in[0]), b.sum(in[1], in[2]), b.difference(in[2], in[1]),
            b.difference(in[3], in[1])};
  const int e = b.difference(in[4], b.scaled(2, in[2])),
            o = b.scaled(std::sqrt(0.5), b.difference(in[3], b.scaled(2, in[1]))),
            f = b.difference(in[4], b.scaled(0.5, in[2])),
            p = b.scaled(std::sqrt(2.0), b.difference(in[3], b.scaled(0.5, in[1])));
  return {b.sum(b.difference(in[0], b.scaled(2.5, in[2])), in[4]),
          b.sum(e, o),
          b.difference(e, o),
          b.sum(f, p),
          b.difference(f, p),
          b.sum(b.difference(in[1], b.scaled(2.5, in[3])), in[5])};
}

// Powers of the points: even ones of the sums over a point and its negative, odd ones of the differences.
std::vector<int> WinogradNests::result_transform(const std::vector<int>& in) {
  const std::vector<double> at = positive_points(alpha_);
  std::vector<int> result;
  for (int64_t i = 0; i < m_; ++i) {
    int sum = i == 0 ? in[0] : -1;
    for (size_t j = 0; j < at.size(); ++j) {
      const int a = in[2 * j + 1], b = in[2 * j + 2];
      const int both = i % 2 == 0 ? builder_.sum(a, b) : builder_.difference(a, b);
      const int term = builder_.scaled(std::pow(at[j], static_cast<double>(i)), both);
      sum = sum < 0 ? term : builder_.sum(sum, term);
    }
    result.push_back(i == m_ - 1 ? builder_.sum(sum, in[alpha_ - 1]) : sum);
  }
  return result;
}

int WinogradNests::signed_sum_of(std::span<const int> coefficients, const std::vector<int>& values) {
  int sum = -1;
  for (size_t i = 0; i < coefficients.size(); ++i) {
    if (coefficients[i] == 0) continue;
    if (sum < 0)
      sum = coefficients[i] > 0 ? values[i] : builder_.difference(builder_.zero(), values[i]);
    else
      sum = coefficients[i] > 0 ? builder_.sum(sum, values[i]) : builder_.difference(sum, values[i]);
  }
  return sum;
}

void WinogradNests::transform_data(const Index& tile, const ChannelVector& channels,
                                   const TransformedTile& to, const std::vector<OuterLoop>& around,
                                   std::vector<ScheduledNest>& nests) {
  const Index l = Index::variable("l", channels.count), channel = channels.first + l;
  if (is_strassen(attrs_)) {
    std::vector<int> quarters;
    for (int64_t number = 0; number < kStrassenPixels; ++number)
      for (int64_t part = 0; part < kStrassenHalves; ++part)
        quarters.push_back(
            data(strassen_pixel(tile, number), channel + part * (s_.in_channels / kStrassenHalves)));
    ScheduledNest nest = vector_nest(around, {}, channels);
    for (int e = 0; e < kStrassenProducts; ++e)
      nest.stores.push_back({to.buffer, to.offset(e, channel), signed_sum_of(kStrassenData[e], quarters)});
    nests.push_back(std::move(nest));
    return;
  }
  // Along the rows of a tile, then along its columns.
  ScheduledNest rows = vector_nest(around, {{"i", alpha_}}, channels),
                columns = vector_nest(around, {{"j", alpha_}}, channels);
  const Index i = Index::variable("i", alpha_), j = Index::variable("j", alpha_);
  std::vector<int> row, column;
  for (int64_t x = 0; x < alpha_; ++x) {
    row.push_back(data(pixel(tile, i, x, s_.in_height, s_.in_width, -s_.pad_top, -s_.pad_left), channel));
    column.push_back(builder_.load(half_, half(x, j) + l));
  }
  row = data_transform(row);
  column = data_transform(column);
  for (int64_t x = 0; x < alpha_; ++x) {
    rows.stores.push_back({half_, half(i, x) + l, row[x]});
    columns.stores.push_back({to.buffer, to.offset(j + x * alpha_, channel), column[x]});
  }
  nests.push_back(std::move(rows));
  nests.push_back(std::move(columns));
}

void WinogradNests::transform_result(const Index& tile, const ChannelVector& channels,
                                     const TransformedTile& from, const std::vector<OuterLoop>& around,
                                     std::vector<ScheduledNest>& nests) {
  const Index l = Index::variable("l", channels.count), column = channels.first + l;
  if (is_strassen(attrs_)) {
    std::vector<int> products;
    for (int e = 0; e < kStrassenProducts; ++e)
      products.push_back(builder_.load(from.buffer, from.offset(e, column)));
    ScheduledNest nest = vector_nest(around, {}, channels);
    for (int64_t number = 0; number < kStrassenPixels; ++number)
      for (int64_t part = 0; part < kStrassenHalves; ++part) {
        const Pixel at = strassen_pixel(tile, number);
        const int sum = signed_sum_of(kStrassenResult[number * kStrassenHalves + part], products);
        for (const tile::Store& store :
             builder_.outputs(result_coords(column + part * (s_.out_channels / kStrassenHalves)), sum,
                              at.places, at.there))
          nest.stores.push_back(store);
      }
    nests.push_back(std::move(nest));
    return;
  }
  // Along the columns of a tile, along its rows, and then pixel by pixel.
  ScheduledNest columns = vector_nest(around, {{"j", alpha_}}, channels),
                rows = vector_nest(around, {{"i", m_}}, channels),
                pixels = vector_nest(around, {{"i", m_}, {"j", m_}}, channels);
  const Index over = Index::variable("j", alpha_), i = Index::variable("i", m_), j = Index::variable("j", m_);
  std::vector<int> down, across;
  for (int64_t x = 0; x < alpha_; ++x) {
    down.push_back(builder_.load(from.buffer, from.offset(over + x * alpha_, column)));
    across.push_back(builder_.load(half_, half(i, x) + l));
  }
  down = result_transform(down);
  across = result_transform(across);
  for (int64_t x = 0; x < m_; ++x) {
    columns.stores.push_back({half_, half(x, over) + l, down[x]});
    rows.stores.push_back({rows_, (i * m_ + x) * lanes_ + l, across[x]});
  }
  const Pixel at = pixel(tile, i, j, s_.out_height, s_.out_width, 0, 0);
  pixels.stores = builder_.outputs(result_coords(column), builder_.load(rows_, (i * m_ + j) * lanes_ + l),
                                   at.places, at.there);
  nests.push_back(std::move(columns));
  nests.push_back(std::move(rows));
  nests.push_back(std::move(pixels));
}

void for_channel_vectors(
    int64_t channels, int lanes,
    const std::function<void(int64_t low, int64_t high, int64_t count, int width)>& visit) {
  const int64_t full = channels / lanes, rest = channels % lanes;
  if (full > 0) visit(0, full, lanes, lanes);
  if (rest > 0) visit(full, full + 1, rest, split_lanes(rest, lanes).back());
}

}  // namespace korch::linear
