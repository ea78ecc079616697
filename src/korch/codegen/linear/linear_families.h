// The families of kernels for candidates with one linear primitive (docs/design/codegen-linear.md). Each
// appends what it can offer, or why it declines.
#pragma once

#include <vector>

#include "korch/codegen/implementation.h"

namespace korch {

#define KORCH_LINEAR_FAMILY(name, Made, make)                                                               \
  void list_##name(const Graph& graph, const Candidate& candidate, const Device& target, Accuracy accuracy, \
                   std::vector<Implementation>& found, std::vector<Refusal>& refused);                      \
  Result<Made> make##_##name(const Graph& graph, const Candidate& candidate,                                \
                             const Implementation& implementation, const Device& target);

// Conv of one or two spatial axes as register tiles over pixels (also "conv_pixels")
KORCH_LINEAR_FAMILY(conv_direct, tile::ScheduledGraph, build)
// MatMul, batched or not, either operand constant
KORCH_LINEAR_FAMILY(matmul, tile::ScheduledGraph, build)
// Conv with one input channel per output channel
KORCH_LINEAR_FAMILY(depthwise, tile::ScheduledGraph, build)
// WinogradInput, WinogradProduct and WinogradOutput
KORCH_LINEAR_FAMILY(conv_winograd, tile::ScheduledGraph, build)
// one of the three
KORCH_LINEAR_FAMILY(winograd_part, tile::ScheduledGraph, build)
// MatMul and Conv in tiles of thread blocks, whose operands are staged in shared memory, a k tile at a time
KORCH_LINEAR_FAMILY(staged, tile::ScheduledGraph, build)
// Every linear primitive, plainly: the last resort.
KORCH_LINEAR_FAMILY(linear_generic, tile::ScheduledGraph, build)

#undef KORCH_LINEAR_FAMILY

#define KORCH_RESCHEDULE(name)                                                       \
  void reschedule_##name(const Graph& graph, const Candidate& candidate,             \
                         const Implementation& implementation, const Device& target, \
                         std::vector<Schedule>& found);

// Other tiles, and other numbers of blocks of rows.
KORCH_RESCHEDULE(conv_direct)
KORCH_RESCHEDULE(matmul)
// Other blocks of queries and keys
// Other tiles of the product
KORCH_RESCHEDULE(conv_winograd)

#undef KORCH_RESCHEDULE

}  // namespace korch
