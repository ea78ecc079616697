// What a function of a GPU's machine code takes of a multiprocessor, and how many of its blocks fit in one.
#pragma once

#include <cstdint>
#include <string>

#include "korch/device/device.h"

namespace korch {

struct FunctionResources {
  int threads = 1;           // of a block
  int registers = 0;         // of a thread
  int64_t shared_bytes = 0;  // of a block, beside what a launch adds
  int64_t stack_bytes = 0;   // of a thread, in local memory
  // That the instructions move between registers and local memory, each counted once however often it runs:
  // spilled registers, and arrays that registers cannot hold.
  int64_t local_store_bytes = 0, local_load_bytes = 0;
  int64_t instructions = 0, local_instructions = 0;

  bool spills() const { return stack_bytes > 0 || local_instructions > 0; }
  bool operator==(const FunctionResources&) const = default;
};

// Blocks that a multiprocessor of the device holds at a time; 0: none fits.
int64_t resident_blocks(const FunctionResources& function, const Device& device);
// Their threads over those that it could hold.
double thread_occupancy(const FunctionResources& function, const Device& device);
// For people: "40 registers, 18.0 KiB shared, occupancy 75 %".
std::string describe(const FunctionResources& function, const Device& device);

}  // namespace korch
