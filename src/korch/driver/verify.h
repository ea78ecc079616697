// Executable against interpreter: random inputs, the network in float64 as the reference.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct VerifyOptions {
  int samples = 3;
  uint64_t seed = 1;
};

struct OutputError {
  std::string output;
  double max_error = 0;  // |executable - float64|
  double tolerance = 0;  // max(20 x noise, 1e-5 x std)
  double noise = 0;      // |float32 interpreter - float64|, the largest
  double std_deviation = 0;
};

struct VerifyResult {
  bool passed = true;
  std::vector<OutputError> outputs;  // the worst of the samples, one per output
  std::string first_wrong_kernel;    // when not passed: what `bisect` found
};

// How floats are distributed: normal(0, 1), or uniform in [0, 1) as pictures are.
enum class FloatInputs { normal, unit };

// Random inputs for a graph: floats, bools, integers within the range the graph implies (indices of gathers).
std::vector<HostTensor> random_inputs(const Graph& graph, uint64_t seed,
                                      FloatInputs floats = FloatInputs::normal);

VerifyResult compare_executable(const Graph& imported, const std::string& executable,
                                const VerifyOptions& options);

// As above; throws Error{accuracy} naming the output, the error and the first wrong kernel.
void verify_executable(const Graph& imported, const std::string& executable, const VerifyOptions& options);

}  // namespace korch
