// What the arena of an executable holds, and when, as its tables say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/plan/plan.h"

namespace korch {

// Bytes of the arena, from the step that first writes them to the last that needs them. Two that share bytes
// meet in no step but where a kernel writes its result in place.
struct ArenaBuffer {
  int tensor = -1;  // into Plan::tensors: the whole that views are parts of; -1: a temporary
  int first_step = 0, last_step = 0;  // of Plan::steps
  int64_t offset_bytes = 0, size_bytes = 0;
};

struct ArenaUse {
  int64_t arena_bytes = 0, weights_bytes = 0;
  std::vector<ArenaBuffer> buffers;  // by tensor, then temporaries by step
};

// `plan`: the executable's. Steps of several shape plans have an arena each, in the same bytes. Throws as
// read_executable.
ArenaUse read_arena(const std::string& path, const Plan& plan);

}  // namespace korch
