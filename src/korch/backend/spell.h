// Kernels as text for their device. Needs no compiler, so that every build has it.
#pragma once

#include "korch/codegen/kernel_spec.h"
#include "korch/device/device.h"

namespace korch {

// The tile graph after the passes of its device's backend.
tile::ScheduledGraph lowered(tile::ScheduledGraph graph, const Device& device);
// The device's source text of a graph that is not lowered.
std::string source_of(const tile::ScheduledGraph& graph, const Device& device);
// Of a file with such a text: "cpp".
std::string source_extension(const Device& device);
// The kernel with its source; a call of a library as it is.
Kernel spelled(const KernelSpec& spec, const Device& device);
// The same for a graph alone, with its grid and memory.
Kernel spelled(const tile::ScheduledGraph& graph, const Device& device);

}  // namespace korch
