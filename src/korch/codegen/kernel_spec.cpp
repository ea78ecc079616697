#include "korch/codegen/kernel_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/codegen/cpu/cpu_kernel.h"

namespace korch {

std::string print(const KernelSpec& spec) {
  if (spec.tiles) return tile::print(*spec.tiles);
  const LibraryCall& call = spec.kernel.call;
  return fmt::format("call {} {} ({}) ({})\n", call.library, call.function, fmt::join(call.params, ", "),
                     fmt::join(call.floats, ", "));
}

Kernel spelled(const KernelSpec& spec, const Device& target) {
  Kernel kernel = spec.kernel;
  if (spec.tiles) kernel.source = tile::cpu_source(*spec.tiles, target);
  return kernel;
}

}  // namespace korch
