#include "korch/search/peak_bounds.h"

#include <algorithm>

namespace korch {
namespace {

// A bound uses the speed one level above the one that the bytes fit. What fits the second level may come from
// the first, as the step before left it there, what fits the third from the second, and so on: no bound uses
// the last level's own speed.
double memory_bound_us(double bytes, const Device& device) {
  double us = 0, reached = 0;  // bytes that a level above holds
  for (size_t level = 1; level < device.memory.size(); ++level) {
    const MemoryLevel& at = device.memory[level];
    const double all = static_cast<double>(at.bytes) * (at.is_shared ? 1 : device.workers);
    const double here = at.bytes == 0 ? bytes : std::min(bytes, std::max(reached, all));
    us += (here - reached) / device.memory[level - 1].bytes_per_us;
    reached = here;
    if (reached >= bytes) break;
  }
  return us;
}

// Until this kernel's bound is its cost.
void raise(Device& device, const ColumnInfo& info, double cost_us) {
  device.launch_us = std::min(device.launch_us, cost_us / 2);
  const double left_us = cost_us - device.launch_us;
  device.flops_per_us = std::max(device.flops_per_us, info.flops / left_us);
  const double factor = std::max(1.0, memory_bound_us(info.bytes, device) / left_us);
  for (size_t level = 0; level + 1 < device.memory.size(); ++level)
    device.memory[level].bytes_per_us *= factor;
}

}  // namespace

double lower_bound_us(double flops, double bytes, const Device& target) {
  return target.launch_us + std::max(memory_bound_us(bytes, target), flops / target.flops_per_us);
}

BeatenPeaks beaten_peaks(const Columns& columns, const Device& target) {
  // Peaks have a margin above the best of a microbenchmark: no kernel is so much faster.
  constexpr double kMostBelieved = 2;
  BeatenPeaks beaten;
  for (size_t id = 0; id < columns.infos.size(); ++id) {
    const Column& column = columns.problem.columns[id];
    const ColumnInfo& info = columns.infos[id];
    if (!column.measured || !(column.cost_us > 0) || column.cost_us >= info.bound_us) continue;
    if (kMostBelieved * column.cost_us < info.bound_us) {
      beaten.not_believed.push_back(static_cast<int>(id));
      continue;
    }
    if (!beaten.reached) beaten.reached = target;
    raise(*beaten.reached, info, column.cost_us);
  }
  return beaten;
}

}  // namespace korch
