#include "korch/variants/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace korch::variants {
namespace {

const std::vector<double> kPlaces = {0.0625, 0.125, 0.25, 0.375, 0.5, 0.75, 1};

std::vector<Measurement> measured(const std::function<double(double)>& us) {
  std::vector<Measurement> result;
  for (const double x : kPlaces) result.push_back({x, 1, us(x)});
  return result;
}

int degree(const std::array<double, kTerms>& polynomial) {
  if (polynomial[3] != 0 || polynomial[4] != 0 || polynomial[5] != 0) return 2;
  return polynomial[1] != 0 || polynomial[2] != 0 ? 1 : 0;
}

TEST(Fit, RecoversWhatTheMeasurementsAreMadeOf) {
  const Rational constant = fit(measured([](double) { return 7.0; }));
  EXPECT_DOUBLE_EQ(constant.at(0.3, 1), 7);
  EXPECT_EQ(degree(constant.over), 0);

  const Rational line = fit(measured([](double x) { return 3 + 40 * x; }));
  EXPECT_NEAR(line.over[0], 3, 1e-4);
  EXPECT_NEAR(line.over[1], 40, 1e-4);
  EXPECT_EQ(degree(line.over), 1);
  EXPECT_EQ(degree(line.under), 0);

  const Rational parabola = fit(measured([](double x) { return 2 + x + 90 * x * x; }));
  EXPECT_NEAR(parabola.over[0], 2, 1e-3);
  EXPECT_NEAR(parabola.over[1], 1, 1e-2);
  EXPECT_NEAR(parabola.over[3], 90, 1e-2);

  const Rational ratio = fit(measured([](double x) { return (1 + 50 * x) / (1 + 2 * x); }));
  EXPECT_NEAR(ratio.over[0], 1, 1e-3);
  EXPECT_NEAR(ratio.over[1], 50, 1e-2);
  EXPECT_NEAR(ratio.under[1], 2, 1e-3);
  EXPECT_EQ(degree(ratio.over), 1);
  EXPECT_EQ(degree(ratio.under), 1);
  EXPECT_LT(ratio.error, 1e-4);
  for (double x = 0.07; x < 1; x += 0.01) EXPECT_NEAR(ratio.at(x, 1), (1 + 50 * x) / (1 + 2 * x), 1e-3);
}

TEST(Fit, RecoversAFunctionOfTwoVariables) {
  std::vector<Measurement> measurements;
  const auto us = [](double x, double y) { return (2 + 10 * x + 5 * y) / (1 + 0.5 * x + 0.25 * y); };
  for (const double x : {0.1, 0.4, 0.7, 1.0})
    for (const double y : {0.25, 0.5, 1.0}) measurements.push_back({x, y, us(x, y)});
  const Rational function = fit(measurements);
  EXPECT_LT(function.error, 1e-3);
  for (double x = 0.1; x <= 1; x += 0.05)
    for (double y = 0.25; y <= 1; y += 0.05) EXPECT_NEAR(function.at(x, y), us(x, y), 1e-2) << x << " " << y;
}

TEST(Fit, NoiseDoesNotRaiseTheDegree) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0.98, 1.02);
  int lines = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const Rational function = fit(measured([&](double x) { return noise(random) * (20 + 100 * x); }));
    lines += degree(function.over) == 1 && degree(function.under) == 0 ? 1 : 0;
    for (const double x : kPlaces) EXPECT_NEAR(function.at(x, 1) / (20 + 100 * x), 1, 0.05);
  }
  EXPECT_GT(lines, 30);
}

TEST(Fit, NeverFallsOrLeavesWhatWasMeasured) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> wild(-1, 1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<Measurement> measurements =
        measured([&](double x) { return std::exp(2 * wild(random)) * (1 + 10 * x); });
    double least = INFINITY, most = 0;
    for (const Measurement& m : measurements) {
      least = std::min(least, m.us);
      most = std::max(most, m.us);
    }
    const Rational function = fit(measurements);
    double before = 0;
    for (int i = 0; i <= 16; ++i) {
      const double us = function.at(kPlaces[0] + (1 - kPlaces[0]) * i / 16, 1);
      EXPECT_GE(us, 0.95 * before);
      EXPECT_GT(us, least / 2);
      EXPECT_LT(us, most * 2);
      before = us;
    }
    EXPECT_TRUE(std::isfinite(function.error));
  }
}

TEST(Fit, OfFewMeasurements) {
  EXPECT_DOUBLE_EQ(fit({{1, 1, 5}}).at(0.5, 1), 5);
  EXPECT_DOUBLE_EQ(fit({{1, 1, 4}, {1, 1, 9}}).at(0.5, 1), 6);  // the geometric mean: one place
  // Of two places, each measured once, nobody knows how good a line is.
  EXPECT_DOUBLE_EQ(fit({{0.5, 1, 4}, {1, 1, 9}}).at(0.5, 1), 6);
  const Rational known = fit({{0.5, 1, 4}, {1, 1, 9}}, true);  // unless nobody asks for another place
  EXPECT_NEAR(known.at(0.5, 1), 4, 1e-6);
  EXPECT_LT(known.error, 1e-6);
  const Rational line = fit({{0.5, 1, 4}, {0.5, 1, 4}, {1, 1, 9}, {1, 1, 9}});
  EXPECT_NEAR(line.at(0.5, 1), 4, 1e-6);
  EXPECT_NEAR(line.at(1, 1), 9, 1e-6);
}

TEST(Fit, WhatCannotBeForetoldHasALargeError) {
  const Rational function = fit({{0.1, 1, 1}, {0.2, 1, 30}, {0.4, 1, 2}, {0.6, 1, 50}, {1, 1, 3}});
  EXPECT_GT(function.error, 1);
}

}  // namespace
}  // namespace korch::variants
