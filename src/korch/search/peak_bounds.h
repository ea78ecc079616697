// What the machine's peaks say of kernels: lower bounds on latency; and what measured kernels say of the
// peaks.
#pragma once

#include <optional>

#include "korch/search/columns.h"
#include "korch/target/target.h"

namespace korch {

double lower_bound_us(double flops, double bytes, const Target& target, const Peaks& peaks);

// Kernels that were measured below their bounds disprove the peaks: these, raised until every bound holds;
// nothing where all do. The columns have their costs.
std::optional<Peaks> beaten_peaks(const Columns& columns, const Target& target, const Peaks& peaks);

}  // namespace korch
