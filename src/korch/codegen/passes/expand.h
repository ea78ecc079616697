// Pass: writes a short loop out, a nest for each of its values, where that decides conditions: of a
// transposed convolution each output meets only the taps that are a whole number of strides away from it.
//
// Before                                       after
//   map i0 in 8, i1 in 2 {                       map i0 in 8 {
//     %0 = in0[i0]                                 %0 = in0[i0]
//     %1 = f32 0                                   out0[i0 * 2] <- %0
//     %2 = %0 if 0 <= i1 % 2 <= 0 else %1        }
//     out0[i0 * 2 + i1] <- %2                    map i0 in 8 {
//   }                                              %0 = f32 0
//                                                  out0[i0 * 2 + 1] <- %0
//                                                }
//
// Only conditions that divide by something count; others are left to segment.
#pragma once

#include "korch/kernel/schedule.h"

namespace korch::tile {

// Whether there was such a loop.
bool expand(ScheduledGraph& graph);

}  // namespace korch::tile
