// Dimensions of graph inputs that follow from others (DerivedDimension).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "korch/onnx/import.h"
#include "onnx.pb.h"

namespace korch::onnx {

// plus + the sum of factors * dimensions, by their names.
struct NamedSum {
  int64_t plus = 0;
  std::vector<std::pair<std::string, int64_t>> terms = {};

  void add(const std::string& dimension, int64_t factor);
};

// What a name says that exporters give a dimension: "past_sequence_length + 1", "s15 + 2*s70". Nothing where
// it is no sum with factors that are numbers, or a part of it is none of the `dimensions`.
std::optional<NamedSum> sum_of_name(std::string_view name, const std::set<std::string>& dimensions);

// Reads the model with presumed extents of the dimensions `sought`: open dimensions with the sums that they
// must be, of these as few as possible. Throws Error.
using SolveExtents = std::function<std::vector<OpenDimension>(const ImportOptions& presumed,
                                                              const std::set<std::string>& sought)>;

// What korch::derived_dimensions gives.
DerivedDimensions derived_dimensions(const proto::GraphProto& graph, const ImportOptions& options,
                                     const SolveExtents& solve);

}  // namespace korch::onnx
