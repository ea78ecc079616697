// What the accesses of a warp move at once: sectors of global memory and wavefronts of shared memory, against
// the least that its bytes need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace korch::testing {

// Global memory moves in sectors of 32 bytes: the least is that of the different bytes. Shared memory gives
// one word of 4 bytes per bank and wavefront; of accesses of 8 and 16 bytes, half and a quarter of a warp at
// a time.
struct AccessCounts {
  int64_t global_accesses = 0, global_bytes = 0, sectors = 0, least_sectors = 0;
  int64_t shared_accesses = 0, wavefronts = 0, least_wavefronts = 0;
};

// The lanes of a warp run one after the other: the nth access of each at one place of the code is one of the
// warp.
class WarpAccesses {
 public:
  void add(const void* site, unsigned lane, uintptr_t address, size_t bytes, bool shared);
  // Counts what was added, of one warp.
  void retire();
  const AccessCounts& counts() const { return counts_; }

 private:
  struct Access {
    size_t bytes = 0;
    bool shared = false;
    std::vector<std::pair<unsigned, uintptr_t>> lanes;  // and addresses
  };
  struct Site {
    std::array<uint32_t, 32> done{};  // accesses per lane
    std::vector<Access> accesses;
  };
  void count_global(const Access& access);
  void count_shared(const Access& access);

  std::map<const void*, Site> sites_;
  AccessCounts counts_;
};

}  // namespace korch::testing
