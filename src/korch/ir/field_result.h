// What random tests over a finite field tell.
#pragma once

#include <string>

namespace korch {

// The result of random tests over a finite field. Arithmetic is exact there, so equal functions always agree.
// But some functions have no counterpart in the field, so functions that differ there may still be equal.
struct FieldResult {
  enum class Says { same, different, nothing } says = Says::nothing;
  std::string why;      // different: the output and element; nothing: what has no counterpart in a field
  std::string modulus;  // in words
  int tests = 0;        // that were run
  // Probability that graphs which differ in the field pass all tests, at most; 1: no bound is known.
  double error_bound = 1;
};

}  // namespace korch
