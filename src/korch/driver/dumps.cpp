#include "korch/driver/dumps.h"

#include <fmt/format.h>

#include "korch/backend/backend.h"
#include "korch/backend/spell.h"
#include "korch/base/files.h"

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
    const Backend& backend = backend_of(target);
    const std::string by =
        backend.missing().empty() ? "// " + backend.compile_command(target) + "\n" : std::string();
    write(fmt::format("kernel-{:03}.{}", i, source_extension(target)), [&] { return by + source; });
    const tile::ScheduledGraph& tiles = *built.specs[i]->tiles;
    write(fmt::format("kernel-{:03}.tile", i), [&] { return tile::print(tiles); });
    write(fmt::format("kernel-{:03}.lowered.tile", i), [&] { return tile::print(lowered(tiles, target)); });
  }
}

}  // namespace korch
