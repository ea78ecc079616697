#include "korch/variants/fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/base/error.h"
#include "korch/runtime/variant_cost.h"

namespace korch::variants {
namespace {

constexpr double kRidge = 1e-9;       // weight of the coefficients' squares beside the errors' mean square
constexpr int kReweightings = 6;      // so that errors are those of the ratio
constexpr double kLeastUnder = 0.05;  // of the denominator between the measurements: 1 where both are 0
constexpr double kNoise = 0.05;       // a function may fall by, where it should grow
constexpr double kBeyond = 2;         // times what was measured a function may reach between the measurements
constexpr double kNearlyEqual = 1.1;  // errors, of which the smaller function is taken
constexpr double kExact = 1e-6;       // an error that measurements have anyway

struct Degrees {
  int over = 0, under = 0;
};

using Terms = std::array<double, kTerms>;

Terms terms_at(const Measurement& m) {
  return {1, m.x, m.y, m.x * m.x, m.x * m.y, m.y * m.y};
}

// Those of a polynomial of this degree.
std::vector<size_t> terms_of(int degree, bool two) {
  std::vector<size_t> terms = {0};
  if (degree >= 1) terms.push_back(1);
  if (degree >= 1 && two) terms.push_back(2);
  if (degree >= 2) terms.push_back(3);
  if (degree >= 2 && two) terms.insert(terms.end(), {4, 5});
  return terms;
}

// Solves the symmetric positive definite system in place; false where it is none.
bool solve(std::vector<std::vector<double>>& a, std::vector<double>& b) {
  const size_t n = b.size();
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (!(std::abs(a[pivot][k]) > 0)) return false;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return std::all_of(b.begin(), b.end(), [](double v) { return std::isfinite(v); });
}

// P / Q with Q(0, 0) = 1: P(x) - us Q(x) is linear in the coefficients. Divided by us times the Q of the
// round before it is the relative error.
class Fitter {
 public:
  Fitter(const std::vector<Measurement>& measurements, Degrees degrees, bool two)
      : measurements_(measurements),
        over_(terms_of(degrees.over, two)),
        under_(terms_of(degrees.under, two)) {
    under_.erase(under_.begin());
  }

  size_t coefficients() const { return over_.size() + under_.size(); }

  std::optional<Rational> fit() const {
    Rational result;
    for (int round = 0; round < kReweightings; ++round) {
      const std::optional<std::vector<double>> found = least_squares(result);
      if (!found) return std::nullopt;
      result = {};
      for (size_t i = 0; i < over_.size(); ++i) result.over[over_[i]] = (*found)[i];
      for (size_t i = 0; i < under_.size(); ++i) result.under[under_[i]] = (*found)[over_.size() + i];
      if (under_.empty()) break;
    }
    return result;
  }

 private:
  std::optional<std::vector<double>> least_squares(const Rational& before) const {
    const size_t n = coefficients();
    std::vector<std::vector<double>> a(n, std::vector<double>(n, 0));
    std::vector<double> b(n, 0), scale(n, 0);
    for (const Measurement& m : measurements_) {
      const Terms terms = terms_at(m);
      const double under = rt::polynomial(before.under.data(), m.x, m.y);
      if (!(under > 0)) return std::nullopt;
      std::vector<double> row;
      for (size_t t : over_) row.push_back(terms[t] / (m.us * under));
      for (size_t t : under_) row.push_back(-terms[t] / under);
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) a[i][j] += row[i] * row[j];
        b[i] += row[i] / under;
      }
    }
    for (size_t i = 0; i < n; ++i) a[i][i] += kRidge * a[i][i] + 1e-300;
    if (!solve(a, b)) return std::nullopt;
    return b;
  }

  const std::vector<Measurement>& measurements_;
  std::vector<size_t> over_, under_;
};

double geometric_mean(const std::vector<Measurement>& measurements) {
  double sum = 0;
  for (const Measurement& m : measurements) sum += std::log(m.us);
  return std::exp(sum / static_cast<double>(measurements.size()));
}

Rational constant(const std::vector<Measurement>& measurements) {
  Rational result;
  result.over[0] = geometric_mean(measurements);
  return result;
}

struct Hull {
  double low_x = 1, high_x = 0, low_y = 1, high_y = 0, least_us = INFINITY, most_us = 0;
};

Hull hull_of(const std::vector<Measurement>& measurements) {
  Hull hull;
  for (const Measurement& m : measurements) {
    hull.low_x = std::min(hull.low_x, m.x);
    hull.high_x = std::max(hull.high_x, m.x);
    hull.low_y = std::min(hull.low_y, m.y);
    hull.high_y = std::max(hull.high_y, m.y);
    hull.least_us = std::min(hull.least_us, m.us);
    hull.most_us = std::max(hull.most_us, m.us);
  }
  return hull;
}

bool is_sane(const Rational& function, const Hull& hull) {
  constexpr int kSteps = 16;
  std::array<std::array<double, kSteps + 1>, kSteps + 1> values{};
  for (int i = 0; i <= kSteps; ++i)
    for (int j = 0; j <= kSteps; ++j) {
      const double x = hull.low_x + (hull.high_x - hull.low_x) * i / kSteps,
                   y = hull.low_y + (hull.high_y - hull.low_y) * j / kSteps;
      if (!(rt::polynomial(function.under.data(), x, y) > kLeastUnder)) return false;
      const double us = function.at(x, y);
      if (!(us > hull.least_us / kBeyond && us < hull.most_us * kBeyond)) return false;
      const double left = i > 0 ? values[i - 1][j] : us, below = j > 0 ? values[i][j - 1] : us;
      if (us < (1 - kNoise) * std::max(left, below)) return false;
      values[i][j] = std::max({us, left, below});  // the most so far, so that small falls do not add up
    }
  return true;
}

size_t places_of(const std::vector<Measurement>& measurements) {
  std::set<std::pair<double, double>> places;
  for (const Measurement& m : measurements) places.insert({m.x, m.y});
  return places.size();
}

// Of those that the others, at places enough, can foretell; infinite where there are none.
double left_out_error(const std::vector<Measurement>& measurements, Degrees degrees, bool two) {
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < measurements.size(); ++i) {
    std::vector<Measurement> others = measurements;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Fitter fitter(others, degrees, two);
    if (fitter.coefficients() > places_of(others)) continue;
    const std::optional<Rational> function = fitter.fit();
    if (!function) return INFINITY;
    const double foretold = function->at(measurements[i].x, measurements[i].y);
    if (!(foretold > 0)) return INFINITY;
    // The same for twice as much as for half as much.
    const double error = std::log(foretold / measurements[i].us);
    sum += error * error;
    ++count;
  }
  return count > 0 ? std::sqrt(sum / count) : INFINITY;
}

double constant_error(const std::vector<Measurement>& measurements) {
  double sum = 0;
  for (size_t i = 0; i < measurements.size(); ++i) {
    std::vector<Measurement> others = measurements;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const double error = std::log(geometric_mean(others) / measurements[i].us);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(measurements.size()));
}

double own_error(const Rational& function, const std::vector<Measurement>& measurements) {
  double sum = 0;
  for (const Measurement& m : measurements) {
    const double error = std::log(function.at(m.x, m.y) / m.us);
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(measurements.size()));
}

}  // namespace

double Rational::at(double x, double y) const {
  return rt::ratio_at(over.data(), under.data(), x, y);
}

Rational fit(const std::vector<Measurement>& measurements, bool complete) {
  KORCH_ASSERT(!measurements.empty(), "a function through nothing");
  const size_t places = places_of(measurements);
  std::set<double> ys;
  for (const Measurement& m : measurements) {
    KORCH_ASSERT(m.us > 0 && std::isfinite(m.us), "a measurement that is none");
    ys.insert(m.y);
  }
  Rational best = constant(measurements);
  if (complete)
    best.error = own_error(best, measurements);
  else if (measurements.size() > 1)
    best.error = constant_error(measurements);
  const Hull hull = hull_of(measurements);
  const bool two = ys.size() > 1;
  for (const Degrees degrees :
       {Degrees{1, 0}, Degrees{1, 1}, Degrees{2, 0}, Degrees{2, 1}, Degrees{1, 2}, Degrees{2, 2}}) {
    const Fitter fitter(measurements, degrees, two);
    if (fitter.coefficients() > places) continue;
    std::optional<Rational> function = fitter.fit();
    if (!function || !is_sane(*function, hull)) continue;
    function->error =
        complete ? own_error(*function, measurements) : left_out_error(measurements, degrees, two);
    if (std::isfinite(function->error) && function->error * kNearlyEqual + kExact < best.error)
      best = *function;
  }
  return best;
}

}  // namespace korch::variants
