// Layouts of a candidate's inputs and outputs as the linear families offer them.
#pragma once

#include "korch/codegen/implementation.h"
#include "korch/codegen/linear/workload.h"

namespace korch::linear {

enum class Order { row_major, channels_last };

// An Implementation whose inputs behind the data operand lie in `data` order and all others, outputs
// included, in `result` order (tensors of fewer than three axes are row-major).
Implementation with_layouts(const LinearWorkload& workload, const std::string& family, Order data,
                            Order result);

// Appends unless `found` has it: layouts coincide where extents are 1.
void add_once(const Implementation& implementation, std::vector<Implementation>& found);

// Whether the implementation's outputs are stored with rows (pixels) rather than columns contiguous.
bool stores_rows(const LinearWorkload& workload, const Implementation& implementation);

}  // namespace korch::linear
