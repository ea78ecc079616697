// Features with their names, as they are found.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace korch {

// Of what may be 0.
inline double log2_of(double x) {
  constexpr double kTiny = 1e-6;
  return std::log2(std::max(x, kTiny));
}

class FeatureRow {
 public:
  void add(const char* name, double value) {
    names.push_back(name);
    values.push_back(static_cast<float>(std::round(value * kSteps) / kSteps));
  }
  std::vector<const char*> names;
  std::vector<float> values;

 private:
  static constexpr double kSteps = 256;  // of one: texts of them stay short
};

}  // namespace korch
