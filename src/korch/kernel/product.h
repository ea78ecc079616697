// A nest that is a matrix product: rows by columns, each result a sum of products of an element of a row and
// one of a column. What a register tile is made of.
#pragma once

#include <optional>
#include <string>

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

// `a` is the same for all columns and `b` for all rows; columns of the result lie one after the other. Of
// int16, and of bytes (`a` of u8, `b` of i8), whose sum is i32, as many terms as an i32 has room for: the
// innermost reduced loop is over those 2 or 4, which lie beside each other in `a` and, for every column, in
// `b`; all other strides of the operands are multiples of it.
//
// `b` may also be narrow: (b - zero) * scale in float32, of i8 or u8; b * scale, of floats in 16 bits;
// or of i4 or u4, of which the innermost reduced loop is over up to eight in an int32. Scales and zero points
// are the same for all terms of a block, which the loops but the outermost are over; columns of them lie one
// after the other.
struct Product {
  std::string row, column;  // loops of the nest; row is empty where there is one row
  int terms = 1;            // beside each other
  int a_buffer = 0, b_buffer = 0;
  Index a, b;                               // offsets, affine in all loops of the nest
  int scale_buffer = -1, zero_buffer = -1;  // where b is narrow, with zero points
  Index scale, zero;
  bool is_narrow() const { return scale_buffer >= 0; }
  // Columns of `b` lie one after the other, too.
  bool has_neighbouring_columns() const { return b.stride(column) == terms; }
};

constexpr int kNibbles = 8;  // in an int32

// Types whose sums a register tile holds.
inline bool has_register_tiles(DType type) {
  return type == DType::f32 || type == DType::i32;
}

// Empty when the nest is none.
std::optional<Product> product_of(const TileGraph& graph, const Nest& nest);

}  // namespace korch::tile
