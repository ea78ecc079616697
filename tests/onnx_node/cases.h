// ONNX's test cases: a folder with model.onnx and test_data_set_<n>/{input,output}_<i>.pb.
#pragma once

#include <string>
#include <vector>

#include "korch/ir/graph.h"
#include "onnx.pb.h"

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

// A data set before it is imported.
struct OnnxDataSet {
  std::string name;
  onnx::proto::ModelProto model;  // its inputs declared as their data are
  std::vector<HostTensor> inputs, expected;
};
std::vector<OnnxDataSet> load_data_sets(const OnnxCase& c);

// Which inputs a model has at run time; all others are constants of the model. Tried in this order until
// korch can import the model.
enum class Binding { none, integers_after_first, all_after_first, all };
constexpr Binding kBindings[] = {Binding::none, Binding::integers_after_first, Binding::all_after_first,
                                 Binding::all};
bool is_bound(Binding binding, size_t index, const HostTensor& tensor);
// Turns the model inputs that are bound into initializers; returns the data of those that are left.
std::vector<HostTensor> bind_inputs(onnx::proto::ModelProto& model, Binding binding,
                                    const std::vector<HostTensor>& values);

// Empty if `actual` equals `expected` as ONNX's own runner demands: rtol 1e-3 and atol 1e-7 on floats (NaN
// equals NaN), equality on other types. Else what differs.
std::string difference(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected);

}  // namespace korch
