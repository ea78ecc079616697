#include "korch/package/executable.h"

#include "korch/plan/plan_json.h"
#include "refusal.h"
#include "target.h"

namespace korch::fuzz {

// An executable's file, or what begins with a brace: the plan that one holds.
void read_executable_file(std::string_view bytes) {
  expect_read_or_refused([&] {
    if (!bytes.empty() && bytes[0] == '{') {
      plan_to_json(plan_from_json(std::string(bytes)));
      return;
    }
    const MemoryFile file(bytes);
    plan_from_json(read_executable(file.path()).plan_json);
  });
}

}  // namespace korch::fuzz
