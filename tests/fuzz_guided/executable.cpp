#include "korch/package/executable.h"

#include "korch/package/elf_file.h"
#include "korch/plan/plan_json.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {

// An executable's file, or what begins with a brace: the plan that one holds. Checksums stop nearly all that
// was mutated; a file may be made to match them, so what lies behind is read without them too.
void read_executable_file(std::string_view bytes) {
  if (!bytes.empty() && bytes[0] == '{') {
    expect_read_or_refused([&] { plan_to_json(plan_from_json(std::string(bytes))); });
    return;
  }
  const MemoryFile file(bytes);
  expect_read_or_refused([&] { read_executable(file.path()); });
  expect_read_or_refused([&] {
    const ElfFile elf(file.path());
    elf.needed();
    plan_from_json(std::string(elf.section(kPlanSection)));
  });
}

}  // namespace korch::fuzz
