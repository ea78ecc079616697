// What this machine can do at best: multiply-adds and bandwidths, by a microbenchmark of a second or so. The
// speeds make lower bounds on latency, so each is the best that was ever observed, times a margin.
#pragma once

#include <string>

#include "korch/backend/backend.h"
#include "korch/device/device.h"
#include "korch/profile/database.h"

namespace korch {

struct MachinePeaks {
  Device device;  // with its speeds
  // What else ran whenever they were measured (machine_load.h); then they are higher than those of a calm
  // machine, so that bounds hold. "": it was calm.
  std::string disturbed;
};

// Of as many workers as the target has, as far as there are processors for them. From the database when it
// holds them for this machine, ISA and number of workers; measured (and stored) otherwise, and once more
// where they were disturbed before and the machine is calm now. `database` may be null; `backend`: null: the
// target's.
MachinePeaks machine_peaks(const Device& target, Database* database, const Backend* backend = nullptr);

// Kernels reached these speeds: from now on the database's are no less, as far as raised_to believes them.
void raise_machine_peaks(const Device& target, Database& database, const Device& reached);

}  // namespace korch
