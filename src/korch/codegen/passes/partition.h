// Pass: takes conditions that mix a loop's variable with those outside of it (where a slice lies in a padded
// image, say) out of the body: between two values known before the loop begins they all hold. Runs after
// segment, for maps into scratch (the panels that slices load for themselves) and for windows.
//
// Before
//   phase y in 2, x in 2 {
//     map pr in 4, px in 6 {
//       %0 = in0[pr * 8 + px + x * 4 + y * 32 - 9]
//       %1 = f32 0
//       %2 = %0 if 0 <= pr + y * 4 - 1 <= 7 and 0 <= px + x * 4 - 1 <= 7 else %1
//       s0[pr * 6 + px] <- %2
//
// After: the body and what it means stay
//     map pr in 4, px in 6 partition along pr, px {
//
// The printer asks for the rows of each pr once, and has three loops along px, of which the first and the
// last store %1 and the one between them %0: two bodies, whatever the number of variables. Where neighbouring
// values of the last variable load much of the same (the taps of a window), several are computed together:
// `jam 4`.
#pragma once

#include "korch/kernel/schedule.h"

namespace korch::tile {

// `jam`: as many values together as leave registers for what they share.
void partition(ScheduledGraph& graph, int jam = 4);

struct Body {
  std::vector<Store> stores;
  std::vector<Segment> segments;
};
// The bodies of a partitioned nest.
struct Parts {
  Body inside;   // where all that the partitioned variables decide holds
  Body outside;  // elsewhere
  Body jammed;   // inside, for `jam` values of the last partitioned variable; empty for one
};
Parts parts_of(ExprPool& pool, const Phase& phase, const Nest& nest, const NestSchedule& schedule);

}  // namespace korch::tile
