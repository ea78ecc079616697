// What a kernel is and what it runs on, as numbers that a model of costs reads: those of its draft, which
// follow from a candidate in an implementation and take microseconds to find, and those of its tile graph
// (tile_features.h). Nothing names a device: its speeds and sizes are what counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/candidate/candidate.h"
#include "korch/codegen/implementation.h"
#include "korch/device/device.h"

namespace korch {

// Of the draft; raised when one is added, left out or counted in another way.
constexpr int kFeatureSet = 1;

using Features = std::vector<float>;

// Where and within what a kernel runs.
struct Surroundings {
  const Device& device;
  int64_t footprint_bytes = 0;  // of the network (profile/footprint.h)
  double bound_us = 0;          // of the kernel, by the device's speeds (search/peak_bounds.h)
};

// Of the draft.
Features kernel_features(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                         const Surroundings& surroundings);
Features reorder_features(const TensorType& type, const Layout& from, const Layout& to,
                          const Surroundings& surroundings);

// Of each feature, in their order: first the draft's, so many.
const std::vector<std::string>& feature_names();
size_t draft_features();

}  // namespace korch
