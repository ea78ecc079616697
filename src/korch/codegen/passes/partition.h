// Pass: takes conditions that mix a loop's variable with those outside of it (where a slice lies in a padded
// image, say) out of the body: between two values known before the loop begins they all hold. Runs after
// segment, for maps into scratch: what they compute is read often, so that they are short and run often.
//
// Before                                                      after
//   phase i0 in 4 {                                             ...
//     map i1 in 6 {                                             map i1 in 6 partition along i1 {
//       %0 = in0[i0 * 4 + i1 - 1]                                 ...
//       %1 = f32 0
//       %2 = %0 if 0 <= i0 * 4 + i1 - 1 <= 15 else %1
//       s0[i1] <- %2
//     }
//
// The body stays as it is, and so does what it means; the printer has three loops here, of which the first
// and the last store %1 and the one between them %0. Of several variables, those outside of the last one are
// decided by an `if`, so that there are two bodies, whatever their number.
#pragma once

#include "korch/kernel/tile_graph.h"

namespace korch::tile {

void partition(TileGraph& graph);

struct Body {
  std::vector<Store> stores;
  std::vector<Segment> segments;
};
// The bodies of a partitioned nest.
struct Parts {
  Body inside;   // where all that the partitioned variables decide holds
  Body outside;  // elsewhere
};
Parts parts_of(ExprPool& pool, const Phase& phase, const Nest& nest);

}  // namespace korch::tile
