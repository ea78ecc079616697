// Target: what the code is generated for. ISA levels are the x86-64 psABI's v3 (AVX2 + FMA) and v4 (AVX-512),
// and v4 with VNNI, whose instructions multiply bytes and add up four products at a time.
#pragma once

#include <cstdint>
#include <string>

namespace korch {

// Of every x86-64 core; generated code aligns its scratch to it and asks for it when it prefetches.
constexpr int64_t kCacheLineBytes = 64;
constexpr int64_t kCacheLineFloats = kCacheLineBytes / 4;  // float32 elements

// Each level has what those before it have.
enum class Isa { portable, x86_64_v3, x86_64_v4, x86_64_v4_vnni };
constexpr Isa kIsas[] = {Isa::portable, Isa::x86_64_v3, Isa::x86_64_v4, Isa::x86_64_v4_vnni};
const char* name(Isa isa);

struct Target {
  Isa isa = Isa::portable;
  int threads = 1;       // workers that run a step
  std::string cpu_name;  // as the system names it; part of cost keys
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 32 << 20;  // per core, per core, shared
  bool library_calls = true;  // false: generated kernels only (--self-contained)
  bool gpu = false;           // slices are thread blocks, `threads` of which run at a time

  int vector_bytes() const;                                // 64, 32 or 16
  int vector_lanes() const { return vector_bytes() / 4; }  // of float32
  int vector_registers() const;                            // 32 or 16
  // Has an instruction that adds four products of bytes to an int32.
  bool multiplies_bytes() const { return isa >= Isa::x86_64_v4_vnni && !gpu; }
};

// What this machine is; `threads` 0 means all the cores this process may run on. Error{usage} when `name` is
// not "native" or a level beyond x86-64.
Target detect_target(const std::string& name, int threads);
bool runs_here(Isa isa);

// The size of the data or unified cache of a level that `folder` describes as Linux does
// (/sys/devices/system/cpu/cpu0/cache: index*/level, type, size); 0 when it does not say.
int64_t cache_bytes(const std::string& folder, int level);

// Best ever observed speeds of this machine, from a microbenchmark of about ten seconds (profile/peaks.h);
// they make lower bounds on latency, so they must never be too low.
struct Peaks {
  double flops_per_us = 0;     // float32 multiply-adds count 2, all threads
  double l2_bytes_per_us = 0;  // read + write, all threads
  double l3_bytes_per_us = 0;
  double dram_bytes_per_us = 0;
  double launch_us = 0;  // an empty step, best case
};

}  // namespace korch
