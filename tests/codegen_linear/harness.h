// Runs a candidate's kernels and compares them with the interpreter in float64.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "korch/codegen/implementation.h"

namespace korch::testing {

// All live nodes of the graph but constants, as one candidate: reads the graph's inputs, makes its outputs.
Candidate whole_graph(const Graph& graph);

struct CheckOptions {
  Isa isa = Isa::portable;
  int threads = 2;  // what the kernels are sliced for; slices run one after the other, in odd order
  Accuracy accuracy = Accuracy::standard;
  double tolerance = 1e-5;  // of the error, over the root mean square of the result or 1
  int64_t seed = 1;
  int32_t status = 0;  // what the kernels return; with another one results are not looked at
  int64_t l2_bytes = 1 << 20,
          l3_bytes = 32 << 20;  // small ones make small tensors take the ways of large ones
  bool rescheduled = false;     // other schedules than those that are listed, instead
  std::vector<std::shared_ptr<const block::PlacedGraph>> structures = {};  // of the whole graph
};

// Generates, compiles and runs every implementation of `family` that lists for the candidate, on `inputs` and
// random ones for what is missing of them, with the buffers ending at unmapped pages. NaN agrees with NaN, an
// infinity with itself. Returns how many ran (a library may decline); failures are reported through
// GoogleTest.
int check_family(const Graph& graph, const std::string& family, const CheckOptions& options = {},
                 std::vector<HostTensor> inputs = {});

HostTensor random_tensor(const TensorType& type, int64_t seed, double scale = 1.0);

// Without those whose instructions only products of bfloat16 take (bfloat16_products_test.cpp).
std::vector<Isa> isas_that_run_here();
// Without the portable one, unless it is all there is: for suites of many shapes.
std::vector<Isa> vector_isas();

}  // namespace korch::testing
