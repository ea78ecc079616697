// Rational functions of one or two variables through few measurements (after KLARAPTOR, arXiv 1911.02373).
#pragma once

#include <array>
#include <optional>
#include <vector>

namespace korch::launch {

// Of 1, x, y, x^2, x y, y^2 (runtime/launch_cost.h evaluates them).
constexpr size_t kTerms = 6;

struct Rational {
  std::array<double, kTerms> over{}, under{1};
  // Relative, root mean square: each measurement that the others can tell, foretold by a function through
  // these. 0 of a single one.
  double error = 0;

  double at(double x, double y) const;
};

struct Measurement {
  double x = 1, y = 1;  // in (0, 1]; y is always the same where there is one variable
  double us = 0;        // above 0
};

// Of all degrees up to 2 over 2 that have no more coefficients than there are places, and whose error is
// known, the one with the least; of nearly equal ones the smallest. Each is fitted by least squares on the
// relative error, with a slight preference for small coefficients, and dropped unless between the
// measurements it is finite and positive and grows with both variables, but for noise. A constant, the
// geometric mean, always is one.
Rational fit(const std::vector<Measurement>& measurements);

}  // namespace korch::launch
