#include "korch/tensor/open_dimension.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace korch {

int64_t fitting_up_to(const OpenDimension& dimension, int64_t extent) {
  extent = std::clamp(extent, dimension.least, dimension.most);
  if (dimension.fitting.empty()) return extent;
  int64_t result = dimension.fitting[0].first;
  for (const ExtentSteps& steps : dimension.fitting)
    if (steps.first <= extent)
      result = std::min(steps.last, steps.first + (extent - steps.first) / steps.step * steps.step);
  return result;
}

bool fits(const OpenDimension& dimension, int64_t extent) {
  return extent >= dimension.least && extent <= dimension.most &&
         (dimension.fitting.empty() ||
          std::any_of(dimension.fitting.begin(), dimension.fitting.end(),
                      [&](const ExtentSteps& steps) { return steps.contains(extent); }));
}

std::vector<int64_t> fitting_extents(const std::vector<OpenDimension>& dimensions,
                                     std::vector<int64_t> wanted) {
  for (size_t d = 0; d < dimensions.size(); ++d)
    if (!dimensions[d].sum) wanted[d] = fitting_up_to(dimensions[d], wanted[d]);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const OpenDimension& whole = dimensions[d];
    if (!whole.sum) continue;
    // A smaller term, the last one first, where a sum of several is too large or between two that fit.
    std::vector<ExtentSum::Term> terms = whole.sum->terms;
    while (!terms.empty() && !fits(whole, whole.sum->of(wanted))) {
      const auto [term, factor] = terms.back();
      const OpenDimension& part = dimensions[static_cast<size_t>(term)];
      int64_t& extent = wanted[static_cast<size_t>(term)];
      const int64_t excess = whole.sum->of(wanted) - fitting_up_to(whole, whole.sum->of(wanted));
      const int64_t less = fitting_up_to(part, extent - std::max<int64_t>(1, excess / factor));
      if (excess > 0 && less < extent)
        extent = less;
      else
        terms.pop_back();
    }
  }
  for (size_t d = 0; d < dimensions.size(); ++d)
    if (dimensions[d].sum) wanted[d] = dimensions[d].sum->of(wanted);
  return wanted;
}

std::vector<ExtentSteps> as_steps(const std::vector<int64_t>& numbers) {
  std::vector<ExtentSteps> result;
  bool is_open = false;  // the last one has one number, which may lead to any
  for (const int64_t number : numbers) {
    if (is_open)
      result.back().step = number - result.back().first;
    else if (result.empty() || result.back().last + result.back().step != number) {
      result.push_back({number, number, 1});
      is_open = true;
      continue;
    }
    result.back().last = number;
    is_open = false;
  }
  return result;
}

std::string to_string(const std::vector<ExtentSteps>& steps) {
  constexpr size_t kNamed = 4;
  std::vector<std::string> named;
  for (const ExtentSteps& some : steps) {
    if (some.step == 1 && some.last > some.first + 1) {
      named.push_back(fmt::format("{}..{}", some.first, some.last));
      continue;
    }
    for (int64_t number = some.first; number <= some.last && named.size() <= kNamed; number += some.step)
      named.push_back(std::to_string(number));
  }
  if (named.size() <= kNamed) return fmt::format("{}", fmt::join(named, ", "));
  named.resize(kNamed);
  return fmt::format("{}, ...", fmt::join(named, ", "));
}

std::string to_string(const ExtentSum& sum, const std::vector<std::string>& names) {
  std::string text;
  for (const ExtentSum::Term& term : sum.terms) {
    if (!text.empty()) text += " + ";
    if (term.factor != 1) text += fmt::format("{} * ", term.factor);
    text += names[static_cast<size_t>(term.dimension)];
  }
  if (text.empty()) return std::to_string(sum.plus);
  if (sum.plus > 0) text += fmt::format(" + {}", sum.plus);
  if (sum.plus < 0) text += fmt::format(" - {}", -sum.plus);
  return text;
}

}  // namespace korch
