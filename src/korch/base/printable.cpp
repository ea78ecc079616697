#include "korch/base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace korch {
namespace {

// Bytes of the UTF-8 character that `text` begins with, 0 where it begins with none; its code point in
// `point`.
size_t utf8_length(std::string_view text, uint32_t& point) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t length = byte(0) < 0x80   ? 1
                        : byte(0) < 0xc2 ? 0
                        : byte(0) < 0xe0 ? 2
                        : byte(0) < 0xf0 ? 3
                        : byte(0) < 0xf5 ? 4
                                         : 0;
  if (length == 0 || length > text.size()) return 0;
  point = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kFirstOfLength[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return point < kFirstOfLength[length] || surrogate || point > 0x10ffff ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    uint32_t point = 0;
    const size_t length = utf8_length(text, point);
    const bool shown = length > 0 && point >= 0x20 && (point < 0x7f || point >= 0xa0);
    const size_t taken = length > 0 ? length : 1;
    for (char c : text.substr(0, taken)) {
      if (shown)
        result += c;
      else
        result += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace korch
