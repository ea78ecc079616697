#include "korch/driver/dumps.h"

#include <fmt/format.h>

#include <optional>

#include "korch/base/files.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/codegen/passes/passes.h"

namespace korch {
namespace {

// Nothing where the column's family describes its kernels by none.
std::optional<tile::TileGraph> tile_graph_of(const Graph& graph, const Columns& columns, int column,
                                             const Target& target) {
  const KernelRequest request = kernel_request(graph, columns, column);
  if (request.candidate == nullptr)
    return reorder_tile_graph(request.reorder_type, request.reorder_from, request.reorder_to, target);
  Result<tile::TileGraph> built = tile_graph(graph, *request.candidate, *request.implementation, target);
  return built ? std::optional(std::move(built.value())) : std::nullopt;
}

}  // namespace

void Dumps::reserve(const std::string& file) const {
  if (folder_.empty()) return;
  output_target(path(file));
  files_.writes("the dump " + file, path(file));
}

void Dumps::write(const std::string& file, const std::function<std::string()>& text) const {
  if (folder_.empty()) return;
  make_directories(folder_);
  files_.writes("the dump " + file, path(file));
  write_file(path(file), text());
}

void Dumps::write_kernels(const BuiltPlan& built, const Graph& graph, const Columns& columns,
                          const Target& target) const {
  if (folder_.empty()) return;
  for (size_t i = 0; i < built.plan.kernels.size(); ++i) {
    const std::string& source = built.plan.kernels[i].source;
    if (source.empty()) continue;
    write(fmt::format("kernel-{:03}.cpp", i),
          [&] { return fmt::format("// {}\n{}", compile_command(target.isa), source); });
    std::optional<tile::TileGraph> tiles = tile_graph_of(graph, columns, built.columns[i], target);
    if (!tiles) continue;
    write(fmt::format("kernel-{:03}.tile", i), [&] { return tile::print(*tiles); });
    tile::lower_for_cpu(*tiles, target);
    write(fmt::format("kernel-{:03}.lowered.tile", i), [&] { return tile::print(*tiles); });
  }
}

}  // namespace korch
