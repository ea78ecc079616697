// Layout: how a Value's elements lie in memory. The logical axes are permuted (outermost first), and one
// axis may be split into blocks that lie innermost: nChw16c is order {0,1,2,3}, block_axis 1, block 16.
// The last block of an extent that 16 does not divide is padded with zeros; kernels rely on those zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "korch/tensor/shape.h"

namespace korch {

struct Layout {
  std::vector<int> order;  // empty: row-major (identity)
  int block_axis = -1;     // -1: not blocked
  int block = 1;
  auto operator<=>(const Layout&) const = default;

  bool is_row_major() const { return order.empty() && block_axis < 0; }
  bool has_strides() const { return block_axis < 0; }  // one per axis: strides()
  static Layout row_major() { return {}; }
  static Layout channels_last(int rank);     // N, spatial..., C; row-major when rank < 3
  static Layout channel_blocked(int block);  // axis 1 in blocks, innermost
};

// Extents in memory order, the block (if any) as one more innermost axis.
Shape physical_shape(const Shape& logical, const Layout& layout);
int64_t physical_elements(const Shape& logical, const Layout& layout);
int64_t physical_bytes(const TensorType& type, const Layout& layout);
// Element offset of a logical index.
int64_t element_offset(const Shape& logical, const Layout& layout, const std::vector<int64_t>& index);
// Where it has them: stride in elements of each logical axis.
Shape strides(const Shape& logical, const Layout& layout);

// A layout that orders memory exactly as row-major does for this shape (e.g. channels-last with one channel)
// becomes row-major, so that equal bytes have one name.
Layout canonical(const Layout& layout, const Shape& logical);

std::string to_string(const Layout& layout);  // "rm", "p0231", "p0123b1.16"
bool parse_layout(std::string_view text, Layout* layout);

}  // namespace korch
