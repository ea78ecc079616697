// Fits rational functions of one or two variables to few measurements (after KLARAPTOR, arXiv 1911.02373).
#pragma once

#include <array>
#include <optional>
#include <vector>

namespace korch::variants {

// Of 1, x, y, x^2, x y, y^2 (runtime/variant_cost.h evaluates them).
constexpr size_t kTerms = 6;

struct Rational {
  std::array<double, kTerms> over{}, under{1};
  // Relative, root mean square: each measurement is foretold by a function fitted to the others. 0 for a
  // single measurement.
  double error = 0;

  double at(double x, double y) const;
};

struct Measurement {
  double x = 1, y = 1;  // in (0, 1]; y is always the same where there is one variable
  double us = 0;        // above 0
};

// The function with the least error, of degree up to 2 over 2; of nearly equal ones the smallest. It has no
// more coefficients than there are places. Each candidate is fitted by least squares on the relative error,
// with a slight preference for small coefficients. It is dropped unless, between the measurements, it is
// finite and positive and grows with both variables, but for noise. The geometric mean, a constant, is always
// a candidate.
// `complete`: the function will be evaluated only at measured places. Then the error is the function's own,
// and no measurement is foretold.
Rational fit(const std::vector<Measurement>& measurements, bool complete = false);

}  // namespace korch::variants
