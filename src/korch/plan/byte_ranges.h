// Parts of a buffer, as ranges of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace korch {

struct ByteRange {
  int64_t begin = 0, end = 0;  // [begin, end)
  bool operator==(const ByteRange&) const = default;
};

// Ascending, not empty, and apart from each other.
using ByteRanges = std::vector<ByteRange>;

// The union of `ranges`, which come in any order. If more than `most` would be left, the smallest gaps are
// filled, so the result holds more.
ByteRanges joined(std::vector<ByteRange> ranges, size_t most);

bool overlap(const ByteRanges& a, const ByteRanges& b);

// From the first byte to the last; empty when there is none.
ByteRange hull(const ByteRanges& ranges);

}  // namespace korch
