#include "korch/variants/choice.h"

#include <algorithm>

#include "korch/runtime/variant_cost.h"

namespace korch::variants {

std::vector<double> predicted_us(const KernelVariants& variants, const std::vector<int64_t>& extents) {
  std::vector<double> result;
  for (const KernelVariant& variant : variants.list)
    result.push_back(rt::variant_us(cost_of(variant), extents.data(), static_cast<uint32_t>(extents.size())));
  return result;
}

size_t chosen_variant(const KernelVariants& variants, const std::vector<int64_t>& extents) {
  std::vector<double> us = predicted_us(variants, extents);
  us[0] = rt::variant_rank(us[0], 0);
  return static_cast<size_t>(std::min_element(us.begin(), us.end()) - us.begin());
}

}  // namespace korch::variants
