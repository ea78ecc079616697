// Pass: cuts the vector loop of a nest where a condition, reflection or clamp along it changes, so that each
// part has plain accesses. Runs after vectorize.
//
// Before                                                      after
//   map i0 in 8 lanes 4 along i0 {                              map i0 in 8 lanes 4 along i0 {
//     %0 = f32 0                                                  ...
//     %1 = in0[i0 - 1]                                            segment i0 in 0..1 {
//     %2 = %1 if 1 <= i0 <= 7 else %0                               %3 = f32 0
//     out0[i0] <- %2                                                out0[0] <- %3
//   }                                                             }
//                                                                 segment i0 in 1..8 {
//                                                                   %3 = in0[i0 - 1]
//                                                                   out0[i0] <- %3
//
// Afterwards every nest with lanes, but those that are transposed, has segments: a single one where nothing
// changes, or where there would be too many (then single lanes decide).
#pragma once

#include "korch/kernel/schedule.h"

namespace korch::tile {

void segment(ScheduledGraph& graph);

}  // namespace korch::tile
