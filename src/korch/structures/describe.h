// What a search did, for people.
#pragma once

#include <string>

#include "korch/structures/structured_candidates.h"

namespace korch::structures {

// "equal by laws; the same in 64 tests over a field (...)".
std::string describe(const Checked& checked);
// The group's terms, how many block graphs were generated, left out and refused, by reason, and those that
// were accepted.
std::string describe(const Searched& searched);

}  // namespace korch::structures
