#include "korch/codegen/loop/index_formula.h"

#include <algorithm>

namespace korch::tile {
namespace {

constexpr int64_t kLargestDivisor = 16;  // covers resizing by small ratios

int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool gives(const IndexFormula& f, const std::vector<int64_t>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t plain = floor_quotient(f.factor * static_cast<int64_t>(i) + f.offset, f.divisor);
    if (std::clamp(plain, f.low, f.high) != values[i]) return false;
  }
  return true;
}

}  // namespace

Index IndexFormula::at(const Index& position) const {
  return clamp(floor_div(position * factor + Index(offset), divisor), low, high);
}

std::optional<IndexFormula> find_formula(const std::vector<int64_t>& values) {
  if (values.empty()) return std::nullopt;
  IndexFormula f;
  f.low = *std::min_element(values.begin(), values.end());
  f.high = *std::max_element(values.begin(), values.end());
  if (f.low == f.high) {
    f.offset = f.low;
    return f;
  }
  const auto count = static_cast<int64_t>(values.size());
  // In the middle nothing is clamped; there the values advance by `factor` every `divisor` positions.
  const int64_t middle = count / 2;
  for (f.divisor = 1; f.divisor <= kLargestDivisor; ++f.divisor) {
    const int64_t from = std::max<int64_t>(0, middle - f.divisor), to = from + f.divisor;
    if (to >= count) break;
    f.factor = values[to] - values[from];
    for (int64_t k = 0; k < f.divisor; ++k) {
      f.offset = values[from] * f.divisor - f.factor * from + k;
      if (gives(f, values)) return f;
    }
  }
  return std::nullopt;
}

}  // namespace korch::tile
