// The best speeds of this machine: multiply-adds and bandwidths, by a microbenchmark of a second or so. They
// make lower bounds on latency, so each is the best that was ever observed, times a margin.
#pragma once

#include <string>

#include "korch/backend/backend.h"
#include "korch/device/device.h"
#include "korch/profile/database.h"

namespace korch {

struct MachinePeaks {
  Device device;  // with its speeds
  // The disturbance, if there was one whenever they were measured (machine_load.h); "": none. Disturbed peaks
  // are higher than a calm machine's, so that bounds hold.
  std::string disturbed;
};

// The peaks of the target's workers, or of as many as there are processors. From the database if it has them
// for this machine, ISA and number of workers; else measured and stored. Measured once more if they were
// disturbed and the machine is calm now. `database` may be null; `backend`: null: the target's.
MachinePeaks machine_peaks(const Device& target, Database* database, const Backend* backend = nullptr);

// Kernels reached these speeds: raises the database's peaks to them, as far as raised_to believes them.
void raise_machine_peaks(const Device& target, Database& database, const Device& reached);

}  // namespace korch
