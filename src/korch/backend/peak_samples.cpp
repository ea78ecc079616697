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
  std::vector<std::string> names;
  if (!agree(s.flops.total)) names.push_back(s.flops.what);
  for (size_t level = 0; level + 1 < s.bytes.size(); ++level)
    if (!agree(s.bytes[level].total)) names.push_back(s.bytes[level].what);
  return fmt::format("{}", fmt::join(names, " and of "));
}

bool agree(const PeakSamples& s) {
  return not_met_again(s).empty() && (s.bytes.empty() || agree(s.bytes.back().total));
}

}  // namespace korch
