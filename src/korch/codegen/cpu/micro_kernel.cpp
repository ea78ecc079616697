#include "korch/codegen/cpu/micro_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/base/error.h"
#include "korch/codegen/cpu/shared_function.h"

namespace korch::linear {

namespace {

constexpr int kUnroll =
    4;  // terms of the innermost loop in one iteration: hides the loop overhead, keeps the text short

// What a product is computed in: overflow of signed integers has no meaning in C++.
const char* arithmetic_type(const MicroKernel& kernel) {
  return kernel.type == DType::f32 ? "float" : "unsigned";
}
const char* element_type(const MicroKernel& kernel) {
  return kernel.type == DType::f32 ? "float" : "int";
}

// Of the operands; several terms are one element.
const char* operand_type(const MicroKernel& kernel) {
  return kernel.type == DType::f32 && kernel.terms == 1 ? "float" : "int";
}

bool multiplies_pairs_of_bfloat16(const MicroKernel& kernel) {
  return kernel.type == DType::f32 && kernel.terms == 2;
}

std::string vector_types(const MicroKernel& kernel, int width) {
  std::string text = fmt::format(
      "typedef {2} v{0} __attribute__((vector_size({1})));"
      "typedef {2} v{0}u __attribute__((vector_size({1}),aligned(4),may_alias));\n",
      width, width * 4, arithmetic_type(kernel));
  if (multiplies_pairs_of_bfloat16(kernel))
    text += fmt::format(
        "typedef int v{0}i __attribute__((vector_size({1})));"
        "typedef __bf16 v{0}s __attribute__((vector_size({1})));\n",
        width, width * 4);
  else if (kernel.terms > 1)
    text += fmt::format("typedef {2} v{0}s __attribute__((vector_size({1})));\n", width, width * 4,
                        kernel.terms == 2 ? "short" : "int");
  return text;
}

// Adds what an element of each operand stands for to an accumulator.
std::string accumulate(const MicroKernel& kernel, int row, size_t vector) {
  const int width = kernel.lanes[vector];
  if (multiplies_pairs_of_bfloat16(kernel))
    return fmt::format("c{3}_{2}=__builtin_ia32_dpbf16ps_{1}(c{3}_{2},(v{0}s)((v{0}i){{}}+x),(v{0}s)w{2});",
                       width, width * 32, vector, row);
  switch (kernel.terms) {
    case 1:
      return fmt::format("c{}_{}+=w{}*x;", row, vector, vector);
    case 2:
      return fmt::format("c{3}_{2}+=(v{0})__builtin_ia32_pmaddwd{1}((v{0}s)w{2},(v{0}s)((v{0}){{}}+x));",
                         width, width * 32, vector, row);
    default:
      return fmt::format(
          "c{3}_{2}=(v{0})__builtin_ia32_vpdpbusd{1}((v{0}s)c{3}_{2},(v{0}s)((v{0}){{}}+x),(v{0}s)w{2});",
          width, width * 32, vector, row);
  }
}

int64_t b_offset(const MicroKernel& kernel, size_t vector) {
  if (!kernel.b_offsets.empty()) return kernel.b_offsets[vector];
  int64_t offset = 0;
  for (size_t i = 0; i < vector; ++i) offset += kernel.lanes[i];
  return offset;
}

// One term of the reduction: every accumulator once.
void emit_term(std::string& text, const MicroKernel& kernel, int64_t a_at, int64_t b_at) {
  text += "{";
  for (size_t v = 0; v < kernel.lanes.size(); ++v)
    text += fmt::format("v{0} w{1}=*(const v{0}u*)(pb+{2});", kernel.lanes[v], v, b_at + b_offset(kernel, v));
  text += "\n";
  for (int r = 0; r < kernel.rows; ++r) {
    text += fmt::format("{{{} x=pa[{}];",
                        kernel.terms > 1 && kernel.type == DType::f32 ? "int" : arithmetic_type(kernel),
                        a_at + r * kernel.row_stride);
    for (size_t v = 0; v < kernel.lanes.size(); ++v) text += accumulate(kernel, r, v);
    text += "}\n";
  }
  text += "}\n";
}

void emit_innermost(std::string& text, const MicroKernel& kernel, const ReductionLoop& loop) {
  const int64_t iterations = loop.count / kUnroll;
  if (iterations > 0) {
    const int64_t next_step = kernel.rows * kUnroll * loop.a_step;  // as much as an iteration reads
    if (kernel.prefetch_next_rows)
      text += fmt::format("const {}*next=pa+{};", operand_type(kernel), kernel.rows * kernel.row_stride);
    text += fmt::format("for(long k=0;k<{};++k){{\n", iterations);
    if (kernel.prefetch_next_rows) {
      for (int64_t at = 0; at < next_step; at += kCacheLineFloats)
        text += fmt::format("__builtin_prefetch(next+{});", at);
      text += fmt::format("next+={};\n", next_step);
    }
    for (int64_t i = 0; i < kernel.next_lines(); ++i)
      text += fmt::format("__builtin_prefetch(next_columns+{},0,2);", i * kCacheLineFloats);
    if (kernel.next_lines() > 0)
      text += fmt::format("next_columns+={};\n", kernel.next_lines() * kCacheLineFloats);
    for (int u = 0; u < kUnroll; ++u) emit_term(text, kernel, u * loop.a_step, u * loop.b_step);
    text += fmt::format("pa+={};pb+={};}}\n", kUnroll * loop.a_step, kUnroll * loop.b_step);
  }
  for (int64_t u = 0; u < loop.count % kUnroll; ++u)
    emit_term(text, kernel, u * loop.a_step, u * loop.b_step);
}

void emit_loops(std::string& text, const MicroKernel& kernel, size_t depth) {
  const ReductionLoop& loop = kernel.loops[depth];
  if (depth + 1 == kernel.loops.size()) {
    text += fmt::format("{{const {1}*pa=a{0};const {1}*pb=b{0};\n", depth, operand_type(kernel));
    emit_innermost(text, kernel, loop);
    text += "}\n";
    return;
  }
  text += fmt::format("{{const {3}*a{1}=a{0};const {3}*b{1}=b{0};for(long k{0}=0;k{0}<{2};++k{0}){{\n", depth,
                      depth + 1, loop.count, operand_type(kernel));
  emit_loops(text, kernel, depth + 1);
  text += fmt::format("a{0}+={1};b{0}+={2};}}}}\n", depth + 1, loop.a_step, loop.b_step);
}

}  // namespace

int64_t MicroKernel::next_lines() const {
  if (tiles_per_next_columns == 0) return 0;
  const int64_t lines = kUnroll * total_lanes(lanes) / kCacheLineFloats;
  return std::max<int64_t>(1, (lines + tiles_per_next_columns - 1) / tiles_per_next_columns);
}

int64_t MicroKernel::next_elements() const {
  int64_t iterations = loops.back().count / kUnroll;
  for (size_t i = 0; i + 1 < loops.size(); ++i) iterations *= loops[i].count;
  return iterations * next_lines() * kCacheLineFloats;
}

std::string emit_micro_kernel(const std::string& name, const MicroKernel& kernel) {
  KORCH_ASSERT(!kernel.loops.empty() && kernel.rows > 0 && !kernel.lanes.empty(), name);
  std::string text = fmt::format(
      "{0}static __attribute__((noinline)) void {1}(const {4}*a0,const {4}*b0,{3}*tile,const "
      "{4}*next_columns{2}){{\n(void)next_columns;\n",
      kSharedFunction, name, kernel.part ? ",bool first" : "", element_type(kernel), operand_type(kernel));
  for (int width : std::set<int>(kernel.lanes.begin(), kernel.lanes.end()))
    text += vector_types(kernel, width);
  auto each = [&](auto accumulator) {  // (width, its name, where it belongs)
    for (int r = 0; r < kernel.rows; ++r) {
      int64_t column = 0;
      for (size_t v = 0; v < kernel.lanes.size(); ++v) {
        text +=
            accumulator(kernel.lanes[v], fmt::format("c{}_{}", r, v),
                        fmt::format("*(v{}u*)(tile+{})", kernel.lanes[v], r * kernel.tile_pitch + column));
        column += kernel.lanes[v];
      }
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
  emit_loops(text, kernel, 0);
  each([](int, const std::string& c, const std::string& place) { return fmt::format("{}={};", place, c); });
  return text + "}\n" + kEndOfSharedFunction;
}

std::vector<int> split_lanes(int64_t count, int widest) {
  std::vector<int> lanes;
  for (; count >= widest; count -= widest) lanes.push_back(widest);
  if (count > 0) {
    int width = 4;
    while (width < count) width *= 2;
    lanes.push_back(width);
  }
  return lanes;
}

int64_t total_lanes(const std::vector<int>& lanes) {
  int64_t total = 0;
  for (int width : lanes) total += width;
  return total;
}

int max_rows(int vectors, int registers) {
  return std::max(1, (registers - vectors - 1) / vectors);
}

}  // namespace korch::linear
