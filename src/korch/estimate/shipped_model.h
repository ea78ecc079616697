// The model of costs that is part of the program: trained on networks and machines that docs/results/costs.md
// names.
#pragma once

#include <string_view>

namespace korch {

// Of tree_model.h.
std::string_view shipped_model_text();

}  // namespace korch
