#include "korch/base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

namespace korch {

std::string Hash::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

std::optional<Hash> hash_from_hex(std::string_view hex) {
  constexpr size_t kDigits = 16;  // of each half
  if (hex.size() != 2 * kDigits) return std::nullopt;
  Hash hash;
  for (const auto& [half, at] : {std::pair{&hash.high, size_t{0}}, {&hash.low, kDigits}})
    for (const char digit : hex.substr(at, kDigits)) {
      const bool is_letter = digit >= 'a' && digit <= 'f';
      if (!is_letter && (digit < '0' || digit > '9')) return std::nullopt;
      *half = *half << 4 | static_cast<uint64_t>(is_letter ? digit - 'a' + 10 : digit - '0');
    }
  return hash;
}

Hash hash_bytes(const void* data, size_t size_bytes) {
  const XXH128_hash_t h = XXH3_128bits(data, size_bytes);
  return {h.high64, h.low64};
}

Hash hash_text(std::string_view text) {
  return hash_bytes(text.data(), text.size());
}

}  // namespace korch
