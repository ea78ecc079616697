#include "memory_samples.h"

#include <algorithm>
#include <cstring>

namespace korch::python {
namespace {

// Noticing takes one cache miss for each, and 32 of them meet a change of a tenth of the elements in 29 of 30
// cases.
constexpr size_t kPerRegion = 32;

uint64_t read(const uint8_t* at, size_t size_bytes) {
  uint64_t word = 0;
  std::memcpy(&word, at, size_bytes);
  return word;
}

}  // namespace

MemorySamples::MemorySamples(const std::vector<std::pair<uintptr_t, size_t>>& regions) {
  for (size_t i = 0; i < regions.size(); ++i) {
    const auto [address, size_bytes] = regions[i];
    const auto* data = reinterpret_cast<const uint8_t*>(address);
    const size_t word_bytes = std::min(size_bytes, sizeof(uint64_t));
    const size_t count = std::min(kPerRegion, (size_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
    for (size_t k = 0; k < count; ++k) {
      // From the first word to the last.
      const uint8_t* at = data + (count == 1 ? 0 : (size_bytes - word_bytes) * k / (count - 1));
      samples_.push_back(
          {at, read(at, word_bytes), static_cast<uint32_t>(word_bytes), static_cast<uint32_t>(i)});
    }
  }
}

std::vector<size_t> MemorySamples::changed() const {
  constexpr size_t kAhead = 32;  // misses under way at a time
  std::vector<size_t> result;
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (i + kAhead < samples_.size()) __builtin_prefetch(samples_[i + kAhead].at);
    const Sample& sample = samples_[i];
    if (read(sample.at, sample.size_bytes) != sample.was &&
        (result.empty() || result.back() != sample.region))
      result.push_back(sample.region);
  }
  return result;
}

}  // namespace korch::python
