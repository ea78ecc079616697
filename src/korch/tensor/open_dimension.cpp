#include "korch/tensor/open_dimension.h"

#include <fmt/format.h>

namespace korch {

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
