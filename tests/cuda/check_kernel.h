// Runs one kernel on a GPU and compares every element of its results with the interpreter in float64.
#pragma once

#include <map>
#include <string>

#include "candidate_graph.h"
#include "device.h"
#include "korch/codegen/cuda/cuda_kernel.h"

namespace korch::testing {

// Random inputs of a candidate (whole_candidate of a graph) and what they give. Positive ones where others
// give NaN or results that float32 cannot know (1 / a sum that cancels): where inputs one ulp away change the
// results by much.
struct Reference {
  std::map<ValueId, HostTensor> values;  // inputs, constants and outputs; float results as f64
  bool nan = false;                      // among the results
  std::vector<int64_t> rows;             // not empty: along the first axis, of outputs only these
  Range range;                           // of the inputs
};
enum class Trial { until_stable, once };  // once: with the first range, whatever its results
Reference reference_of(const Graph& graph, const Candidate& candidate, Trial trial = Trial::until_stable);
constexpr double kTolerance = 2e-5;  // times (scale_of + |expected|): long float32 sums against float64
double scale_of(const HostTensor& tensor);  // 1, or the root mean square: sums may cancel
// Of `count` rows spread over the first axis, where rows of the first input give rows of the results.
Reference reference_of_rows(const Graph& graph, const Candidate& candidate, int64_t count);

// CudaKernel; its functions are one per phase.
struct Launch {
  std::vector<Gpu::Function> functions;
  std::vector<int64_t> grids;
  int64_t threads = 1, workspace_bytes = 0;
  std::vector<int64_t> temporary_bytes;
  std::vector<Packing> constant_packing;
  std::vector<Layout> input_layouts, output_layouts;
};

Launch launch_of(const CudaKernel& kernel, const Implementation& implementation);

struct KernelCheck {
  std::string problem;     // empty when all is right
  double worst_error = 0;  // relative to 1, or the root mean square of the results, + |expected|
  double moved_bytes = 0;  // arguments, each once
  double best_us = 0;      // of `runs`
};
KernelCheck check_kernel(Gpu& device, const Graph& graph, const Candidate& candidate,
                         const Reference& reference, const Launch& launch, int runs = 1);

}  // namespace korch::testing
