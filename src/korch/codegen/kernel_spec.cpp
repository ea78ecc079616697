#include "korch/codegen/kernel_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace korch {

std::string print(const KernelSpec& spec) {
  if (spec.tiles) return tile::print(*spec.tiles);
  const LibraryCall& call = spec.kernel.call;
  return fmt::format("call {} {} ({}) ({})\n", call.library, call.function, fmt::join(call.params, ", "),
                     fmt::join(call.floats, ", "));
}

}  // namespace korch
