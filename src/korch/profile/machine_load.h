// The load of the processors while something was measured: a busy machine makes kernels look slow and peaks
// low. The arithmetic is apart from the code that reads the system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/base/stopwatch.h"

namespace korch {

// Seconds since some beginning.
struct LoadSnapshot {
  double at_s = 0;      // wall time
  double busy_s = 0;    // of the processors that this process may use, whoever used them
  double stolen_s = 0;  // in which the hypervisor ran others there
  double own_s = 0;     // of these, used by this process and its children
};

struct MachineLoad {
  int cpus = 1;            // that this process may use
  double others_cpus = 0;  // so many of them worked for other programs, on average
  double stolen_cpus = 0;  // and so many for other guests
  double waited = 0;       // share of the time in which threads that measured waited for a processor
};

// The sums over `cpus` of /proc/stat's text, in clock ticks of `tick_s`; all of them when `cpus` is empty.
// Nothing where the text does not say.
void add_cpu_times(std::string_view proc_stat, const std::vector<int>& cpus, double tick_s,
                   LoadSnapshot& snapshot);

// "" on a calm machine; else the disturbance, as the end of a sentence: "other programs used 1.4 of 2
// processors".
std::string disturbance(const MachineLoad& load);

MachineLoad load_between(const LoadSnapshot& begin, const LoadSnapshot& end, int cpus);

// Since it was made.
class LoadWatch {
 public:
  LoadWatch();
  MachineLoad load() const;

 private:
  LoadSnapshot begin_;
};

// The disturbance of the last second or so, over several short measurements that are each too short to judge.
class RecentLoad {
 public:
  // "" also in the first half second.
  const std::string& disturbance();

 private:
  Stopwatch since_;
  LoadWatch watch_;
  std::string disturbance_;
};

}  // namespace korch
