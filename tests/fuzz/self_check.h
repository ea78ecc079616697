// The self-check on random graphs: does it condemn what is right, or pass what is wrong?
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace korch::fuzz {

struct SelfCheckOptions {
  uint64_t first_seed = 1;
  int64_t graphs = 100;
  double minutes = 1;          // no new graphs after that
  bool stop_at_first = false;  // executable that either of the two condemns
};

struct SelfCheckResult {
  int64_t graphs = 0, undefined = 0, executables = 0, refused = 0;
  int64_t condemned = 0;  // by both: a kernel is wrong
  int64_t alarms = 0;     // by the self-check alone
  int64_t missed = 0;     // by the oracle alone
};

// Each graph by three strategies, through `korch compile --no-measure` and `korch verify`; the oracle judges
// the same outputs.
SelfCheckResult try_self_check(const SelfCheckOptions& options,
                               const std::function<void(const std::string&)>& print);

}  // namespace korch::fuzz
