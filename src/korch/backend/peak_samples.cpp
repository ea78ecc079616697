#include "korch/backend/peak_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace korch {
namespace {

constexpr double kAgreement = 0.9;  // of the best, that the third best reaches
constexpr size_t kThird = 2;

}  // namespace

bool agree(const std::vector<double>& rates) {
  if (rates.size() <= kThird) return false;
  std::vector<double> sorted = rates;
  std::sort(sorted.rbegin(), sorted.rend());
  return sorted[kThird] >= kAgreement * sorted[0];
}

std::string not_met_again(const PeakSamples& s) {
  std::vector<const char*> names;
  const auto add = [&](const char* name, const std::vector<double>& rates) {
    if (!agree(rates)) names.push_back(name);
  };
  add("arithmetic", s.flops.total);
  add("L1", s.l1_bytes.total);
  add("L2", s.l2_bytes.total);
  add("L3", s.l3_bytes.total);
  return fmt::format("{}", fmt::join(names, " and of "));
}

bool agree(const PeakSamples& s) {
  return not_met_again(s).empty() && agree(s.memory_bytes.total);
}

}  // namespace korch
