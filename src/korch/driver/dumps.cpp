#include "korch/driver/dumps.h"

#include <fmt/format.h>

#include "korch/base/files.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/codegen/passes/passes.h"

namespace korch {
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

void Dumps::write_kernels(const BuiltPlan& built, const Device& target) const {
  if (folder_.empty()) return;
  for (size_t i = 0; i < built.plan.kernels.size(); ++i) {
    const std::string& source = built.plan.kernels[i].source;
    if (source.empty()) continue;
    write(fmt::format("kernel-{:03}.cpp", i),
          [&] { return fmt::format("// {}\n{}", compile_command(target.code), source); });
    tile::ScheduledGraph tiles = *built.specs[i]->tiles;
    write(fmt::format("kernel-{:03}.tile", i), [&] { return tile::print(tiles); });
    tile::lower_for_cpu(tiles, target);
    write(fmt::format("kernel-{:03}.lowered.tile", i), [&] { return tile::print(tiles); });
  }
}

}  // namespace korch
