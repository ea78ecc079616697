// Families of kernels in words, for people. Knows nothing of how they are made.
#pragma once

#include <string>
#include <vector>

namespace korch {

struct FamilyWords {
  std::string name;     // Implementation::family
  std::string what;     // its kernels do
  std::string numbers;  // what to_string(Schedule) lists; empty: nothing
};

// One per family that kernels have (implementation.cpp).
const std::vector<FamilyWords>& family_words();

}  // namespace korch
