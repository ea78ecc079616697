#include "korch/device/function_resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/base/ceil_div.h"

namespace korch {
namespace {

// Of a multiprocessor (CUDA C++ programming guide, "Technical specifications per compute capability").
struct Multiprocessor {
  int capability;
  int64_t threads, blocks, shared_bytes;
};
constexpr Multiprocessor kMultiprocessors[] = {
    {80, 2048, 32, 164 << 10}, {86, 1536, 16, 100 << 10}, {87, 1536, 16, 164 << 10},
    {89, 1536, 24, 100 << 10}, {90, 2048, 32, 228 << 10},
};
constexpr int64_t kRegisters = 64 << 10;
constexpr int64_t kRegisterUnit = 8;                // that a thread's registers are rounded up to
constexpr int64_t kReservedShared_bytes = 1 << 10;  // of each block
constexpr int kWarp = 32;

// The nearest one that is not newer; of newer ones the last is known.
const Multiprocessor& multiprocessor(const Device& device) {
  const int capability = compute_capability(device.code);
  const Multiprocessor* found = kMultiprocessors;
  for (const Multiprocessor& row : kMultiprocessors)
    if (row.capability <= capability) found = &row;
  return *found;
}

}  // namespace

int64_t resident_blocks(const FunctionResources& function, const Device& device) {
  const Multiprocessor& of = multiprocessor(device);
  const int64_t in_warps = ceil_div(function.threads, kWarp) * kWarp;
  int64_t blocks = std::min(of.blocks, of.threads / in_warps);
  if (function.registers > 0)
    blocks = std::min(blocks,
                      kRegisters / (ceil_div(function.registers, kRegisterUnit) * kRegisterUnit * in_warps));
  if (function.shared_bytes > device.memory.front().bytes) return 0;
  return std::min(blocks, of.shared_bytes / (function.shared_bytes + kReservedShared_bytes));
}

double thread_occupancy(const FunctionResources& function, const Device& device) {
  return static_cast<double>(resident_blocks(function, device) * function.threads) /
         static_cast<double>(multiprocessor(device).threads);
}

std::string describe(const FunctionResources& function, const Device& device) {
  std::string text = fmt::format("{} registers, {:.1f} KiB shared, occupancy {:.0f} %", function.registers,
                                 static_cast<double>(function.shared_bytes) / 1024,
                                 100 * thread_occupancy(function, device));
  if (function.spills())
    text += fmt::format(", spills: {} bytes of stack, {} stored and {} loaded by {} of {} instructions",
                        function.stack_bytes, function.local_store_bytes, function.local_load_bytes,
                        function.local_instructions, function.instructions);
  return text;
}

}  // namespace korch
