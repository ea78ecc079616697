#include "korch/codegen/linear/winograd_transform.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "korch/base/error.h"

namespace korch::linear {

namespace {

// The positive ones; their negatives and 0 are points too.
std::vector<double> positive_points(int alpha) {
  KORCH_ASSERT(alpha == 4 || alpha == 6, "Winograd tile");
  if (alpha == 4) return {1};
  return {std::sqrt(0.5), std::sqrt(2.0)};
}

}  // namespace

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

}  // namespace korch::linear
