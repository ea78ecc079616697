// Outputs whose extents depend on the data: a run fills them at their bounds.
#pragma once

#include <stdint.h>
#include <string.h>

namespace korch::rt {

// Moves the elements within `extents` to the front, so that the buffer is dense row-major of those extents,
// each at most the bound.
inline void pack(void* buffer, uint64_t element_bytes, uint32_t rank, const int64_t* bounds,
                 const int64_t* extents) {
  uint32_t inner = rank;  // axes from here on lie without gaps, but for the first of them
  uint64_t row_bytes = element_bytes;
  while (inner > 0 && extents[inner - 1] == bounds[inner - 1])
    row_bytes *= static_cast<uint64_t>(bounds[--inner]);
  if (inner == 0) return;
  const uint64_t from_bytes = row_bytes * static_cast<uint64_t>(bounds[--inner]);
  row_bytes *= static_cast<uint64_t>(extents[inner]);
  uint64_t rows = 1;
  for (uint32_t axis = 0; axis < inner; ++axis) rows *= static_cast<uint64_t>(extents[axis]);
  auto* to = static_cast<unsigned char*>(buffer);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t place = 0, stride = 1, rest = row;  // of this row at the bounds
    for (uint32_t axis = inner; axis-- > 0;) {
      place += rest % static_cast<uint64_t>(extents[axis]) * stride;
      rest /= static_cast<uint64_t>(extents[axis]);
      stride *= static_cast<uint64_t>(bounds[axis]);
    }
    memmove(to + row * row_bytes, static_cast<unsigned char*>(buffer) + place * from_bytes, row_bytes);
  }
}

}  // namespace korch::rt
