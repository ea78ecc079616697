// Memory planning: where every tensor of a Plan lives while it runs (docs/design/package.md).
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

// Of the buffers that the step needs while it runs: as many and as large as any of its launches wants.
std::vector<int64_t> temporary_bytes(const Plan& plan, const PlanStep& step);

// A graph output that is a view of something with another home: copied after the last step.
struct OutputCopy {
  rt::BufferRef source, destination;
  int64_t size_bytes = 0;
};

struct MemoryPlan {
  // One per Plan::tensors. Where constants are within the weights is known when these are written: of a
  // constant, `index` is its number in Plan::constants, and `offset` counts from its own beginning.
  std::vector<rt::BufferRef> tensors;
  std::vector<std::vector<rt::BufferRef>> temporaries;  // of each step, as many as temporary_bytes
  std::vector<OutputCopy> copies;
  int64_t arena_bytes = 0;
};

// Tensors that are views share their root's bytes; a kernel's in-place pair shares when nobody reads the
// input later; what becomes a graph output is made in the caller's buffer. Where steps may run beside each
// other, memory is used again only where data order who used it before who uses it next, so that it orders
// nothing by itself; unless that takes much more memory than the order of the steps does.
MemoryPlan plan_memory(const Plan& plan);

}  // namespace korch
