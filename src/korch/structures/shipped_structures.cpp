#include "korch/base/embed.h"
#include "korch/structures/structured_candidates.h"

namespace korch {

std::string_view shipped_structures_text();

}  // namespace korch

KORCH_EMBED(shipped_structures_text, KORCH_STRUCTURES)

namespace korch::structures {

std::vector<block::KnownGroup> shipped_structures() {
  return block::parse_known_groups(shipped_structures_text());
}

}  // namespace korch::structures
