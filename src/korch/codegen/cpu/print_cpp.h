// A lowered tile graph (codegen/passes) as self-contained C++ with explicit vectors, for clang.
#pragma once

#include <string>

#include "korch/device/device.h"
#include "korch/kernel/schedule.h"

namespace korch::tile {

// One extern "C" function per phase: k0, k1, ...
std::string print_cpp(ScheduledGraph graph, const Device& target);
std::string phase_symbol(size_t phase);

}  // namespace korch::tile
