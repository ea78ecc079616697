#include "memory_samples.h"

#include <algorithm>

namespace korch::python {
namespace {

constexpr size_t kPerRegion = 8;

// Steps are odd, so that samples of elements of 2, 4 or 8 bytes meet their low bytes as well as the high
// ones, which are alike in most weights.
size_t step_of(size_t size_bytes) {
  return std::max<size_t>(size_bytes / kPerRegion, 1) | 1;
}

}  // namespace

MemorySamples::MemorySamples(const std::vector<std::pair<uintptr_t, size_t>>& regions) {
  for (size_t i = 0; i < regions.size(); ++i) {
    const auto* data = reinterpret_cast<const uint8_t*>(regions[i].first);
    for (size_t at = 0; at < regions[i].second; at += step_of(regions[i].second))
      samples_.push_back({data + at, data[at], static_cast<uint32_t>(i)});
  }
}

std::vector<size_t> MemorySamples::changed() const {
  std::vector<size_t> result;
  for (const Sample& sample : samples_)
    if (*sample.at != sample.was && (result.empty() || result.back() != sample.region))
      result.push_back(sample.region);
  return result;
}

}  // namespace korch::python
