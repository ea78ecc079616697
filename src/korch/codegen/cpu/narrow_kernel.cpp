#include "korch/codegen/cpu/narrow_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/base/error.h"
#include "korch/codegen/cpu/micro_kernel.h"
#include "korch/codegen/cpu/shared_function.h"

namespace korch::linear {
namespace {

constexpr int kTableLanes = 16;       // of the vectors that a permutation looks up sixteen floats for
constexpr int kStepsUnrolled = 4;     // of one term each
constexpr int kPrefetchBytes = 1024;  // ahead of what is read of the numbers, beyond what hardware asks for

const char* byte_type(const NarrowKernel& kernel) {
  return is_signed(kernel.type) ? "signed char" : "unsigned char";
}

int bytes_of_number(const NarrowKernel& kernel) {
  return static_cast<int>(size_bytes(kernel.type));
}

// What a load of `width` numbers gives.
std::string number_vector(const NarrowKernel& kernel, int width) {
  return fmt::format("{}{}", bytes_of_number(kernel) == 2 ? "h" : "b", width);
}

std::string narrow_vector_types(const NarrowKernel& kernel, int width) {
  return fmt::format(
      "typedef float v{0} __attribute__((vector_size({1})));"
      "typedef float v{0}u __attribute__((vector_size({1}),aligned(4),may_alias));"
      "typedef int i{0} __attribute__((vector_size({1})));"
      "typedef unsigned n{0} __attribute__((vector_size({1})));"
      "typedef unsigned n{0}u __attribute__((vector_size({1}),aligned(4),may_alias));"
      "typedef {2} b{0} __attribute__((vector_size({0}),aligned(1),may_alias));"
      "typedef unsigned short h{0} __attribute__((vector_size({3}),aligned(2),may_alias));\n",
      width, width * 4, byte_type(kernel), width * 2);
}

// Bytes of b in front of vector v of a step.
int64_t bytes_before(const NarrowKernel& kernel, size_t v) {
  int64_t lanes = 0;
  for (size_t i = 0; i < v; ++i) lanes += kernel.lanes[i];
  return lanes * (kernel.in_nibbles() ? 4 : bytes_of_number(kernel));
}

int64_t step_bytes(const NarrowKernel& kernel) {
  return bytes_before(kernel, kernel.lanes.size());
}

// Where no instruction does: the exponent is greater by 112 in float32, and that of infinity and NaN by as
// much again.
std::string computed_halves(int width, const std::string& h) {
  return fmt::format(
      "({{n{0} n=__builtin_convertvector({1},n{0}),m=(n&0x7fff)<<13,"
      "f=(n{0})((v{0})m*0x1p112f)+((n{0})((n&0x7c00)==0x7c00)&0x38000000);(v{0})(f|(n&0x8000)<<16);}})",
      width, h);
}

// The float16 numbers whose bits `h` holds, as floats. Of four the instruction reads half of a vector.
std::string from_halves(const NarrowKernel& kernel, int width, const std::string& h) {
  if (!kernel.converts_halves) return computed_halves(width, h);
  if (width == 16)
    return fmt::format("__builtin_ia32_vcvtph2ps512_mask((s16)({}),(v16){{}},(unsigned short)-1,4)", h);
  if (width == 8) return fmt::format("__builtin_ia32_vcvtph2ps256((s8)({}))", h);
  return fmt::format("__builtin_ia32_vcvtph2ps((s8)__builtin_shufflevector({0},{0},0,1,2,3,0,1,2,3))", h);
}

// What `q` holds, one number for each lane, as floats.
std::string as_floats(const NarrowKernel& kernel, int width, const std::string& q) {
  if (kernel.type == DType::f16) return from_halves(kernel, width, q);
  if (kernel.type == DType::bf16)
    return fmt::format("(v{0})(__builtin_convertvector({1},n{0})<<16)", width, q);
  return fmt::format("__builtin_convertvector({},v{})", q, width);
}

// Term `term` of what `q` holds, as floats.
std::string nibble(const NarrowKernel& kernel, int width, const std::string& q, int term) {
  const int low = 4 * term;
  if (width == kTableLanes)
    return fmt::format("(v16)__builtin_ia32_permvarsf512(values,(i16)({}>>{}))", q, low);
  if (is_signed(kernel.type))
    return fmt::format("__builtin_convertvector((i{0})({1}<<{2})>>28,v{0})", width, q, 28 - low);
  return fmt::format("__builtin_convertvector((i{0})({1}>>{2}&15),v{0})", width, q, low);
}

// Every accumulator once.
void emit_terms(std::string& text, const NarrowKernel& kernel, const std::vector<std::string>& numbers,
                int64_t a_at) {
  text += "{";
  for (size_t v = 0; v < kernel.lanes.size(); ++v)
    text += fmt::format("v{0} w{1}=({2}{3})*s{1};", kernel.lanes[v], v, numbers[v],
                        kernel.has_zeros ? fmt::format("-z{}", v) : "");
  text += "\n";
  for (int r = 0; r < kernel.rows; ++r) {
    text += fmt::format("{{float x=pa[{}];", a_at + r * kernel.row_stride);
    for (size_t v = 0; v < kernel.lanes.size(); ++v) text += fmt::format("c{}_{}+=w{}*x;", r, v, v);
    text += "}\n";
  }
  text += "}\n";
}

void emit_step(std::string& text, const NarrowKernel& kernel, int64_t a_at, int64_t b_at) {
  std::vector<std::string> numbers;
  text += "{";
  if (!kernel.in_nibbles()) {
    for (size_t v = 0; v < kernel.lanes.size(); ++v) {
      const std::string type = number_vector(kernel, kernel.lanes[v]);
      text += fmt::format("const {0} q{1}=*(const {0}*)(b+{2});", type, v, b_at + bytes_before(kernel, v));
      numbers.push_back(as_floats(kernel, kernel.lanes[v], fmt::format("q{}", v)));
    }
    emit_terms(text, kernel, numbers, a_at);
    text += "}\n";
    return;
  }
  for (size_t v = 0; v < kernel.lanes.size(); ++v)
    text +=
        fmt::format("n{0} q{1}=*(const n{0}u*)(b+{2});", kernel.lanes[v], v, b_at + bytes_before(kernel, v));
  text += "\n";
  for (int term = 0; term < kernel.together; ++term) {
    numbers.clear();
    for (size_t v = 0; v < kernel.lanes.size(); ++v)
      numbers.push_back(nibble(kernel, kernel.lanes[v], fmt::format("q{}", v), term));
    emit_terms(text, kernel, numbers, a_at + term * kernel.a_term);
  }
  text += "}\n";
}

void emit_block(std::string& text, const NarrowKernel& kernel) {
  int64_t column = 0;
  for (size_t v = 0; v < kernel.lanes.size(); ++v) {
    text += fmt::format("v{0} s{1}=*(const v{0}u*)(scales+{2});", kernel.lanes[v], v, column);
    if (kernel.has_zeros)
      text += fmt::format("v{0} z{1}=__builtin_convertvector(*(const b{0}*)(zeros+{2}),v{0});",
                          kernel.lanes[v], v, column);
    column += kernel.lanes[v];
  }
  text += "\nconst float*pa=a;\n";
  const int unrolled = kernel.in_nibbles() ? 1 : kStepsUnrolled;
  const auto steps = [&](int count) {
    for (int u = 0; u < count; ++u) emit_step(text, kernel, u * kernel.a_step, u * step_bytes(kernel));
    text += fmt::format("pa+={};b+={};\n", count * kernel.a_step, count * step_bytes(kernel));
  };
  if (kernel.steps >= unrolled) {
    text += fmt::format("for(long k=0;k<{};++k){{\n", kernel.steps / unrolled);
    for (int64_t line = 0; line < unrolled * step_bytes(kernel); line += kCacheLineBytes)
      text += fmt::format("__builtin_prefetch(b+{});", kPrefetchBytes + line);
    steps(unrolled);
    text += "}\n";
  }
  if (kernel.steps % unrolled > 0) steps(static_cast<int>(kernel.steps % unrolled));
}

}  // namespace

std::string emit_narrow_kernel(const std::string& name, const NarrowKernel& kernel) {
  KORCH_ASSERT(kernel.rows > 0 && !kernel.lanes.empty(), name);
  std::string text = fmt::format(
      "{}static __attribute__((noinline)) void {}(const float*a,const unsigned char*b,float*tile,"
      "const float*scales,const {}*zeros,const float*table{}){{\n(void)zeros;(void)table;\n",
      kSharedFunction, name, byte_type(kernel), kernel.part ? ",bool first" : "");
  for (int width : std::set<int>(kernel.lanes.begin(), kernel.lanes.end()))
    text += narrow_vector_types(kernel, width);
  text +=
      "typedef short s8 __attribute__((vector_size(16)));typedef short s16 "
      "__attribute__((vector_size(32)));\n";
  if (kernel.in_nibbles() && std::count(kernel.lanes.begin(), kernel.lanes.end(), kTableLanes) > 0)
    text += "const v16 values=*(const v16u*)table;\n";
  const auto each = [&](auto accumulator) {  // its width and name, and where it belongs
    for (int r = 0; r < kernel.rows; ++r) {
      int64_t column = 0;
      for (size_t v = 0; v < kernel.lanes.size(); column += kernel.lanes[v++])
        text +=
            accumulator(kernel.lanes[v], fmt::format("c{}_{}", r, v),
                        fmt::format("*(v{}u*)(tile+{})", kernel.lanes[v], r * kernel.tile_pitch + column));
      text += "\n";
    }
  };
  each([](int width, const std::string& c, const std::string&) {
    return fmt::format("v{} {}={{}};", width, c);
  });
  if (kernel.part) {
    text += "if(!first){\n";
    each([](int, const std::string& c, const std::string& place) { return fmt::format("{}={};", c, place); });
    text += "}\n";
  }
  text += fmt::format("for(long kb=0;kb<{};++kb){{\n", kernel.blocks);
  emit_block(text, kernel);
  text += fmt::format("a+={};scales+={};{}}}\n", kernel.a_block, kernel.shared_block,
                      kernel.has_zeros ? fmt::format("zeros+={};", kernel.shared_block) : "");
  each([](int, const std::string& c, const std::string& place) { return fmt::format("{}={};", place, c); });
  return text + "}\n" + kEndOfSharedFunction;
}

std::string nibble_values_text() {
  std::string numbers[2];
  for (int code = 0; code < 16; ++code) {
    numbers[0] += fmt::format("{},", code);
    numbers[1] += fmt::format("{},", code < 8 ? code : code - 16);
  }
  return fmt::format(
      "static const float nibbles_unsigned[16]={{{}}};\nstatic const float nibbles_signed[16]={{{}}};\n",
      numbers[0], numbers[1]);
}

}  // namespace korch::linear
