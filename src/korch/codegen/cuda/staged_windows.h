// Pass for GPUs: a map over windows (pooling, depthwise convolution), whose points read the same elements
// again and again, reads each of them once. A slice becomes a tile of results; what their windows read is
// staged in shared memory first, padding included, and taps read that.
//
// Before                                          after, for tiles of 4 x 56
//   phase c in 4, y in 56 {                         phase c_tile in 4, y_tile in 14 {
//     map x in 56 {                                   map y_box in 6, x_box in 64 {
//       %0 = in0[c * 3136 + y * 56 + x - 57]            %0 = in0[c_tile * 3136 + y_tile * 224 + ...]
//       %1 = f32 -inf                                   %1 = f32 -inf
//       %2 = %0 if 0 <= y - 1 <= 55 and ...             %2 = %0 if 0 <= y_tile * 4 + y_box - 1 <= 55 and ...
//       ...                                             s0[y_box * 64 + x_box] <- %2
//                                                     }
//                                                     map y_in in 4, x_in in 56 {
//                                                       %0 = s0[y_in * 64 + x_in + 3]
//                                                       ...
#pragma once

#include <functional>

#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// Every phase of one such map, where the cost model says that it is faster then. `constants_are_finite`,
// where it is asked: whether all elements of all constant buffers are.
ScheduledGraph with_staged_windows(ScheduledGraph graph, const Device& device,
                                   const std::function<bool()>& constants_are_finite);

}  // namespace korch::tile
