#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include "korch/base/error.h"
#include "korch/base/usable_cpus.h"
#include "korch/device/device.h"

namespace korch {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, model = "unknown", family, stepping;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (line.empty()) break;  // the first processor is enough
      continue;
    }
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (line.rfind("model name", 0) == 0)
      model = value;
    else if (line.rfind("model", 0) == 0)
      family += "." + value;
    else if (line.rfind("cpu family", 0) == 0)
      family = value + family;
    else if (line.rfind("stepping", 0) == 0)
      stepping = value;
  }
  return model + " " + family + "." + stepping;
}

// What the kernel says of the caches, else what the C library computes (which takes all of an AMD machine's
// L3 slices for one). Zero or negative answers (containers, virtual machines) keep the default.
void set_cache(int64_t* bytes, int level, int name) {
  const int64_t here = cache_bytes("/sys/devices/system/cpu/cpu0/cache", level);
  const int64_t value = here > 0 ? here : ::sysconf(name);
  if (value > 0) *bytes = value;
}

// The system gives a process the registers of AMX when it asks for them, once for all its threads.
bool may_use_matrix_tiles() {
#ifdef __linux__
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

int64_t cache_bytes(const std::string& folder, int level) {
  for (int index = 0;; ++index) {
    const std::string cache = folder + "/index" + std::to_string(index) + "/";
    const std::string found = first_word(cache + "level");
    if (found.empty()) return 0;
    if (found != std::to_string(level) || first_word(cache + "type") == "Instruction") continue;
    const std::string size = first_word(cache + "size");
    int64_t count = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), count);
    const std::string unit(end, size.data() + size.size());
    const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : unit.empty() ? 0 : -1;
    return error == std::errc() && shift >= 0 && count > 0 && count < (int64_t{1} << 30) ? count << shift : 0;
  }
}

static_assert([] {
  for (size_t i = 0; i < std::size(kIsas); ++i)
    if (static_cast<size_t>(kIsas[i].isa) != i) return false;
  return true;
}());

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"native"};
  for (const IsaRow& known : kIsas)
    if (known.isa != Isa::portable) names.push_back(known.name);
  names.push_back("cuda");
  for (const GpuRow& known : kGpus) names.push_back(known.target);
  return names;
}

std::string targets_text() {
  std::string text = "native";
  for (const IsaRow& known : kIsas) {
    if (known.isa == Isa::portable) continue;
    text += std::string(", ") + known.name + " (" + known.has + ")";
  }
  text += ", cuda (the GPU of this machine)";
  for (const GpuRow& known : kGpus) {
    text += &known == std::end(kGpus) - 1 ? " or " : ", ";
    text += known.target;
  }
  return text;
}

std::string code_text(const Device& device) {
  const std::optional<Isa> isa = isa_named(device.code);
  if (!isa) return device.code;
  if (isa == Isa::portable) return std::string(row(*isa).has) + ": slow, portable code";
  return std::string(row(*isa).has) + " (" + device.code + ")";
}

bool runs_here(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::portable:
      return true;
    case Isa::x86_64_v3:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2");
    case Isa::x86_64_v4:
      return runs_here(Isa::x86_64_v3) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case Isa::x86_64_v4_vnni:
      return runs_here(Isa::x86_64_v4) && __builtin_cpu_supports("avx512vnni");
    case Isa::x86_64_v4_bf16:
      return runs_here(Isa::x86_64_v4_vnni) && __builtin_cpu_supports("avx512bf16");
    case Isa::x86_64_v4_amx:
      return runs_here(Isa::x86_64_v4_bf16) && __builtin_cpu_supports("amx-tile") &&
             __builtin_cpu_supports("amx-bf16") && __builtin_cpu_supports("amx-int8") &&
             may_use_matrix_tiles();
  }
  return false;
}

bool runs_here(const Device& device) {
  const std::optional<Isa> isa = device.kind == "cpu" ? isa_named(device.code) : std::nullopt;
  return isa && runs_here(*isa);
}

Device detect_device(const std::string& target, int workers) {
  if (std::optional<Device> gpu = gpu_named(target)) {
    if (workers != 0 && workers != gpu->workers)
      throw Error(ErrorKind::usage, fmt::format("{} has {} multiprocessors, which are its workers: --threads "
                                                "is for CPUs",
                                                target, gpu->workers));
    return *gpu;
  }
  std::optional<Isa> isa;
  for (const IsaRow& level : kIsas)
    if (target == "native" ? !level.multiplies_bfloat16 && runs_here(level.isa)
                           : level.isa != Isa::portable && target == level.name)
      isa = level.isa;
  if (!isa) throw Error(ErrorKind::usage, "unknown target '" + target + "': use " + targets_text());
  Device device = cpu_device(*isa, workers > 0 ? workers : std::min(usable_cpus(), kMostWorkers));
  device.name = cpu_name();
  set_cache(&device.memory[0].bytes, 1, _SC_LEVEL1_DCACHE_SIZE);
  set_cache(&device.memory[1].bytes, 2, _SC_LEVEL2_CACHE_SIZE);
  set_cache(&device.memory[2].bytes, 3, _SC_LEVEL3_CACHE_SIZE);
  return device;
}

}  // namespace korch
