#include "korch/profile/machine_load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace korch {
namespace {

// From so much on a measurement of milliseconds is disturbed more often than not. What a desktop does by
// itself stays below.
constexpr double kOthersShare = 0.2, kStolenShare = 0.05, kWaitedShare = 0.05;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double used_s(int who) {
  rusage usage{};
  if (::getrusage(who, &usage) != 0) return 0;
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

LoadSnapshot load_now() {
  LoadSnapshot now;
  now.at_s = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  now.own_s = used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN);
  std::ifstream file("/proc/stat");
  std::stringstream text;
  text << file.rdbuf();
  add_cpu_times(text.str(), allowed_cpus(), 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK))),
                now);
  return now;
}

}  // namespace

void add_cpu_times(std::string_view proc_stat, const std::vector<int>& cpus, double tick_s,
                   LoadSnapshot& snapshot) {
  std::istringstream lines{std::string(proc_stat)};
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 4 || line[3] < '0' || line[3] > '9') continue;  // the sum of all
    int cpu = 0;
    long long user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, stolen = 0;
    if (std::sscanf(line.c_str(), "cpu%d %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &user, &nice,
                    &system, &idle, &wait, &irq, &soft, &stolen) != 9)
      continue;
    if (!cpus.empty() && std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    snapshot.busy_s += tick_s * static_cast<double>(user + nice + system + irq + soft);
    snapshot.stolen_s += tick_s * static_cast<double>(stolen);
  }
}

std::string disturbance(const MachineLoad& load) {
  std::vector<std::string> found;
  if (load.others_cpus > kOthersShare * load.cpus)
    found.push_back(fmt::format("other programs used {:.1f} of {} processors", load.others_cpus, load.cpus));
  if (load.stolen_cpus > kStolenShare * load.cpus)
    found.push_back(
        fmt::format("other guests of this host took {:.1f} of {} processors", load.stolen_cpus, load.cpus));
  if (load.waited > kWaitedShare)
    found.push_back(
        fmt::format("threads that measured waited for a processor {:.0f} % of the time", 100 * load.waited));
  return fmt::format("{}", fmt::join(found, ", "));
}

MachineLoad load_between(const LoadSnapshot& begin, const LoadSnapshot& end, int cpus) {
  MachineLoad load{.cpus = std::max(1, cpus)};
  const double passed_s = end.at_s - begin.at_s;
  if (passed_s <= 0) return load;
  const double others_s = end.busy_s - begin.busy_s - (end.own_s - begin.own_s);
  load.others_cpus = std::clamp(others_s / passed_s, 0.0, static_cast<double>(load.cpus));
  load.stolen_cpus =
      std::clamp((end.stolen_s - begin.stolen_s) / passed_s, 0.0, static_cast<double>(load.cpus));
  return load;
}

LoadWatch::LoadWatch() : begin_(load_now()) {}

MachineLoad LoadWatch::load() const {
  return load_between(begin_, load_now(), static_cast<int>(allowed_cpus().size()));
}

const std::string& RecentLoad::disturbance() {
  constexpr double kLongEnough_s = 0.5;  // /proc/stat counts hundredths of a second
  if (since_.seconds() < kLongEnough_s) return disturbance_;
  disturbance_ = korch::disturbance(watch_.load());
  watch_ = LoadWatch();
  since_ = Stopwatch();
  return disturbance_;
}

}  // namespace korch
