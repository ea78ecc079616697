// What a kind of device needs of this folder: a row of the one table (target_rows.cpp).
#pragma once

#include <string>

#include "korch/backend/backend.h"
#include "korch/kernel/schedule.h"

namespace korch {

struct TargetRow {
  const char* kind;       // Device::kind
  const char* extension;  // of a file with its text
  // Passes over a tile graph, then its text; in every build.
  void (*lower)(tile::ScheduledGraph& graph, const Device& device);
  std::string (*print)(tile::ScheduledGraph lowered, const Device& device);
  // How the text is launched, where that differs from a CPU's launch, which the kernel has; or null.
  void (*launch)(const tile::ScheduledGraph& graph, Kernel& kernel);
  const Backend& (*backend)();  // null: kernels are text alone
};

// Error{unsupported} for a kind that has no row.
const TargetRow& target_row(const Device& device);

}  // namespace korch
