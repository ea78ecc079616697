#include "korch/base/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace korch {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The number of bytes behind `key` in a file of "Key:   123 kB" lines; 0 without it.
uint64_t field_bytes(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.rfind(key + ":", 0) == 0) return std::stoull(line.substr(key.size() + 1)) << 10;
  return 0;
}

// What the control group grants, as far as this process sees its own group at the root; unlimited elsewhere.
uint64_t group_limit_bytes() {
  uint64_t limit = kUnlimited;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    uint64_t bytes = 0;
    if (std::ifstream(path) >> bytes) limit = std::min(limit, bytes);  // "max" is no number
  }
  return limit;
}

}  // namespace

void limit_memory_to_available() {
  const uint64_t available =
      field_bytes("/proc/meminfo", "MemAvailable") + field_bytes("/proc/meminfo", "SwapFree");
  const uint64_t used = field_bytes("/proc/self/status", "VmData");
  const uint64_t limit = std::min(available, group_limit_bytes());
  rlimit now;
  // A sanitizer reserves more address space than there is memory: then this limit cannot be used.
  if (available == 0 || used >= limit || ::getrlimit(RLIMIT_DATA, &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(now.rlim_cur, limit);
  ::setrlimit(RLIMIT_DATA, &now);
}

}  // namespace korch
