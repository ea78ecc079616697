// Groups with block graphs that compute them, as text: what a search found, or somebody wrote.
//
//   group {
//     axes a, b, c
//     leaf x0 f32 [a, c]
//     leaf x1 f32 [b, c]
//     %0 = load x0
//     %1 = load x1
//     %2 = Mul(%0, %1)
//     %3 = sum c %2
//     result %3
//   }
//   block { ... }    a block graph of the group: of its axes and leaves (block_graph.h)
//   block { ... }
//   group { ... }
//
// Nothing is proven here: who takes a block graph from a file checks it as one from anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "korch/block/block_graph.h"

namespace korch::block {

struct KnownGroup {
  Terms group;  // without extents
  std::vector<BlockGraph> structures;
};

std::string print(const KnownGroup& known);
// Throws Error{invalid} with the line and what is wrong: also where a block graph is of other axes or leaves
// than its group, or a group has none, or stands twice.
std::vector<KnownGroup> parse_known_groups(std::string_view text);

}  // namespace korch::block
