// How many processors this process may use: those of its affinity, and no more than its control groups' quota
// pays for (a container with `--cpus 2` on a machine of 64). Needs nothing but libc: the runtime of an
// executable asks too.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace korch {

// That a run may have: more than any machine has cores to gain by.
constexpr int kMostWorkers = 1024;

// The beginning of a small file, as text; "" where it cannot be read.
template <size_t N>
void read_text(const char* folder, const char* name, char (&text)[N]) {
  text[0] = 0;
  char path[1024];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) return;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t got = ::read(file, text, N - 1);
  text[got > 0 ? got : 0] = 0;
  ::close(file);
}

// Processors that a group's quota pays for, rounded up; 0 where it has none. Version 2 of control groups has
// both numbers in cpu.max ("max 100000" or "200000 100000"), version 1 a file for each, with -1 for no quota.
inline int quota_of_group(const char* folder) {
  char text[64];
  long long quota = 0, period = 0;
  read_text(folder, "cpu.max", text);
  if (sscanf(text, "%lld %lld", &quota, &period) != 2) {
    read_text(folder, "cpu.cfs_quota_us", text);
    quota = atoll(text);
    read_text(folder, "cpu.cfs_period_us", text);
    period = atoll(text);
  }
  if (quota <= 0 || period <= 0) return 0;
  const long long cpus = (quota - 1) / period + 1;
  return cpus < 1 << 16 ? static_cast<int>(cpus) : 0;
}

// The smallest quota of a group and those around it; a group that is not seen from within a container stands
// at the mount's root.
inline int quota_of_groups(const char* mount, const char* group) {
  char folder[512];
  const int length = snprintf(folder, sizeof folder, "%s%s", mount, group);
  if (length < 0 || static_cast<size_t>(length) >= sizeof folder) return 0;
  int least = 0;
  for (const size_t root = strlen(mount);;) {
    const int quota = quota_of_group(folder);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    char* last = strrchr(folder, '/');
    if (last == nullptr || last < folder + root) return least;
    *last = 0;
  }
}

// What stands in "self/cgroup" below `proc`: "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1. 0
// where there is no quota.
inline int quota_of_process(const char* proc, const char* mount) {
  char text[4096];
  read_text(proc, "self/cgroup", text);
  int least = 0;
  char* next_line = nullptr;
  for (char* line = strtok_r(text, "\n", &next_line); line != nullptr;
       line = strtok_r(nullptr, "\n", &next_line)) {
    char* const controllers = strchr(line, ':');
    char* const group = controllers == nullptr ? nullptr : strchr(controllers + 1, ':');
    if (group == nullptr) continue;
    *group = 0;
    const char* const names = controllers + 1;
    const bool speaks_of_cpu =
        strcmp(names, "cpu") == 0 || strncmp(names, "cpu,", 4) == 0 || strstr(names, ",cpu,") != nullptr;
    if (*names != 0 && !speaks_of_cpu) continue;
    char folder[512];
    const int length = snprintf(folder, sizeof folder, "%s%s%s", mount, *names != 0 ? "/" : "", names);
    if (length < 0 || static_cast<size_t>(length) >= sizeof folder) continue;
    const int quota = quota_of_groups(folder, group + 1);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

inline int usable_cpus() {
  cpu_set_t set;
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0
                          ? CPU_COUNT(&set)
                          : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int quota = quota_of_process("/proc", "/sys/fs/cgroup");
  const int cpus = quota > 0 && quota < allowed ? quota : allowed;
  return cpus > 1 ? cpus : 1;
}

}  // namespace korch
