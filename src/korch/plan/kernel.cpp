#include "korch/plan/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace korch {

int64_t block_slices(const KernelPhase& phase, int threads) {
  // Where everything waits for all of a phase, half a task is lost; each costs a fraction of a microsecond.
  constexpr int64_t kTasksPerWorker = 24;
  const int64_t chunks = (phase.grid + phase.grain - 1) / phase.grain, tasks = kTasksPerWorker * threads;
  return std::max<int64_t>(1, (chunks + tasks - 1) / tasks) * phase.grain;
}

double occupancy(const Kernel& kernel, int threads) {
  double slices = 0, used = 0;
  for (const KernelPhase& phase : kernel.phases) {
    const int64_t chunks = (phase.grid + phase.grain - 1) / phase.grain;
    const double share = static_cast<double>(std::min<int64_t>(threads, chunks)) / threads;
    slices += static_cast<double>(phase.slices());
    used += share * static_cast<double>(phase.slices());
  }
  return slices > 0 ? used / slices : 1;
}

bool has_rounds(const Kernel& kernel) {
  return std::any_of(kernel.phases.begin(), kernel.phases.end(),
                     [](const KernelPhase& phase) { return phase.rounds > 1; });
}

Hash Kernel::key() const {
  std::string text = source;
  text += fmt::format("\n|{}|{}|{}|{}|", call.library, call.function, fmt::join(call.params, ","),
                      fmt::join(call.floats, ","));
  for (const KernelPhase& phase : phases)
    text += fmt::format("{}:{}:{}:{};", phase.symbol, phase.grid, phase.grain, phase.rounds);
  for (const Packing& packing : constant_packing)
    text += fmt::format("{}({});", packing.kind, fmt::join(packing.params, ","));
  text += fmt::format("|{}|{}", fmt::join(temporary_bytes, ","), scratch_bytes);
  return hash_text(text);
}

}  // namespace korch
