// The runs that an executable for a range of shapes should be fast in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/tensor/open_dimension.h"

namespace korch {

struct LikelyRun {
  std::vector<int64_t> extents;  // of each open dimension
  double weight = 1;             // how often it comes, beside others
};

// Half, a quarter, ... of the largest extent, which comes first, and the least; multiples of what the least
// and the largest are multiples of, for networks that are valid for such extents alone.
std::vector<int64_t> extent_levels(const OpenDimension& dimension);

// Those of options: `at` has "seq=1,past=300", or "seq=1,past=300:4" for one that comes four times as often;
// `file` such lines, `#` begins a comment. A dimension that a run leaves out has all of its levels, one that
// follows from others what it must be. Nothing of both: all levels of all dimensions together, halves as
// likely as wholes; and the least, if it is 0 or 1, three times as likely: one image, one token, an empty
// cache. A dimension from 0 on is a cache, which single tokens fill: half of its runs have each extent alike,
// and several tokens behind one that is not empty count a tenth. Throws
// Error{usage} for what is no such run, or none of the range.
std::vector<LikelyRun> likely_runs(const std::vector<OpenDimension>& dimensions,
                                   const std::vector<std::string>& at, const std::string& file);

}  // namespace korch
