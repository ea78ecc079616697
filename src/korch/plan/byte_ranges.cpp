#include "korch/plan/byte_ranges.h"

#include <algorithm>

namespace korch {

ByteRanges joined(std::vector<ByteRange> ranges, size_t most) {
  std::erase_if(ranges, [](const ByteRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  ByteRanges apart;
  for (const ByteRange& range : ranges) {
    if (!apart.empty() && range.begin <= apart.back().end)
      apart.back().end = std::max(apart.back().end, range.end);
    else
      apart.push_back(range);
  }
  if (apart.size() <= most || apart.empty()) return apart;
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < apart.size(); ++i) gaps.push_back(apart[i].begin - apart[i - 1].end);
  const size_t filled = apart.size() - std::max<size_t>(most, 1);
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(filled - 1), gaps.end());
  const int64_t largest_filled = gaps[filled - 1];
  ByteRanges result = {apart[0]};
  for (size_t i = 1; i < apart.size(); ++i) {
    if (apart[i].begin - result.back().end <= largest_filled)
      result.back().end = apart[i].end;
    else
      result.push_back(apart[i]);
  }
  return result;
}

bool overlap(const ByteRanges& a, const ByteRanges& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].end <= b[j].begin)
      ++i;
    else if (b[j].end <= a[i].begin)
      ++j;
    else
      return true;
  }
  return false;
}

ByteRange hull(const ByteRanges& ranges) {
  if (ranges.empty()) return {};
  return {ranges.front().begin, ranges.back().end};
}

}  // namespace korch
