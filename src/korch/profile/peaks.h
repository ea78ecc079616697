// What this machine can do at best: multiply-adds and bandwidths, by a microbenchmark of a few seconds. The
// speeds make lower bounds on latency, so each is the best of many runs, times a margin.
#pragma once

#include "korch/profile/database.h"
#include "korch/target/target.h"

namespace korch {

// From the database when it holds them for this machine, ISA and thread count; measured (and stored)
// otherwise. `database` may be null.
Peaks machine_peaks(const Target& target, Database* database);

}  // namespace korch
