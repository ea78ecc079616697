#include "korch/package/executable.h"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "korch/base/error.h"
#include "korch/package/elf_file.h"
#include "korch/package/seal.h"
#include "korch/plan/model_fault.h"

namespace korch {
namespace {

std::vector<uint64_t> tables_of(const ElfFile& file) {
  const std::string_view content = file.section(kTablesSection);
  std::vector<uint64_t> words((content.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  std::memcpy(words.data(), content.data(), content.size());
  const char* fault = rt::model_fault(words.data(), content.size());
  if (fault == nullptr) throw std::bad_alloc();
  if (fault[0] != '\0')
    throw Error(ErrorKind::io, fmt::format("'{}' cannot be used: its tables {}; compile the model again",
                                           file.path(), fault));
  return words;
}

}  // namespace

ExecutableInfo read_executable(const std::string& path) {
  const ElfFile file(path);
  require_intact(file);
  tables_of(file);
  ExecutableInfo info;
  info.path = path;
  info.plan_json = file.section(kPlanSection);
  info.needed = file.needed();
  info.code = file.section(kTargetSection);
  if (!isa_named(info.code) && compute_capability(info.code) == 0)
    file.refuse(fmt::format("it was compiled for an unknown target '{}'", info.code));
  return info;
}

std::vector<uint64_t> read_tables(const std::string& path) {
  const ElfFile file(path);
  require_intact(file);
  return tables_of(file);
}

std::string read_plan_json(const std::string& path) {
  return read_executable(path).plan_json;
}

}  // namespace korch
