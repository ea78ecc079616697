#include "korch/kernel/tile_tokens.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>

namespace korch::tile {

bool TileTokens::is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool TileTokens::accept_word(std::string_view token) {
  const size_t before = at_;
  if (accept(token) && (at_ == text_.size() || !is_word(text_[at_]))) return true;
  at_ = before;
  return false;
}

std::string TileTokens::word() {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  if (begin == at_) fail("expected a word");
  return std::string(text_.substr(begin, at_ - begin));
}

int64_t TileTokens::integer() {
  skip_space();
  const bool negative = accept("-");
  const std::string digits = (negative ? "-" : "") + word();
  char* end = nullptr;
  errno = 0;
  const int64_t value = std::strtoll(digits.c_str(), &end, 10);
  if (*end != '\0' || errno != 0) fail(fmt::format("'{}' is not an integer", digits));
  return value;
}

int64_t TileTokens::bounded() {
  const int64_t value = integer();
  if (value < -kMaxNumber || value > kMaxNumber) fail(fmt::format("{} is too large", value));
  return value;
}

int64_t TileTokens::natural() {
  const int64_t value = bounded();
  if (value < 0) fail(fmt::format("{} is negative", value));
  return value;
}

int64_t TileTokens::positive() {
  const int64_t value = natural();
  if (value == 0) fail("0 is not positive");
  return value;
}

DType TileTokens::dtype() {
  const std::string text = word();
  DType type;
  if (!parse_dtype(text, &type)) fail(fmt::format("unknown element type '{}'", text));
  return type;
}

ScalarFn TileTokens::function() {
  const std::string text = word();
  for (int fn = static_cast<int>(ScalarFn::add); fn <= static_cast<int>(ScalarFn::cast); ++fn)
    if (text == korch::name(static_cast<ScalarFn>(fn))) return static_cast<ScalarFn>(fn);
  fail(fmt::format("unknown function '{}'", text));
}

ScalarFn TileTokens::combination() {
  const ScalarFn fn = function();
  if (fn != ScalarFn::add && fn != ScalarFn::mul && fn != ScalarFn::min && fn != ScalarFn::max)
    fail(fmt::format("nothing is combined by {}", korch::name(fn)));
  return fn;
}

std::string TileTokens::peek() {
  skip_space();
  const size_t before = at_;
  std::string text;
  while (at_ < text_.size() && is_word(text_[at_])) text += text_[at_++];
  at_ = before;
  return text;
}

}  // namespace korch::tile
