// The input of which a backend makes an executable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/device/device.h"
#include "korch/package/plan_tasks.h"
#include "korch/plan/plan.h"

namespace korch {

struct PackageInput {
  const Plan* plan;
  std::vector<Placement> placements;        // place(*plan)
  std::vector<std::string> objects;         // one per plan.kernels; empty for library calls
  std::vector<std::string> constant_bytes;  // one per plan.constants
  std::string plan_json;                    // stored in a section that is not loaded (korch explain)
  Device target;
  bool emulation = false;  // of a GPU: what an emulated one runs is in it too
};

struct PackageReport {
  int64_t arena_bytes = 0;
  int64_t weights_bytes = 0;  // equal constants once
};

}  // namespace korch
