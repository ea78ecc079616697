// Memory of others that should not change: noticing when it does, without reading all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace korch::python {

// A few words of each of some regions (address, size in bytes), spread evenly from the first to the last. Who
// rewrites a region as a whole is noticed; who changes few of its elements may not be. The caller keeps the
// memory alive.
class MemorySamples {
 public:
  explicit MemorySamples(const std::vector<std::pair<uintptr_t, size_t>>& regions);

  // The numbers of the regions whose samples differ from what they were, ascending.
  std::vector<size_t> changed() const;

 private:
  struct Sample {
    const uint8_t* at;
    uint64_t was;
    uint32_t size_bytes;  // 8, or less where the region is smaller
    uint32_t region;
  };
  std::vector<Sample> samples_;  // by region
};

}  // namespace korch::python
