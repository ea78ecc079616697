#include "korch/search/peak_bounds.h"

#include <algorithm>

namespace korch {
namespace {

// A bound uses the speed one level above the one that the bytes fit. What fits the L2 caches may come from
// L1, as the step before left it there, what fits L3 from L2, and everything else from L3: no bound uses
// memory's own speed.
double memory_bound_us(double bytes, const Target& target, const Peaks& peaks) {
  const double l2 = static_cast<double>(target.l2_bytes) * target.threads;
  const double l3 = std::max(l2, static_cast<double>(target.l3_bytes));
  double us = std::min(bytes, l2) / peaks.l1_bytes_per_us;
  if (bytes > l2) us += (std::min(bytes, l3) - l2) / peaks.l2_bytes_per_us;
  if (bytes > l3) us += (bytes - l3) / peaks.l3_bytes_per_us;
  return us;
}

// Until this kernel's bound is its cost.
void raise(Peaks& peaks, const ColumnInfo& info, double cost_us, const Target& target) {
  peaks.launch_us = std::min(peaks.launch_us, cost_us / 2);
  const double left_us = cost_us - peaks.launch_us;
  peaks.flops_per_us = std::max(peaks.flops_per_us, info.flops / left_us);
  const double factor = std::max(1.0, memory_bound_us(info.bytes, target, peaks) / left_us);
  peaks.l1_bytes_per_us *= factor;
  peaks.l2_bytes_per_us *= factor;
  peaks.l3_bytes_per_us *= factor;
}

}  // namespace

double lower_bound_us(double flops, double bytes, const Target& target, const Peaks& peaks) {
  return peaks.launch_us + std::max(memory_bound_us(bytes, target, peaks), flops / peaks.flops_per_us);
}

BeatenPeaks beaten_peaks(const Columns& columns, const Target& target, const Peaks& peaks) {
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
    if (!beaten.reached) beaten.reached = peaks;
    raise(*beaten.reached, info, column.cost_us, target);
  }
  return beaten;
}

}  // namespace korch
