#include "korch/inspect/explain_page.h"

#include "korch/codegen/family_words.h"
#include "korch/package/arena_use.h"
#include "korch/package/sources.h"

namespace korch {

std::string explain_page(const std::string& executable, const Plan& plan, const std::string& text,
                         const PageTimes& times) {
  ReportInput input{&plan, text, read_sources(executable), times.step_us, times.spans};
  const ArenaUse arena = read_arena(executable, plan);
  input.memory = {arena.arena_bytes, arena.weights_bytes, {}};
  for (const ArenaBuffer& b : arena.buffers)
    input.memory.buffers.push_back({b.tensor, b.first_step, b.last_step, b.offset_bytes, b.size_bytes});
  for (const FamilyWords& family : family_words())
    input.families[family.name] = {family.what, family.numbers};
  return report_page(input);
}

}  // namespace korch
