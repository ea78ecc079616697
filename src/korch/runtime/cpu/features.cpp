#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "korch/runtime/model.h"

namespace korch::rt {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
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
constexpr uint32_t kTileState = 0x60000;
constexpr uint32_t kAvx512Bf16 = 1u << 5;  // eax of the second part of leaf 7
constexpr uint32_t kAmxBf16 = 1u << 22, kAmxTile = 1u << 24,
                   kAmxInt8 = 1u << 25;  // edx of the first one

bool may_use_tiles() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

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
  if (isa == kX86_64_v4) return true;
  if (!all_set(extended.ecx, bit_AVX512VNNI)) return false;
  if (isa == kX86_64_v4_vnni) return true;
  if (!all_set(cpuid(7, 1).eax, kAvx512Bf16)) return false;
  return isa == kX86_64_v4_bf16 || (all_set(extended.edx, kAmxTile | kAmxBf16 | kAmxInt8) &&
                                    all_set(saved_state(), kTileState) && may_use_tiles());
}

}  // namespace korch::rt
