// Tensors whose extents are known when a run ends, or begins: kernels have them at their bounds.
#pragma once

#include <stdint.h>
#include <string.h>

namespace korch::rt {

// Rows of a tensor of `extents` within one of `bounds`, each at most the bound: visit(row, place), the number
// of the row in the dense tensor and in the one at its bounds, in ascending order; rows of the dense one have
// `row_bytes`, those of the other `bound_row_bytes`.
struct PackedRows {
  PackedRows(uint64_t element_bytes, uint32_t rank, const int64_t* bounds, const int64_t* extents)
      : bounds(bounds), extents(extents), inner(rank), row_bytes(element_bytes) {
    while (inner > 0 && extents[inner - 1] == bounds[inner - 1])
      row_bytes *= static_cast<uint64_t>(bounds[--inner]);
    bound_row_bytes = row_bytes;
    if (inner == 0) return;
    bound_row_bytes *= static_cast<uint64_t>(bounds[--inner]);
    row_bytes *= static_cast<uint64_t>(extents[inner]);
  }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    uint64_t rows = 1;
    for (uint32_t axis = 0; axis < inner; ++axis) rows *= static_cast<uint64_t>(extents[axis]);
    for (uint64_t row = 0; row < rows; ++row) {
      uint64_t place = 0, stride = 1, rest = row;
      for (uint32_t axis = inner; axis-- > 0;) {
        place += rest % static_cast<uint64_t>(extents[axis]) * stride;
        rest /= static_cast<uint64_t>(extents[axis]);
        stride *= static_cast<uint64_t>(bounds[axis]);
      }
      visit(row, place);
    }
  }

  const int64_t* bounds;
  const int64_t* extents;
  uint32_t inner;  // axes behind this one lie without gaps
  uint64_t row_bytes, bound_row_bytes;
};

// Moves the elements within `extents` to the front, so that the buffer is dense row-major of those extents,
// each at most the bound.
inline void pack(void* buffer, uint64_t element_bytes, uint32_t rank, const int64_t* bounds,
                 const int64_t* extents) {
  const PackedRows rows(element_bytes, rank, bounds, extents);
  auto* bytes = static_cast<unsigned char*>(buffer);
  rows.for_each([&](uint64_t row, uint64_t place) {
    if (row * rows.row_bytes != place * rows.bound_row_bytes)
      memmove(bytes + row * rows.row_bytes, bytes + place * rows.bound_row_bytes, rows.row_bytes);
  });
}

// What lies within `extents` of one of `bounds` at `from`, dense, somewhere else.
inline void gather(void* to, const void* from, uint64_t element_bytes, uint32_t rank, const int64_t* bounds,
                   const int64_t* extents) {
  const PackedRows rows(element_bytes, rank, bounds, extents);
  rows.for_each([&](uint64_t row, uint64_t place) {
    memcpy(static_cast<unsigned char*>(to) + row * rows.row_bytes,
           static_cast<const unsigned char*>(from) + place * rows.bound_row_bytes, rows.row_bytes);
  });
}

// The dense tensor of `extents` at `from` into one of `bounds`, of which the rest stays what it was.
inline void unpack(void* to, const void* from, uint64_t element_bytes, uint32_t rank, const int64_t* bounds,
                   const int64_t* extents) {
  const PackedRows rows(element_bytes, rank, bounds, extents);
  rows.for_each([&](uint64_t row, uint64_t place) {
    memcpy(static_cast<unsigned char*>(to) + place * rows.bound_row_bytes,
           static_cast<const unsigned char*>(from) + row * rows.row_bytes, rows.row_bytes);
  });
}

}  // namespace korch::rt
