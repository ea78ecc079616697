// The register tile of a product with narrow columns (kernel/product.h): C++ text of a function
//
//   static void NAME(const float* a, const unsigned char* b, float* tile, const float* scales,
//                    const Z* zeros, const float* values[, bool first])
//
// that computes tile[r][j] = sum over blocks, steps and terms of a[...] * ((b - zero[j]) * scale[j]), the
// numbers of b one after the other as [block][step][j][term]. They become floats in registers, once for all
// rows. `values` (nibble_values_text(), where there are 16 lanes): what 4 bits stand for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/tensor/dtype.h"

namespace korch::linear {

struct NarrowKernel {
  DType type = DType::i8;  // of numbers: i4, u4, i8, u8, f16 or bf16
  bool converts_halves = true;  // the processor has instructions that make float16 numbers floats
  bool has_zeros = false;  // of whole numbers alone, in bytes as signed as these
  bool in_nibbles() const { return type == DType::i4 || type == DType::u4; }
  int rows = 1;
  std::vector<int> lanes;         // width of each vector of a row: 16, 8 or 4 elements
  int64_t row_stride = 0;         // elements of a
  int64_t tile_pitch = 0;         // elements between rows of the tile
  int64_t blocks = 1, steps = 1;  // of each block
  int together = 1;               // terms of a step; of 4 bits up to eight, which lie in an int32
  int64_t a_block = 0, a_step = 0, a_term = 0;  // elements of a
  int64_t shared_block = 0;                     // scales, and zero points, from block to block
  bool part = false;                            // as MicroKernel's
};

std::string emit_narrow_kernel(const std::string& name, const NarrowKernel& kernel);

// Tables for `values`, as C++ text: `nibbles_signed` and `nibbles_unsigned`, in the order of the 4 bits.
std::string nibble_values_text();

}  // namespace korch::linear
