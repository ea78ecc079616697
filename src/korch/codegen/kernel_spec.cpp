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

std::optional<tile::ScheduledGraph> tiles_of(std::string_view printed) {
  if (printed.starts_with("call ")) return std::nullopt;
  return tile::parse_tile_graph(printed);
}

}  // namespace korch
