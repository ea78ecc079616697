#include "korch/codegen/linear/winograd_transform.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "korch/base/error.h"

namespace korch::linear {

namespace {

std::vector<double> points(int m) {
  KORCH_ASSERT(m == 2 || m == 4, "Winograd tile");
  if (m == 2) return {0, 1, -1};
  return {0, std::sqrt(0.5), -std::sqrt(0.5), std::sqrt(2.0), -std::sqrt(2.0)};
}

// Rows of G: 1, p, p^2 over the product of the differences to the other points; infinity picks the last tap.
std::vector<std::array<double, 3>> weight_rows(int m) {
  const std::vector<double> at = points(m);
  std::vector<std::array<double, 3>> rows;
  for (size_t j = 0; j < at.size(); ++j) {
    double product = 1;
    for (size_t i = 0; i < at.size(); ++i)
      if (i != j) product *= at[j] - at[i];
    rows.push_back({1 / product, at[j] / product, at[j] * at[j] / product});
  }
  rows.push_back({0, 0, 1});
  return rows;
}

}  // namespace

void winograd_weights(int m, const float* g, double* u) {
  const auto rows = weight_rows(m);
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < rows.size(); ++j) {
      double sum = 0;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) sum += rows[i][a] * g[a * 3 + b] * rows[j][b];
      u[i * rows.size() + j] = sum;
    }
}

// Each value is the polynomial product of (x - p) over the other finite points, with x^i standing for in_i.
std::string data_transform_text(int m, const std::string& type, const std::string& in,
                                const std::string& out) {
  if (m == 2)
    return fmt::format("const {0} {2}0={1}2-{1}0,{2}1={1}1+{1}2,{2}2={1}2-{1}1,{2}3={1}3-{1}1;\n", type, in,
                       out);
  return fmt::format(
      "const {0} {2}e={1}4-2.f*{1}2,{2}o=0.70710678118654752f*({1}3-2.f*{1}1),{2}f={1}4-0.5f*{1}2,"
      "{2}p=1.4142135623730951f*({1}3-0.5f*{1}1);\n"
      "const {0} {2}0={1}0-2.5f*{1}2+{1}4,{2}1={2}e+{2}o,{2}2={2}e-{2}o,{2}3={2}f+{2}p,{2}4={2}f-{2}p,"
      "{2}5={1}1-2.5f*{1}3+{1}5;\n",
      type, in, out);
}

// Powers of the points.
std::string result_transform_text(int m, const std::string& type, const std::string& in,
                                  const std::string& out) {
  if (m == 2) return fmt::format("const {0} {2}0={1}0+{1}1+{1}2,{2}1={1}1-{1}2+{1}3;\n", type, in, out);
  return fmt::format(
      "const {0} {2}s={1}1+{1}2,{2}d={1}1-{1}2,{2}t={1}3+{1}4,{2}u={1}3-{1}4;\n"
      "const {0} "
      "{2}0={1}0+{2}s+{2}t,{2}1=0.70710678118654752f*{2}d+1.4142135623730951f*{2}u,{2}2=0.5f*{2}s+2.f*{2}t,"
      "{2}3=0.35355339059327379f*{2}d+2.8284271247461903f*{2}u+{1}5;\n",
      type, in, out);
}

}  // namespace korch::linear
