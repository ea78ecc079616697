#include "korch/codegen/linear/winograd_text.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <vector>

#include "korch/base/error.h"
#include "korch/codegen/linear/epilogue.h"
#include "korch/ir/winograd.h"

namespace korch::linear {

namespace {

// The positive ones; their negatives and 0 are points too.
std::vector<double> positive_points(int alpha) {
  KORCH_ASSERT(alpha == 4 || alpha == 6, "Winograd tile");
  if (alpha == 4) return {1};
  return {std::sqrt(0.5), std::sqrt(2.0)};
}

// In one dimension: statements that declare `out`0 .. from `in`0 ... The points +-sqrt(1/2), +-sqrt(2) give
// F(4,3) half the error of the usual +-1, +-2 (docs/design/codegen-linear.md).

// Each value is the polynomial product of (x - p) over the other finite points, with x^i standing for in_i.
std::string data_transform_text(int alpha, const std::string& type, const std::string& in,
                                const std::string& out) {
  if (alpha == 4)
    return fmt::format("const {0} {2}0={1}2-{1}0,{2}1={1}1+{1}2,{2}2={1}2-{1}1,{2}3={1}3-{1}1;\n", type, in,
                       out);
  return fmt::format(
      "const {0} {2}e={1}4-2.f*{1}2,{2}o=0.70710678118654752f*({1}3-2.f*{1}1),{2}f={1}4-0.5f*{1}2,"
      "{2}p=1.4142135623730951f*({1}3-0.5f*{1}1);\n"
      "const {0} {2}0={1}0-2.5f*{1}2+{1}4,{2}1={2}e+{2}o,{2}2={2}e-{2}o,{2}3={2}f+{2}p,{2}4={2}f-{2}p,"
      "{2}5={1}1-2.5f*{1}3+{1}5;\n",
      type, in, out);
}

// `in`i summed, each times its coefficient, which is 1, 0 or -1.
std::string signed_sum_text(std::span<const int> coefficients, const std::string& in) {
  std::string text;
  for (size_t i = 0; i < coefficients.size(); ++i)
    if (coefficients[i] != 0)
      text += fmt::format("{}{}{}", coefficients[i] < 0 ? "-" : text.empty() ? "" : "+", in, i);
  return text;
}

// Powers of the points: even ones of the sums over a point and its negative, odd ones of the differences.
std::string result_transform_text(int alpha, int m, const std::string& type, const std::string& in,
                                  const std::string& out) {
  const std::vector<double> at = positive_points(alpha);
  std::string text;
  for (size_t j = 0; j < at.size(); ++j)
    text += fmt::format("const {0} {2}s{3}={1}{4}+{1}{5},{2}d{3}={1}{4}-{1}{5};\n", type, in, out, j,
                        2 * j + 1, 2 * j + 2);
  for (int i = 0; i < m; ++i) {
    std::string sum = i == 0 ? in + "0+" : "";
    for (size_t j = 0; j < at.size(); ++j)
      sum += fmt::format("{}{:#.9g}f*{}{}{}", j == 0 ? "" : "+", std::pow(at[j], i), out,
                         i % 2 == 0 ? "s" : "d", j);
    if (i == m - 1) sum += fmt::format("+{}{}", in, alpha - 1);
    text += fmt::format("const {} {}{}={};\n", type, out, i, sum);
  }
  return text;
}

}  // namespace

std::string WinogradText::decode_tile(const std::string& tile) const {
  if (is_strassen()) return fmt::format("const int64_t tile={};\n", tile);
  return fmt::format("const int64_t tile={3},image=tile/{0},ty=tile/{1}%{2},tx=tile%{1};(void)image;\n",
                     tiles_h * tiles_w, tiles_w, tiles_h, tile);
}

// d[row][column] goes through a small buffer between the two dimensions.
std::string WinogradText::data_vectors(int width, int64_t valid, const Index& channel,
                                       const std::string& place, const PerRow& store) const {
  if (is_strassen()) return strassen_data(width, valid, channel, place, store);
  const ConvShape& s = *problem.conv;
  const std::string type = fmt::format("v{}", width);
  std::string text = fmt::format("{} half[{}][{}];const int64_t l=0,ix0=tx*{}-{};(void)l;\n", type, alpha,
                                 alpha, m, s.pad_left);
  text += fmt::format("for(int64_t i=0;i<{};++i){{const int64_t iy=ty*{}-{}+i;\n", alpha, m, s.pad_top);
  for (int j = 0; j < alpha; ++j) text += fmt::format("{} d{}={{}};", type, j);
  text += fmt::format("if(iy>=0&&iy<{}){{\n", s.in_height);
  const Index image = Index::variable("image", s.images), iy = Index::variable("iy", s.in_height);
  for (int j = 0; j < alpha; ++j) {
    tile::Block block = tile::vector_block("l", width, valid);
    const std::string vector =
        emitter.emit(problem.data, {image, channel, iy, Index::variable("ix", s.in_width)}, block);
    text += fmt::format("{{const int64_t ix=ix0+{};if(ix>=0&&ix<{}){{\n{}d{}={};}}}}\n", j, s.in_width,
                        block.code, j, vector);
  }
  text += "}\n";
  text += data_transform_text(alpha, type, "d", "e");
  for (int j = 0; j < alpha; ++j) text += fmt::format("half[i][{0}]=e{0};", j);
  text += fmt::format("}}\nfor(int64_t j=0;j<{};++j){{", alpha);
  for (int i = 0; i < alpha; ++i) text += fmt::format("const {} h{}=half[{}][j];", type, i, i);
  text += "\n" + data_transform_text(alpha, type, "h", "e") + place;
  for (int i = 0; i < alpha; ++i) text += store(i);
  return text + "}\n";
}

std::string WinogradText::result_vectors(const Implementation& implementation, const Target& target,
                                         int width, int64_t valid, const Index& column,
                                         const std::string& place, const PerRow& load) const {
  if (is_strassen()) return strassen_result(implementation, target, width, valid, column, place, load);
  const ConvShape& s = *problem.conv;
  const std::string type = fmt::format("v{}", width);
  std::string text = fmt::format("{} half[{}][{}];const int64_t l=0;(void)l;\nfor(int64_t j=0;j<{};++j){{{}",
                                 type, m, alpha, alpha, place);
  for (int i = 0; i < alpha; ++i) text += load(i);
  text += "\n" + result_transform_text(alpha, m, type, "r", "s");
  for (int i = 0; i < m; ++i) text += fmt::format("half[{0}][j]=s{0};", i);
  text += fmt::format(
      "}}\nfor(int64_t i=0;i<{0};++i){{const int64_t y=ty*{0}+i;if(y>={1})break;\n{2} row[{0}];{{", m,
      s.out_height, type);
  for (int j = 0; j < alpha; ++j) text += fmt::format("const {} r{}=half[i][{}];", type, j, j);
  text += "\n" + result_transform_text(alpha, m, type, "r", "s");
  for (int j = 0; j < m; ++j) text += fmt::format("row[{0}]=s{0};", j);
  text += fmt::format(
      "}}\nfor(int64_t j=0;j<{0};++j){{const int64_t x=tx*{0}+j;if(x>={1})break;const {2} acc=row[j];\n", m,
      s.out_width, type);
  tile::Block block = tile::vector_block("l", width, valid);
  const Coords coords = {Index::variable("image", s.images), column, Index::variable("y", s.out_height),
                         Index::variable("x", s.out_width)};
  emit_outputs(problem, implementation, target, emitter, coords, "acc", block);
  return text + block.code + "}}\n";
}

// Opens two blocks, the inner one for a pixel that exists, at (image, y, x).
std::string WinogradText::pixel_of_tile(int64_t pixel) const {
  const ConvShape& s = *problem.conv;
  return fmt::format(
      "{{const int64_t pixel=tile*2+{};if(pixel<{}){{const int64_t "
      "image=pixel/{},y=pixel/{}%{},x=pixel%{};(void)image;(void)y;\n",
      pixel, s.images * s.out_height * s.out_width, s.out_height * s.out_width, s.out_width, s.out_height,
      s.out_width);
}

std::string WinogradText::strassen_data(int width, int64_t valid, const Index& channel,
                                        const std::string& place, const PerRow& store) const {
  const ConvShape& s = *problem.conv;
  const std::string type = fmt::format("v{}", width);
  std::string text =
      fmt::format("const int64_t l=0,j=0;(void)l;(void)j;\n{} d0={{}},d1={{}},d2={{}},d3={{}};\n", type);
  for (int64_t pixel = 0; pixel < kStrassenPixels; ++pixel) {
    text += pixel_of_tile(pixel);
    for (int64_t half = 0; half < kStrassenHalves; ++half) {
      tile::Block block = tile::vector_block("l", width, valid);
      const Coords coords = {Index::variable("image", s.images), channel + half * (s.in_channels / 2),
                             Index::variable("y", s.in_height), Index::variable("x", s.in_width)};
      const std::string vector = emitter.emit(problem.data, coords, block);
      text += fmt::format("{{{}d{}={};}}\n", block.code, pixel * 2 + half, vector);
    }
    text += "}}\n";
  }
  text += place;
  for (int e = 0; e < kStrassenProducts; ++e)
    text += fmt::format("const {} e{}={};{}\n", type, e, signed_sum_text(kStrassenData[e], "d"), store(e));
  return text;
}

std::string WinogradText::strassen_result(const Implementation& implementation, const Target& target,
                                          int width, int64_t valid, const Index& column,
                                          const std::string& place, const PerRow& load) const {
  const ConvShape& s = *problem.conv;
  std::string text = "const int64_t l=0,j=0;(void)l;(void)j;\n" + place;
  for (int e = 0; e < kStrassenProducts; ++e) text += load(e);
  for (int64_t pixel = 0; pixel < kStrassenPixels; ++pixel) {
    text += "\n" + pixel_of_tile(pixel);
    for (int64_t half = 0; half < kStrassenHalves; ++half) {
      tile::Block block = tile::vector_block("l", width, valid);
      const Coords coords = {Index::variable("image", s.images), column + half * (s.out_channels / 2),
                             Index::variable("y", s.out_height), Index::variable("x", s.out_width)};
      emit_outputs(problem, implementation, target, emitter, coords, "acc", block);
      text += fmt::format("{{const v{} acc={};\n{}}}\n", width,
                          signed_sum_text(kStrassenResult[pixel * 2 + half], "r"), block.code);
    }
    text += "}}\n";
  }
  return text;
}

}  // namespace korch::linear
