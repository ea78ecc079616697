#include "warp_accesses.h"

#include <algorithm>

namespace korch::testing {
namespace {

constexpr uintptr_t kSectorBytes = 32, kWordBytes = 4, kBanks = 32;

void sort_unique(std::vector<uintptr_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// Blocks of `unit` bytes that the access touches.
void add_units(std::vector<uintptr_t>& units, uintptr_t address, size_t bytes, uintptr_t unit) {
  for (uintptr_t at = address / unit; at <= (address + bytes - 1) / unit; ++at) units.push_back(at);
}

}  // namespace

void WarpAccesses::add(const void* site, unsigned lane, uintptr_t address, size_t bytes, bool shared) {
  Site& at = sites_[site];
  const uint32_t number = at.done[lane]++;
  if (number >= at.accesses.size()) at.accesses.push_back({bytes, shared, {}});
  at.accesses[number].lanes.emplace_back(lane, address);
}

void WarpAccesses::retire() {
  for (auto& [site, at] : sites_) {
    for (const Access& access : at.accesses)
      if (access.shared)
        count_shared(access);
      else
        count_global(access);
    at.accesses.clear();
    at.done.fill(0);
  }
}

void WarpAccesses::count_global(const Access& access) {
  std::vector<uintptr_t> sectors, bytes;
  for (const auto& [lane, address] : access.lanes) {
    add_units(sectors, address, access.bytes, kSectorBytes);
    add_units(bytes, address, access.bytes, 1);
  }
  sort_unique(sectors);
  sort_unique(bytes);
  ++counts_.global_accesses;
  counts_.global_bytes += static_cast<int64_t>(bytes.size());
  counts_.sectors += static_cast<int64_t>(sectors.size());
  counts_.least_sectors += static_cast<int64_t>((bytes.size() + kSectorBytes - 1) / kSectorBytes);
}

void WarpAccesses::count_shared(const Access& access) {
  ++counts_.shared_accesses;
  const size_t together = 32 / std::max<size_t>(1, access.bytes / kWordBytes);
  for (unsigned first = 0; first < 32; first += static_cast<unsigned>(together)) {
    std::vector<uintptr_t> words;
    for (const auto& [lane, address] : access.lanes)
      if (lane >= first && lane < first + together) add_units(words, address, access.bytes, kWordBytes);
    if (words.empty()) continue;
    sort_unique(words);
    std::array<int64_t, kBanks> of_bank{};
    for (uintptr_t word : words) ++of_bank[word % kBanks];
    counts_.wavefronts += *std::max_element(of_bank.begin(), of_bank.end());
    counts_.least_wavefronts += static_cast<int64_t>((words.size() + kBanks - 1) / kBanks);
  }
}

}  // namespace korch::testing
