// Target: what the code is generated for. ISA levels are the x86-64 psABI's v3 (AVX2 + FMA) and v4 (AVX-512),
// and v4 with VNNI, whose instructions multiply bytes and add up four products at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace korch {

// Of every x86-64 core; generated code aligns its scratch to it and asks for it when it prefetches.
constexpr int64_t kCacheLineBytes = 64;
constexpr int64_t kCacheLineFloats = kCacheLineBytes / 4;  // float32 elements

// Each level has what those before it have.
enum class Isa { portable, x86_64_v3, x86_64_v4, x86_64_v4_vnni };
struct IsaRow {
  Isa isa;
  const char* name;  // in commands and executables
  const char* has;   // for people
  int vector_bytes, vector_registers;
};
// The one list of targets: by Isa. Help, completion, messages and files read it.
constexpr IsaRow kIsas[] = {
    {Isa::portable, "x86-64", "neither AVX2 nor AVX-512", 16, 16},
    {Isa::x86_64_v3, "x86-64-v3", "AVX2", 32, 16},
    {Isa::x86_64_v4, "x86-64-v4", "AVX-512", 64, 32},
    {Isa::x86_64_v4_vnni, "x86-64-v4-vnni", "AVX-512 with VNNI", 64, 32},
};
constexpr const IsaRow& row(Isa isa) {
  return kIsas[static_cast<size_t>(isa)];
}
constexpr const char* name(Isa isa) {
  return row(isa).name;
}
// What detect_target takes: "native", and the levels beyond x86-64.
std::vector<std::string> target_names();
// The same in words, with what each level has.
std::string targets_text();

struct Target {
  Isa isa = Isa::portable;
  int threads = 1;       // workers that run a step
  std::string cpu_name;  // as the system names it; part of cost keys
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 32 << 20;  // per core, per core, shared
  bool library_calls = true;  // false: generated kernels only (--self-contained)
  bool gpu = false;           // slices are thread blocks, `threads` of which run at a time

  int vector_bytes() const { return row(isa).vector_bytes; }
  int vector_lanes() const { return vector_bytes() / 4; }  // of float32
  int vector_registers() const { return row(isa).vector_registers; }
  // Has an instruction that adds four products of bytes to an int32.
  bool multiplies_bytes() const { return isa >= Isa::x86_64_v4_vnni && !gpu; }
};

// What this machine is; `threads` 0 means all the cores this process may run on. Error{usage} when `name` is
// not one of target_names().
Target detect_target(const std::string& name, int threads);
bool runs_here(Isa isa);

// The size of the data or unified cache of a level that `folder` describes as Linux does
// (/sys/devices/system/cpu/cpu0/cache: index*/level, type, size); 0 when it does not say.
int64_t cache_bytes(const std::string& folder, int level);

// Speeds of all threads together: the best ever observed on this machine (profile/peaks.h), which make lower
// bounds on latency and so must never be too low, or nominal ones.
struct Peaks {
  double flops_per_us = 0;     // float32; a multiply-add counts 2
  double l1_bytes_per_us = 0;  // read + write, of what lies in the first-level caches
  double l2_bytes_per_us = 0;
  double l3_bytes_per_us = 0;
  double memory_bytes_per_us = 0;  // 0: not known
  double launch_us = 0;            // an empty step, best case
};

// What cores of this instruction set do per cycle by their manuals, times a clock that is no core's in
// particular: speeds to plan by where the target cannot be measured. No bounds follow from them.
Peaks nominal_peaks(const Target& target);

}  // namespace korch
