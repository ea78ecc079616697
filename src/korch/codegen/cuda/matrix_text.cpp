#include "korch/codegen/cuda/matrix_text.h"

#include <fmt/format.h>

#include "korch/codegen/cpu/replace_all.h"

namespace korch::tile {
namespace {

// Of 4 or 16 bytes, to where both are aligned. The emulator has copies of its own.
constexpr const char* kCudaCopies = R"(#ifndef KORCH_EMULATED
template <int bytes> static inline void copy_async(float* to, const float* from, bool inside) {
  const int count = inside ? bytes : 0;
  if (bytes == 16)
    asm volatile("{\n .reg .u64 to, from;\n .reg .u32 place;\n cvta.to.shared.u64 to, %0;\n cvt.u32.u64 place, to;\n"
                 " cvta.to.global.u64 from, %1;\n cp.async.cg.shared.global [place], [from], 16, %2;\n}"
                 :: "l"(to), "l"(from), "r"(count) : "memory");
  else
    asm volatile("{\n .reg .u64 to, from;\n .reg .u32 place;\n cvta.to.shared.u64 to, %0;\n cvt.u32.u64 place, to;\n"
                 " cvta.to.global.u64 from, %1;\n cp.async.ca.shared.global [place], [from], 4, %2;\n}"
                 :: "l"(to), "l"(from), "r"(count) : "memory");
}
static inline void wait_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif
)";

// A number of float32 as the sum of two of tf32, `big` and `small`. `finite` is what other numbers' small
// parts are multiplied with: an infinity times a small part, which may be 0 or of the other sign, would be a
// NaN. What would round to an infinity is cut off.
constexpr const char* kCudaSplit = R"(
static inline void split_tf32(float x, uint32_t& big, uint32_t& finite, uint32_t& small) {
  const uint32_t bits = __float_as_uint(x);
  const bool is_finite = (bits & 0x7f800000u) != 0x7f800000u;
  big = (bits + 0x1000u) & 0xffffe000u;
  if ((big & 0x7f800000u) == 0x7f800000u) big = bits & 0xffffe000u;
  if (x != x) big = 0x7fc00000u;
  finite = is_finite ? big : 0u;
  small = is_finite ? (__float_as_uint(x - __uint_as_float(big)) + 0x1000u) & 0xffffe000u : 0u;
}
)";

// Rounded to tf32, or two numbers to 16 bits each.
constexpr const char* kCudaOperandOfTf32 = R"(#ifdef KORCH_EMULATED
static inline uint32_t as_tf32(float x) {
  const uint32_t bits = __float_as_uint(x);
  return (bits & 0x7f800000u) == 0x7f800000u ? bits | (x != x) << 22 : (bits + 0x1000u) & 0xffffe000u;
}
#else
static inline uint32_t as_tf32(float x) {
  uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return rounded;
}
#endif
)";
constexpr const char* kCudaOperandsOf16Bits = R"(#ifdef KORCH_EMULATED
static inline uint32_t as_$T(float low, float high) { return (uint32_t)to_$T(low) | (uint32_t)to_$T(high) << 16; }
#else
static inline uint32_t as_$T(float low, float high) {
  uint32_t both;
  asm("cvt.rn.$Tx2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
#endif
)";

// Products of 16 x 8 by 8 x 8 elements of tf32, or of 16 x 16 by 16 x 8 elements of 16 bits, shared out to
// the threads of a warp as the PTX manual's mma.m16n8k8 and mma.m16n8k16 have them.
constexpr const char* kCudaMatrixProduct = R"(#ifdef KORCH_EMULATED
static inline void multiply_$T(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  emulated_multiply<$N>(sum, {$A}, {$B});
}
#else
static inline void multiply_$T(float (&sum)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm("mma.sync.aligned.$S.row.col.f32.$T.$T.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
)";

// The elements of a thread's registers for the emulator.
std::string unpacked(ProductType type, const char* registers, int count) {
  std::string text;
  for (int q = 0; q < count; ++q) {
    text += q == 0 ? "" : ", ";
    if (type == ProductType::tf32)
      text += fmt::format("__uint_as_float({}[{}] & 0xffffe000u)", registers, q);
    else
      text += fmt::format("from_{0}({1}[{2}] & 0xffff), from_{0}({1}[{2}] >> 16)", name(type), registers, q);
  }
  return text;
}

}  // namespace

std::string matrix_units_text(ProductType type) {
  const bool splits = type == ProductType::f32;
  const ProductType of = splits ? ProductType::tf32 : type;
  const bool is_tf32 = of == ProductType::tf32;
  std::string text = kCudaMatrixProduct;
  text = replace_all(text, "$N", is_tf32 ? "2" : "4");
  text = replace_all(text, "$A", unpacked(of, "a", 4));
  text = replace_all(text, "$B", unpacked(of, "b", 2));
  text = replace_all(text, "$S", is_tf32 ? "m16n8k8" : "m16n8k16");
  const char* operand = splits ? kCudaSplit : is_tf32 ? kCudaOperandOfTf32 : kCudaOperandsOf16Bits;
  return replace_all(operand + text, "$T", name(of));
}

std::string copies_text() {
  return kCudaCopies;
}

}  // namespace korch::tile
