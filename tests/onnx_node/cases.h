// ONNX's test cases: a folder with model.onnx and test_data_set_<n>/{input,output}_<i>.pb.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch {

struct OnnxCase {
  std::string name;    // "node/test_relu"
  std::string folder;  // where model.onnx lies
};

// All cases below `root`, sorted by name.
std::vector<OnnxCase> find_cases(const std::string& root);

// One data set of a case, imported. Parameters that korch needs to know when compiling (axes, shapes, ...)
// are inputs in many of these models; `graph` then has them as constants, and `inputs` has only what is left.
struct OnnxProblem {
  std::string data_set;
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> expected;
  bool all_inputs_bound = false;  // nothing is left to compute: only constant folding is tested
};

// Throws Error{unsupported} where korch does not know an operator or a type of the case.
std::vector<OnnxProblem> load_problems(const OnnxCase& c);

// Empty if `actual` equals `expected` as ONNX's own runner demands: rtol 1e-3 and atol 1e-7 on floats (NaN
// equals NaN), equality on other types. Else what differs.
std::string difference(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected);

}  // namespace korch
