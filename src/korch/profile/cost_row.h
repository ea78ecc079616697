// A measured cost with all that it depends on, so that a model can learn from it and another machine can read
// it (docs/design/profile.md, "Rows that describe themselves").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "korch/backend/meter.h"
#include "korch/base/hash.h"

namespace korch {

constexpr int kCostProtocol = 6;  // raised when the way of measuring changes, so that old costs are misses

// The measured kernel, the place and the manner of measuring. `device`, `spec` and `compiler` are hashes
// (hex) of texts in the database.
struct CostConditions {
  int protocol = 0;             // kCostProtocol at that time
  std::string device;           // of a Device
  std::string spec;             // of print(KernelSpec): what the kernel does
  std::string implementation;   // family, schedule and layouts
  std::string primitives;       // joined by "+"; "reorder"
  std::string arguments;        // types: inputs, constants, outputs
  std::string part;             // the slices that a run of smaller extents needs; empty: all
  std::string compiler;         // its version and arguments
  int64_t footprint_bytes = 0;  // of the network
  double flops = 0, bytes = 0;  // of the kernel
  double bound_us = 0;          // by the device's speeds; 0: none was computed
  std::string disturbed;        // what else ran (machine_load.h); empty: the machine was calm
  int64_t measured_at_s = 0;    // since 1970
  int feature_set = 0;          // kFeatureSet at that time; 0: it has none
  std::vector<float> features;  // estimate/features.h
  std::string network;          // the name of its file; empty: not known
};

// The hashes among them.
std::array<const std::string*, 3> texts_of(const CostConditions& conditions);

struct CostRow {
  Hash key;  // of the cost in the database
  Cost cost;
  CostConditions conditions;
};

std::string to_text(const CostConditions& conditions);
// Nothing if to_text did not write the text.
std::optional<CostConditions> cost_conditions_from_text(const std::string& text);

}  // namespace korch
