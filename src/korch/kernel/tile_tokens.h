// The words and numbers of a tile graph's text.
#pragma once

#include <cstdint>
#include <string>

#include "korch/base/text_cursor.h"
#include "korch/ir/scalar.h"
#include "korch/tensor/dtype.h"

namespace korch::tile {

// The largest number in a file: beyond it sizes in bytes and sums of offsets could overflow.
constexpr int64_t kMaxNumber = int64_t{1} << 40;

class TileTokens : protected TextCursor {
 protected:
  explicit TileTokens(std::string_view text) : TextCursor(text) {}

  static bool is_word(char c);
  bool accept_word(std::string_view token);
  std::string word();
  std::string peek();  // the word that comes next, which stays; empty when none does
  int64_t integer();
  int64_t bounded();   // at most kMaxNumber, of either sign
  int64_t natural();   // that, and not negative
  int64_t positive();  // that, and not 0
  DType dtype();
  ScalarFn function();
  ScalarFn combination();  // add, mul, min or max
};

}  // namespace korch::tile
