// A case as text: the graph as korch prints it, preceded by comments that hold what else the case is.
//
//   // setting native 2 standard 210        (target, threads, accuracy, seed of the inputs; `specials` may
//   follow)
//   // plans random:762937 greedy
//   // constant 1ef5...28e1 f32[1x32x6x6] random 0 7       (contents, seed: graph_maker.h's random_tensor)
//   // constant 0b3c...9d10 f32[20] 0.5 1 2 ...
//   graph { ... }
#pragma once

#include <string>

#include "campaign.h"

namespace korch::fuzz {

struct SavedCase {
  Case what;
  uint64_t input_seed = 0;
};

std::string to_text(const SavedCase& saved);
SavedCase saved_case_from(const std::string& text);  // throws Error{invalid}

}  // namespace korch::fuzz
