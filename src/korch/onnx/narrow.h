// Narrow weights of a model (ir/narrow.h), as its quantized operators state them. They stay narrow where a
// product reads them as its second operand; whoever else reads them gets floats, made then.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "korch/onnx/node_import.h"
#include "korch/onnx/term.h"

namespace korch::onnx {

// A matrix of whole numbers that stand for (number - zero) * scale, in float32, or of floats in 16 bits
// that stand for number * scale.
struct NarrowMatrix {
  HostTensor numbers;               // of rank 2 and a type that NarrowMatMul reads
  HostTensor scales;                // f32: one; or one per element of `axis`; or, with a block, of rank 2
  std::optional<HostTensor> zeros;  // as numbers, of the shape of scales
  int64_t axis = 0;                 // along which scales differ, from block to block where there are blocks
  int64_t block = 0;                // 0: none
  int bits = 8;                     // that hold every number: 4, 8 or 16
  bool is_transposed = false;       // the operand is the transpose of `numbers`

  // What the products that read it, or its transpose, have in common; empty before the first.
  struct Operands {
    NarrowAttrs attrs;
    std::vector<Operand> constants;
  };
  mutable std::array<Operands, 2> operands = {};
};

// As an operand of float32 [K, N] whose floats are made when somebody reads them.
Operand narrow_operand(NodeImport& n, NarrowMatrix matrix);
// Its numbers less their zero points, as floats.
Operand whole_operand(NodeImport& n, const NarrowMatrix& matrix);
// The transpose of an operand with narrow weights.
Operand transposed_narrow(NodeImport& n, const NarrowMatrix& matrix);

// Constant floats of 16 or fewer bits that a product can read as they are, or without loss in more bits;
// null: others. Scales as in a NarrowMatrix.
Operand narrow_floats(NodeImport& n, const Operand& numbers, const HostTensor& scales, int64_t axis,
                      int64_t block);
// The same as float32, with scales of 1.
Operand float32_of(NodeImport& n, const Operand& numbers);

// x * weights, or * their transpose; null where they are not narrow, or not by blocks of terms or by columns.
// Weights may also be constants of float16 or bfloat16, as x is.
Operand narrow_product(NodeImport& n, const Operand& x, const Operand& weights, bool transpose = false);

// Rows of such a matrix as floats, where its scales differ by row, by column, or by block along the rows;
// null: others.
Operand narrow_rows(NodeImport& n, const NarrowMatrix& matrix, const Term& indices);

// Whole numbers as i32, of which the last axis may hold two in a byte, the lower half first.
Term unpacked_rows(const Term& x, bool two_in_a_byte);
// Along the last axis one per block, to each of `width` elements.
Term spread_blocks(const Term& x, int64_t block, int64_t width);

}  // namespace korch::onnx
