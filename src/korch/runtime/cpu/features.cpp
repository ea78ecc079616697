#include <cpuid.h>

#include "korch/runtime/model.h"

namespace korch::rt {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf) {
  Registers r;
  __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool all_set(uint32_t value, uint32_t bits) {
  return (value & bits) == bits;
}

// Register state that the operating system saves on a context switch (XCR0).
uint32_t saved_state() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr uint32_t kSseAndAvxState = 0x6;
constexpr uint32_t kAvx512State = 0xe0;  // masks, upper halves, upper registers

}  // namespace

bool cpu_offers(IsaLevel isa) {
  if (isa == kPortable) return true;
  const Registers basic = cpuid(1), extended = cpuid(7), amd = cpuid(0x80000001);
  if (!all_set(basic.ecx, bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C)) return false;
  if (!all_set(extended.ebx, bit_BMI | bit_AVX2 | bit_BMI2)) return false;
  if (!all_set(amd.ecx, bit_LZCNT) || !all_set(saved_state(), kSseAndAvxState)) return false;
  if (isa == kX86_64_v3) return true;
  if (!all_set(extended.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL) ||
      !all_set(saved_state(), kAvx512State))
    return false;
  return isa == kX86_64_v4 || all_set(extended.ecx, bit_AVX512VNNI);
}

}  // namespace korch::rt
