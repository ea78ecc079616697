// Rows of the vector math library: C++ text with $F, $I and $M for the float, int32 and mask types of a
// width.
#pragma once

#include <vector>

namespace korch::tile {

struct MathFunction {
  const char* name;
  std::vector<const char*> needs;  // other functions it calls
  const char* text;
};

const std::vector<MathFunction>& math_functions();
// Replacements for 16 lanes of AVX-512, spelled for f32x16.
const std::vector<MathFunction>& avx512_math_functions();

}  // namespace korch::tile
