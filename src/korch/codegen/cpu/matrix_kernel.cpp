#include "korch/codegen/cpu/matrix_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/base/ceil_div.h"
#include "korch/base/error.h"
#include "korch/codegen/cpu/shared_function.h"

namespace korch::linear {
namespace {

// Numbers of the registers: sums row by row, then data, then columns.
struct MatrixRegisters {
  const MicroKernel& kernel;
  int steps;                                                             // that an instruction adds
  int groups() const { return ceil_div(kernel.rows, kMatrixTileRows); }  // of rows
  int vectors() const { return static_cast<int>(kernel.lanes.size()); }
  int rows(int group) const { return std::min(kMatrixTileRows, kernel.rows - group * kMatrixTileRows); }
  int sum(int group, int vector) const { return group * vectors() + vector; }
  int data(int group) const { return groups() * vectors() + group; }
  int columns(int vector) const { return groups() * vectors() + groups() + vector; }
  int column_of(int vector) const {
    int column = 0;
    for (int v = 0; v < vector; ++v) column += kernel.lanes[static_cast<size_t>(v)];
    return column;
  }
};

MatrixRegisters registers_of(const MicroKernel& kernel, const std::vector<ReductionLoop>& loops) {
  return {kernel, static_cast<int>(matrix_steps(loops.back().count))};
}

// What ldtilecfg reads: rows, and bytes of a row, of every register.
std::string configuration(const MatrixRegisters& registers) {
  constexpr int kBytes = 64, kFirstRowBytes = 16, kFirstRows = 48;
  int bytes[kBytes] = {1};  // the palette
  const auto set = [&](int number, int rows, int row_bytes) {
    bytes[kFirstRowBytes + 2 * number] = row_bytes;
    bytes[kFirstRows + number] = rows;
  };
  for (int g = 0; g < registers.groups(); ++g) {
    set(registers.data(g), registers.rows(g), 4 * registers.steps);
    for (int v = 0; v < registers.vectors(); ++v) {
      const int row_bytes = 4 * registers.kernel.lanes[static_cast<size_t>(v)];
      set(registers.sum(g, v), registers.rows(g), row_bytes);
      set(registers.columns(v), registers.steps, row_bytes);
    }
  }
  // Written one by one: an array of constants would be data beside the function (shared_function.h).
  std::string text = "alignas(64) volatile unsigned long long registers[8];\n";
  for (int word = 0; word < kBytes / 8; ++word) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<unsigned>(bytes[8 * word + i]);
    text += fmt::format("registers[{}]={:#x};", word, value);
  }
  return text + "\n__builtin_ia32_tile_loadconfig((const void*)registers);\n";
}

template <typename Each>
void for_each_sum(const MatrixRegisters& registers, const Each& each) {
  for (int g = 0; g < registers.groups(); ++g)
    for (int v = 0; v < registers.vectors(); ++v)
      each(registers.sum(g, v), g * kMatrixTileRows * registers.kernel.tile_pitch + registers.column_of(v));
}

void emit_matrix_steps(std::string& text, const MatrixRegisters& registers, const ReductionLoop& loop) {
  constexpr int kUnroll = 4;  // as MicroKernel::next_lines counts
  const MicroKernel& k = registers.kernel;
  text += fmt::format("for(long k=0;k<{};++k){{\n", loop.count / registers.steps);
  const int64_t lines = k.next_lines() * registers.steps / kUnroll;
  for (int64_t i = 0; i < lines; ++i)
    text += fmt::format("__builtin_prefetch(next_columns+{},0,2);", i * kCacheLineFloats);
  if (lines > 0) text += fmt::format("next_columns+={};\n", lines * kCacheLineFloats);
  for (int v = 0; v < registers.vectors(); ++v)
    text += fmt::format("__builtin_ia32_tileloadd64({},pb+{},{});\n", registers.columns(v),
                        registers.column_of(v), 4 * total_lanes(k.lanes));
  for (int g = 0; g < registers.groups(); ++g) {
    text += fmt::format("__builtin_ia32_tileloadd64({},pa+{},{});", registers.data(g),
                        g * kMatrixTileRows * k.row_stride, 4 * k.row_stride);
    for (int v = 0; v < registers.vectors(); ++v)
      text += fmt::format("__builtin_ia32_{}({},{},{});", k.terms == 2 ? "tdpbf16ps" : "tdpbusd",
                          registers.sum(g, v), registers.data(g), registers.columns(v));
    text += "\n";
  }
  text += fmt::format("pa+={};pb+={};}}\n", registers.steps * loop.a_step, registers.steps * loop.b_step);
}

// Without loops of one step, and loops around others that they only repeat further on: the taps of a window
// whose channels all lie one after the other are one run of steps.
std::vector<ReductionLoop> joined(const std::vector<ReductionLoop>& loops) {
  std::vector<ReductionLoop> result;
  for (const ReductionLoop& loop : loops) {
    if (loop.count == 1 && loops.size() > 1) continue;
    const bool continues = !result.empty() && result.back().a_step == loop.count * loop.a_step &&
                           result.back().b_step == loop.count * loop.b_step;
    if (continues)
      result.back() = {result.back().count * loop.count, loop.a_step, loop.b_step};
    else
      result.push_back(loop);
  }
  if (result.empty()) result.push_back(loops.back());
  return result;
}

void emit_matrix_loops(std::string& text, const MatrixRegisters& registers,
                       const std::vector<ReductionLoop>& loops, size_t depth) {
  const ReductionLoop& loop = loops[depth];
  if (depth + 1 == loops.size()) {
    text += fmt::format("{{const int*pa=a{0};const int*pb=b{0};\n", depth);
    emit_matrix_steps(text, registers, loop);
    text += "}\n";
    return;
  }
  text += fmt::format("{{const int*a{1}=a{0};const int*b{1}=b{0};for(long k{0}=0;k{0}<{2};++k{0}){{\n", depth,
                      depth + 1, loop.count);
  emit_matrix_loops(text, registers, loops, depth + 1);
  text += fmt::format("a{0}+={1};b{0}+={2};}}}}\n", depth + 1, loop.a_step, loop.b_step);
}

}  // namespace

bool fits_matrix_tiles(int rows, int vectors) {
  const int groups = ceil_div(rows, kMatrixTileRows);
  return groups * vectors + groups + vectors <= kMatrixTiles;
}

int64_t matrix_steps(int64_t steps) {
  constexpr int64_t kLeast = 4;  // as long as a vector unit takes for sixteen rows of them
  int64_t most = std::min<int64_t>(steps, kMatrixTileSteps);
  while (most >= kLeast && steps % most != 0) --most;
  return most >= kLeast ? most : 0;
}

bool takes_matrix_tiles(const MicroKernel& k) {
  const ReductionLoop innermost = joined(k.loops).back();
  const bool multiplies = (k.type == DType::f32 && k.terms == 2) || (k.type == DType::i32 && k.terms == 4);
  return multiplies && k.b_offsets.empty() && innermost.a_step == 1 &&
         innermost.b_step == total_lanes(k.lanes) && matrix_steps(innermost.count) > 0 &&
         fits_matrix_tiles(k.rows, static_cast<int>(k.lanes.size()));
}

std::string emit_matrix_configuration(const std::string& name, const MicroKernel& kernel) {
  return fmt::format("{}static __attribute__((noinline)) void {}(void){{\n{}}}\n{}", kSharedFunction, name,
                     configuration(registers_of(kernel, joined(kernel.loops))), kEndOfSharedFunction);
}

std::string emit_matrix_kernel(const std::string& name, const MicroKernel& kernel) {
  KORCH_ASSERT(takes_matrix_tiles(kernel), name);
  const std::vector<ReductionLoop> loops = joined(kernel.loops);
  const MatrixRegisters registers = registers_of(kernel, loops);
  std::string text = fmt::format(
      "{0}static __attribute__((noinline)) void {1}(const int*a0,const int*b0,{3}*tile,const "
      "int*next_columns{2}){{\n(void)next_columns;\n",
      kSharedFunction, name, kernel.part ? ",bool first" : "", kernel.type == DType::f32 ? "float" : "int");
  const auto zero = [&](int number, int64_t) { text += fmt::format("__builtin_ia32_tilezero({});", number); };
  const auto load = [&](int number, int64_t at) {
    text += fmt::format("__builtin_ia32_tileloadd64({},tile+{},{});", number, at, 4 * kernel.tile_pitch);
  };
  if (kernel.part) {
    text += "if(first){";
    for_each_sum(registers, zero);
    text += "}else{\n";
    for_each_sum(registers, load);
    text += "}\n";
  } else {
    for_each_sum(registers, zero);
  }
  emit_matrix_loops(text, registers, loops, 0);
  for_each_sum(registers, [&](int number, int64_t at) {
    text += fmt::format("__builtin_ia32_tilestored64({},tile+{},{});", number, at, 4 * kernel.tile_pitch);
  });
  return text + "\n}\n" + kEndOfSharedFunction;
}

}  // namespace korch::linear
