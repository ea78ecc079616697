// Kernels as jobs for a visit to a GPU (bench/gpu): images, a description of every launch and its arguments,
// which the visit makes on the device, and what sampled elements of the results are by the interpreter in
// float64.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "../candidate_graph.h"
#include "../nvrtc.h"
#include "korch/base/json.h"
#include "korch/codegen/implementation.h"

namespace korch::testing {

struct VisitOptions {
  std::vector<std::string> architectures;  // "sm_80", "sm_90"; "emulated" alone: images are text
  std::string device_source;               // bench/gpu/device.cu
  int64_t most_elements = INT64_MAX;       // arguments of a kernel have, without the packings' padding
  double most_flops = 1e300;
  size_t most_kernels = SIZE_MAX;  // of a model
  size_t samples = 4096;           // of each output
};

// Fills a folder; write() ends with jobs.json.
class VisitJobs {
 public:
  VisitJobs(std::string folder, VisitOptions options);

  // Kernels of the greedy plan's groups, each in the first and the last implementation; equal ones once.
  void add_model(const std::string& model);
  // Of linear_cases.h: a kernel of every family, for every set of packings that its constants have there.
  void add_cases();
  void write();

 private:
  void add_candidate(const std::string& model, const Graph& graph, const Candidate& candidate);
  bool add_kernel(const std::string& model, const CandidateGraph& made, const Candidate& whole,
                  const Implementation& way, nlohmann::json& expected);
  nlohmann::json expected_of(const Graph& graph, const Candidate& whole, double flops, Range* range);
  nlohmann::json constant_argument(const CandidateGraph& made, ValueId constant, const Packing& packing);
  void refuse(const std::string& model, const std::string& what, const std::string& reason);
  void compile_waiting();

  const std::string folder_;
  const VisitOptions options_;
  std::vector<CudaKernel> waiting_;
  nlohmann::json jobs_ = nlohmann::json::array(), refused_ = nlohmann::json::array();
  nlohmann::json uses_ = nlohmann::json::object(), report_ = nlohmann::json::object();
  std::string values_;  // of expected results and of literal constants, one after the other
  size_t images_ = 0, too_large_ = 0;
  std::unordered_set<Hash, HashHasher> added_;  // candidates, by canonical_hash
};

}  // namespace korch::testing
