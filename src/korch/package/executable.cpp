#include "korch/package/executable.h"

#include <fmt/format.h>

#include "korch/package/elf_file.h"
#include "korch/package/seal.h"

namespace korch {

ExecutableInfo read_executable(const std::string& path) {
  const ElfFile file(path);
  require_intact(file);
  ExecutableInfo info;
  info.path = path;
  info.plan_json = file.section(kPlanSection);
  info.needed = file.needed();
  const std::string_view isa = file.section(kTargetSection);
  for (const IsaRow& known : kIsas) {
    if (isa != known.name) continue;
    info.isa = known.isa;
    return info;
  }
  file.refuse(fmt::format("it was compiled for an unknown target '{}'", isa));
}

std::string read_plan_json(const std::string& path) {
  return read_executable(path).plan_json;
}

}  // namespace korch
