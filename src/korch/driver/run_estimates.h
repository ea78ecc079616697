// How long a network takes, by its extents: estimated, before anything is compiled.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "korch/driver/stages.h"
#include "korch/tensor/open_dimension.h"

namespace korch {

// What the kernels of a plan would take, in microseconds: greedy's groups, each as the model of costs has it,
// none built. Throws Error as the stages do.
double greedy_estimate_us(const Graph& network, const CompileOptions& options, const Device& device,
                          const CostModel& model);

// Estimates at the largest extents, the least and those between (of more than two dimensions at the largest
// and, of each, at its least), and what lies between these: logarithms are interpolated.
class RunEstimates {
 public:
  // Of the network up to these extents; nothing where it has no such network. By the names of dimensions.
  using Estimate = std::function<std::optional<double>(const std::map<std::string, int64_t>& extents)>;
  RunEstimates(const std::vector<OpenDimension>& dimensions, const Estimate& estimate);

  double us(const std::vector<int64_t>& extents) const;  // of each dimension

 private:
  struct Axis {
    size_t dimension;
    std::vector<int64_t> levels;  // descending
  };
  // Which level is above, and the share of the next one below.
  struct Place {
    size_t above = 0;
    double below = 0;
  };
  static Place place_on(const Axis& axis, int64_t extent);
  double log_at(const std::vector<size_t>& levels) const;

  std::vector<Axis> axes_;                        // of dimensions that do not follow from others
  bool together_ = true;                          // estimates of all levels together; else of each axis alone
  std::map<std::vector<size_t>, double> log_us_;  // by the axes' levels
};

}  // namespace korch
