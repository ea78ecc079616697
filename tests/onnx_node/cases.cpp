#include "cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "korch/onnx/import.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/tensor_data.h"

namespace korch {
namespace {

namespace fs = std::filesystem;
namespace proto = onnx::proto;

constexpr double kAbsoluteTolerance = 1e-7;

// ONNX's own runner allows 1e-3. Of small floats two units in the last place: ONNX 1.12 made its bfloat16
// data by cutting bits off instead of rounding, and functions of several operators round after each.
double relative_tolerance(DType type) {
  return type == DType::bf16 ? 0x1p-6 : type == DType::f16 ? 0x1p-9 : 1e-3;
}

// The tensors <prefix>0.pb, <prefix>1.pb, ... of a data set.
std::vector<HostTensor> read_tensors(const fs::path& folder, const std::string& prefix) {
  std::vector<HostTensor> tensors;
  for (;;) {
    const fs::path path = folder / fmt::format("{}{}.pb", prefix, tensors.size());
    if (!fs::exists(path)) return tensors;
    proto::TensorProto tensor;
    if (!tensor.ParseFromString(read_file(path.string())))
      throw Error(ErrorKind::invalid, path.string() + " is no tensor");
    onnx::ExternalData none("");
    tensors.push_back(onnx::read_tensor(tensor, none, path.filename().string()));
  }
}

OnnxProblem import_bound(const proto::ModelProto& original, Binding binding,
                         const std::vector<HostTensor>& values) {
  proto::ModelProto model = original;
  OnnxProblem problem;
  problem.inputs = bind_inputs(model, binding, values);
  problem.graph = import_onnx_bytes(onnx::serialize(model));
  problem.all_inputs_bound = problem.inputs.empty() && !values.empty();
  return problem;
}

OnnxProblem import_problem(const proto::ModelProto& model, const std::vector<HostTensor>& values) {
  std::optional<Error> first_error;
  for (const Binding binding : kBindings) {
    try {
      return import_bound(model, binding, values);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      if (!first_error) first_error = error;
    }
  }
  throw *first_error;
}

// Old models list their initializers among the inputs.
void drop_initialized_inputs(proto::GraphProto& graph) {
  std::set<std::string> initialized;
  for (const proto::TensorProto& tensor : graph.initializer()) initialized.insert(tensor.name());
  auto& inputs = *graph.mutable_input();
  const auto is_initialized = [&](const proto::ValueInfoProto& input) {
    return initialized.contains(input.name());
  };
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), is_initialized), inputs.end());
}

// What korch cannot have a graph for, whatever its importer says.
void require_tensors(const proto::ModelProto& model) {
  for (const auto* list : {&model.graph().input(), &model.graph().output()})
    for (const proto::ValueInfoProto& value : *list)
      if (!value.type().has_tensor_type()) throw Error(ErrorKind::unsupported, "a sequence or an optional");
}

// ONNX 1.12 stores the data of bfloat16 inputs and outputs as uint16.
HostTensor as_declared(const HostTensor& tensor, const proto::ValueInfoProto& value) {
  if (onnx::dtype_of(value.type().tensor_type().elem_type()) != DType::bf16) return tensor;
  HostTensor bits(TensorType{DType::bf16, tensor.shape()});
  std::copy_n(tensor.data<std::byte>(), tensor.bytes(), bits.mutable_data<std::byte>());
  return bits;
}

OnnxDataSet load_data_set(proto::ModelProto model, const fs::path& folder) {
  drop_initialized_inputs(*model.mutable_graph());
  OnnxDataSet set{folder.filename().string(), std::move(model), read_tensors(folder, "input_"),
                  read_tensors(folder, "output_")};
  proto::GraphProto& graph = *set.model.mutable_graph();
  if (static_cast<int>(set.inputs.size()) != graph.input_size())
    throw Error(ErrorKind::unsupported, "inputs that are left out");
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    // Some models leave extents open or declare others than their data have.
    proto::ValueInfoProto& input = *graph.mutable_input(static_cast<int>(i));
    set.inputs[i] = as_declared(set.inputs[i], input);
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (int64_t extent : set.inputs[i].shape()) shape.add_dim()->set_dim_value(extent);
  }
  for (size_t i = 0; i < set.expected.size(); ++i)
    set.expected[i] = as_declared(set.expected[i], graph.output(static_cast<int>(i)));
  return set;
}

// Of what the largest element is, what is left of sums that cancel depends on their order.
double absolute_tolerance(const HostTensor& expected) {
  double largest = 0;
  for (int64_t i = 0; is_float(expected.dtype()) && i < expected.elements(); ++i) {
    const double element = std::fabs(element_as_double(expected, i));
    if (std::isfinite(element)) largest = std::max(largest, element);
  }
  return kAbsoluteTolerance + largest * std::numeric_limits<float>::epsilon();
}

bool equal_elements(const HostTensor& a, const HostTensor& b, int64_t i, double absolute) {
  if (!is_float(a.dtype())) return element_as_int(a, i) == element_as_int(b, i);
  const double x = element_as_double(a, i), y = element_as_double(b, i);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  return std::fabs(x - y) <= absolute + relative_tolerance(a.dtype()) * std::fabs(y);
}

}  // namespace

std::vector<OnnxCase> find_cases(const std::string& root) {
  std::vector<OnnxCase> cases;
  if (!fs::exists(root)) return cases;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "model.onnx") continue;
    const fs::path folder = entry.path().parent_path();
    cases.push_back({fs::relative(folder, root).string(), folder.string()});
  }
  std::sort(cases.begin(), cases.end(), [](const OnnxCase& a, const OnnxCase& b) { return a.name < b.name; });
  return cases;
}

bool is_bound(Binding binding, size_t index, const HostTensor& tensor) {
  switch (binding) {
    case Binding::none:
      return false;
    case Binding::integers_after_first:
      return index > 0 && !is_float(tensor.dtype());
    case Binding::all_after_first:
      return index > 0;
    case Binding::all:
      return true;
  }
  return false;
}

std::vector<HostTensor> bind_inputs(proto::ModelProto& model, Binding binding,
                                    const std::vector<HostTensor>& values) {
  proto::GraphProto& graph = *model.mutable_graph();
  google::protobuf::RepeatedPtrField<proto::ValueInfoProto> left;
  std::vector<HostTensor> data;
  for (size_t i = 0; i < values.size(); ++i) {
    const proto::ValueInfoProto& input = graph.input(static_cast<int>(i));
    if (is_bound(binding, i, values[i])) {
      *graph.add_initializer() = onnx::write_tensor(values[i], input.name());
    } else {
      *left.Add() = input;
      data.push_back(values[i]);
    }
  }
  graph.mutable_input()->Swap(&left);
  return data;
}

std::vector<OnnxDataSet> load_data_sets(const OnnxCase& c) {
  const proto::ModelProto model = onnx::load_model_file(c.folder + "/model.onnx");
  require_tensors(model);
  std::vector<OnnxDataSet> sets;
  for (int set = 0;; ++set) {
    const fs::path folder = fs::path(c.folder) / fmt::format("test_data_set_{}", set);
    if (!fs::exists(folder)) return sets;
    sets.push_back(load_data_set(model, folder));
  }
}

std::vector<OnnxProblem> load_problems(const OnnxCase& c) {
  std::vector<OnnxProblem> problems;
  for (OnnxDataSet& set : load_data_sets(c)) {
    problems.push_back(import_problem(set.model, set.inputs));
    problems.back().data_set = set.name;
    problems.back().expected = std::move(set.expected);
  }
  return problems;
}

std::string difference(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected) {
  if (actual.size() != expected.size())
    return fmt::format("{} outputs, not {}", actual.size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    const HostTensor &a = actual[k], &b = expected[k];
    if (a.type() != b.type())
      return fmt::format("output {} is {}, not {}", k, to_string(a.type()), to_string(b.type()));
    const double absolute = absolute_tolerance(b);
    for (int64_t i = 0; i < b.elements(); ++i)
      if (!equal_elements(a, b, i, absolute))
        return fmt::format("output {} {}: element {} is {}, not {}", k, to_string(a.type()), i,
                           element_as_double(a, i), element_as_double(b, i));
  }
  return {};
}

}  // namespace korch
