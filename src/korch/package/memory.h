// Memory planning: the place of every tensor of a Plan while it runs (docs/design/package.md).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "korch/plan/plan.h"
#include "korch/plan/program.h"

namespace korch {

constexpr int64_t kBufferAlignment = 64;  // bytes: a cache line, and the widest vector

// A buffer needed from the start of its first step to the end of its last.
struct Lifetime {
  int64_t size_bytes = 0;
  int first_step = 0;
  int last_step = 0;
  std::vector<int> steps = {};  // that access it
};

struct Arena {
  std::vector<int64_t> offsets;  // one per lifetime, multiples of kBufferAlignment
  int64_t size_bytes = 0;
};

// Whether all steps that access the one come before all that access the other, whoever runs them.
using InOrder = std::function<bool(const Lifetime& earlier, const Lifetime& later)>;

// Buffers whose lifetimes meet share no byte, nor those that are not `in_order`, where that is given. Greedy
// by size, each into the tightest gap that fits.
Arena plan_arena(const std::vector<Lifetime>& lifetimes, const InOrder& in_order = {});

// Sizes of the temporaries of the step: as many and as large as any of its kernel variants needs.
std::vector<int64_t> temporary_bytes(const Plan& plan, const PlanStep& step);

// A graph output that is a view of something with another home: copied after the last step.
struct OutputCopy {
  rt::BufferRef source, destination;
  int64_t size_bytes = 0;
};

struct MemoryPlan {
  // One per Plan::tensors. The places of constants within the weights are known only when these are written:
  // for a constant, `index` is its number in Plan::constants, and `offset` counts from its own beginning.
  std::vector<rt::BufferRef> tensors;
  std::vector<std::vector<rt::BufferRef>> temporaries;  // of each step, as many as temporary_bytes
  std::vector<OutputCopy> copies;
  int64_t arena_bytes = 0;
};

// Views share their root's bytes. A kernel's in-place pair shares bytes if nobody reads the input later. A
// tensor that becomes a graph output is made in the caller's buffer. Where steps may run beside each other,
// memory is used again only if data already order its users, so that memory adds no order; unless that takes
// much more memory.
MemoryPlan plan_memory(const Plan& plan);

}  // namespace korch
