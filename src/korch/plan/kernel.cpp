#include "korch/plan/kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace korch {

Hash Kernel::key() const {
  std::string text = source;
  text += fmt::format("\n|{}|{}|{}|{}|", call.library, call.function, fmt::join(call.params, ","),
                      fmt::join(call.floats, ","));
  for (const KernelPhase& phase : phases)
    text += fmt::format("{}:{}:{}:{};", phase.symbol, phase.grid, phase.grain, phase.rounds);
  for (const Packing& packing : constant_packing)
    text += fmt::format("{}({});", packing.kind, fmt::join(packing.params, ","));
  text += fmt::format("|{}|{}", fmt::join(temporary_bytes, ","), scratch_bytes);
  return hash_text(text);
}

}  // namespace korch
