// A Kernel as plain data: generated source or a library call, its grid, and how its constants are packed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/base/hash.h"
#include "korch/device/function_resources.h"
#include "korch/plan/byte_ranges.h"
#include "korch/tensor/layout.h"
#include "korch/tensor/packing.h"

namespace korch {

// A call into a vendor library, run by runtime on slices from its own workers.
struct LibraryCall {
  std::string library;          // "korch", the runtime; empty: generated code
  std::string function;         // "conv", "matmul"
  std::vector<int64_t> params;  // documented where it is made and read (runtime/library.h)
  std::vector<float> floats;    // post-op parameters
  bool operator==(const LibraryCall&) const = default;
};

struct KernelPhase {
  std::string symbol;  // extern "C" function of the object, type korch_kernel_fn (runtime/abi.h)
  int64_t grid = 1;    // independent slices [0, grid); a barrier stands between phases
  int64_t grain = 1;   // slices handed out at a time
  int64_t rounds = 1;  // slices [r * grid, (r + 1) * grid) after those of round r - 1; a barrier between
  int64_t slices() const { return grid * rounds; }
};

// The bytes of one argument that some slices of a phase read and write, or more; counted from the argument's
// first.
struct ArgumentAccess {
  int argument = 0;
  ByteRanges read, written;
};

// The accesses of each block of neighbouring slices of a phase, round after round. block_slices gives the
// size of a round's blocks.
struct PhaseAccess {
  double work = 0;  // elements that the phase's slices visit, to compare phases of one kernel
  std::vector<std::vector<ArgumentAccess>> blocks;
};

// The number of slices of a task: a multiple of the grain, so that a phase has a few tasks for each of
// `threads` workers.
int64_t block_slices(const KernelPhase& phase, int threads);

// Arguments of every phase, in this order: inputs, constants, outputs, temporaries.
struct Kernel {
  std::string source;  // C++ text; empty for a library call
  LibraryCall call;
  std::vector<KernelPhase> phases;
  std::vector<Packing> constant_packing;      // one per constant operand
  std::vector<int64_t> temporary_bytes;       // buffers shared by the workers for the duration of the step
  int64_t scratch_bytes = 0;                  // private to each worker
  double flops = 0;                           // what this implementation computes (multiply-add: 2)
  double bytes = 0;                           // distinct bytes read and written, constants included
  std::vector<std::pair<int, int>> in_place;  // (input, output): may share one buffer
  // One per phase, or none: then every slice may read every argument, and write all but inputs and constants.
  std::vector<PhaseAccess> accesses;
  std::vector<FunctionResources> resources;  // of a GPU's code once it is compiled: one per phase

  Hash key() const;  // over everything above that determines behaviour
};

// The share of the time of `threads` workers that the kernel can use while it runs alone; 1 / threads for a
// kernel of one slice. All slices count the same.
double occupancy(const Kernel& kernel, int threads);

// Whether a phase has several rounds: by tasks, readers of the kernel's results may begin between them.
bool has_rounds(const Kernel& kernel);

}  // namespace korch
