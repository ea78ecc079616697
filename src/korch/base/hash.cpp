#include "korch/base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace korch {

std::string Hash::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

Hash hash_bytes(const void* data, size_t size_bytes) {
  const XXH128_hash_t h = XXH3_128bits(data, size_bytes);
  return {h.high64, h.low64};
}

Hash hash_text(std::string_view text) {
  return hash_bytes(text.data(), text.size());
}

}  // namespace korch
