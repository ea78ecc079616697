// Content hashes: 128 bits of XXH3, stable across runs and machines. Never std::hash, whose value may differ.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace korch {

struct Hash {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash&) const = default;
  std::string hex() const;  // 32 lower-case digits
};

// Of what hex() gives; nothing for other texts.
std::optional<Hash> hash_from_hex(std::string_view hex);

Hash hash_bytes(const void* data, size_t size_bytes);
Hash hash_text(std::string_view text);

struct HashHasher {
  size_t operator()(const Hash& h) const { return h.low; }
};

}  // namespace korch
