// Two plans side by side: whether they are of one network, which kernels they share, and what each has where
// they differ.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "korch/plan/plan.h"

namespace korch {

struct DiffSide {
  std::string path;  // of the executable
  Plan plan;
  std::vector<std::string> keys;  // of each step's kernel (Kernel::key, in hexadecimal)
  std::vector<double> us;         // of each step: predicted, or what the caller measured
};

// As the executable holds it, with predicted times.
DiffSide diff_side(const std::string& path, const std::string& plan_json);

// Steps of both plans that work on the same ONNX nodes, in execution order; either may have none.
struct DiffPart {
  std::vector<int> a, b;
  std::vector<std::string> onnx_nodes;
  double a_us = 0, b_us = 0;
};

struct PlanDiff {
  std::vector<std::string> networks;      // in what the two are not of one network: a phrase each
  std::vector<std::pair<int, int>> same;  // the same kernel for the same ONNX nodes; times may differ
  std::vector<DiffPart> parts;            // all other steps; the largest difference of time first
  double a_us = 0, b_us = 0;              // of all steps
};

// Error{invalid} where they are of two networks that have not one ONNX node in common.
PlanDiff diff_plans(const DiffSide& a, const DiffSide& b);

// `times`: "predicted" or "measured". `same_limit`: so many of the shared kernels are listed, those whose
// times differ most.
std::string describe(const PlanDiff& diff, const DiffSide& a, const DiffSide& b, const std::string& times,
                     size_t same_limit);

}  // namespace korch
