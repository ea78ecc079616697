// Generates, compiles and runs a kernel of the family "loop" (or "opaque") and compares it with the
// interpreter in float64. Every buffer ends at an unmapped page, so that an access out of bounds kills the
// test.
#pragma once

#include <string>
#include <vector>

#include "expect_close.h"
#include "korch/codegen/implementation.h"

namespace korch::testing {

// All live nodes of the graph but constants as one candidate.
Candidate whole_graph(const Graph& graph);

Device test_target(Isa isa, int threads = 2);
std::vector<Isa> runnable_isas();  // prints what this machine cannot run

// Those of one family; linear_generic also where it stands back behind others.
std::vector<Implementation> listed(const Graph& graph, const Candidate& candidate, const Device& target,
                                   const std::string& family);

// Runs the kernel on row-major tensors, laying them out as the implementation says. The status is the
// kernel's.
struct RunResult {
  int32_t status = 0;
  std::vector<HostTensor> outputs;
};
RunResult run_kernel(const Graph& graph, const Candidate& candidate, const Kernel& kernel,
                     const Implementation& implementation, const Device& target,
                     const std::vector<HostTensor>& inputs);

// Uniform in [-scale, scale]; integers in [0, scale), bools 0 or 1.
HostTensor random_tensor(const TensorType& type, uint64_t seed, double scale = 2);

struct CheckOptions {
  double tolerance = 3e-6;
  double scale = 2;
  std::string family = "loop";
  bool must_run = true;  // every listed implementation; false: refusals are fine
};
// Checks all implementations on all instruction sets of this machine with random inputs; returns how many
// kernels ran.
int check(const Graph& graph, const CheckOptions& options = {});
int check_with(const Graph& graph, const std::vector<HostTensor>& inputs, const CheckOptions& options = {});
int check_text(const std::string& text, const CheckOptions& options = {});

}  // namespace korch::testing
