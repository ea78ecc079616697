// Separable index maps: a table per axis; the source of an output element is the sum of its axes' table
// entries. Slices, pads, tiles, broadcasts, transposes, gathers and nearest resizes have this form.
#pragma once

#include <vector>

#include "korch/base/stop_check.h"
#include "korch/tensor/host_tensor.h"

namespace korch {

constexpr int64_t kOutside = -1;  // no source along this axis: the element is the fill value

// tables[axis][index]: elements to add to the source's offset, or kOutside.
using IndexTables = std::vector<std::vector<int64_t>>;

// The table of one axis whose source indices are start, start + step, ... (count of them), each times stride.
std::vector<int64_t> index_table(int64_t count, int64_t start, int64_t step, int64_t stride);

// The tensor of the tables' extents. `fill` is one element of the source's type; used where a table says
// kOutside.
HostTensor read_through(const HostTensor& source, const IndexTables& tables, const HostTensor& fill,
                        StopCheck& stop);
HostTensor read_through(const HostTensor& source, const IndexTables& tables,
                        StopCheck& stop);  // no table says kOutside

}  // namespace korch
