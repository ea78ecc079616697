#include "korch/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <set>
#include <unordered_map>

#include "korch/base/interrupt.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/tensor_data.h"

namespace korch {
namespace onnx {
namespace {

constexpr int64_t kMinOpset = 6;   // what came before had other attributes throughout
constexpr int64_t kMaxOpset = 22;  // the last whose changes the rules know

// What an operator reads and writes has to be in memory at once, and so do the graph's inputs and outputs.
void require_operators_fit_memory(const Graph& graph) {
  const auto types = [&](const std::vector<ValueId>& some, const std::vector<ValueId>& others) {
    std::set<ValueId> values(some.begin(), some.end());
    values.insert(others.begin(), others.end());
    std::vector<TensorType> result;
    for (ValueId value : values) result.push_back(graph.value(value).type);
    return result;
  };
  require_fits_memory(types(graph.inputs(), graph.outputs()), "the graph, for its inputs and outputs,");
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const std::string label = node.origins.empty() ? "" : node.origins[0] + " ";
    require_fits_memory(types(node.inputs, node.outputs), fmt::format("node {}({})", label, name(node.op)));
  }
}

class Importer {
 public:
  Importer(proto::ModelProto model, const std::string& folder, const ImportOptions& options)
      : model_(std::move(model)), external_(folder), options_(options) {}

  Graph run() {
    read_opset();
    read_initializers();
    read_inputs();
    index_ = index_model(model_.graph(), sources_);
    if (model_.graph().output_size() == 0) throw Error(ErrorKind::invalid, "the graph has no outputs");
    std::erase_if(operands_, [&](const auto& entry) { return !used(entry.first); });
    for (int node : index_.order) import_node(node);
    throw_unsupported();
    set_outputs();
    Graph result = builder_.graph().compact();
    verify(result, Stage::imported);
    require_operators_fit_memory(result);
    return result;
  }

 private:
  void read_opset();
  void read_initializers();
  void read_inputs();
  Shape input_shape(const proto::ValueInfoProto& input) const;
  void add_source(const std::string& name, Operand operand, const char* what);
  void import_node(int number);
  std::vector<Operand> apply_rule(Rule rule, NodeImport& node, const std::string& description);
  std::optional<std::vector<Operand>> node_inputs(const proto::NodeProto& node) const;
  void release_inputs(const proto::NodeProto& node);
  void set_outputs();
  void throw_unsupported() const;
  bool used(const std::string& name) const { return !name.empty() && index_.uses.contains(name); }

  proto::ModelProto model_;
  ExternalData external_;
  const ImportOptions& options_;
  int64_t opset_ = 0;
  GraphBuilder builder_;
  ModelIndex index_;
  std::vector<std::string> sources_;
  std::unordered_map<std::string, Operand>
      operands_;  // by ONNX value name; without those nobody reads any more
  std::vector<std::string> unsupported_;
};

void Importer::read_opset() {
  for (const auto& entry : model_.opset_import()) {
    if (entry.domain().empty() || entry.domain() == "ai.onnx") opset_ = entry.version();
  }
  if (opset_ == 0) throw Error(ErrorKind::invalid, "the model does not say which ONNX opset it uses");
  if (opset_ < kMinOpset || opset_ > kMaxOpset)
    throw Error(ErrorKind::unsupported,
                fmt::format("opset {}; korch reads {} to {}: export the model again with one of them", opset_,
                            kMinOpset, kMaxOpset));
}

void Importer::add_source(const std::string& name, Operand operand, const char* what) {
  if (name.empty()) throw Error(ErrorKind::invalid, fmt::format("{} without a name", what));
  if (!operands_.emplace(name, operand).second)
    throw Error(ErrorKind::invalid,
                fmt::format("two initializers or graph inputs are called {}", quoted_name(name)));
  if (operand != nullptr) builder_.name(operand, name);
  sources_.push_back(name);
}

void Importer::read_initializers() {
  proto::GraphProto& graph = *model_.mutable_graph();
  for (proto::TensorProto& tensor : *graph.mutable_initializer()) {
    throw_if_interrupted();
    const std::string what = "initializer " + quoted_name(tensor.name());
    if (!dtype_of(tensor.data_type())) {
      unsupported_.push_back(fmt::format("{}: element type {}", what, data_type_name(tensor.data_type())));
      add_source(tensor.name(), nullptr, "an initializer");
      continue;
    }
    add_source(tensor.name(), builder_.constant(read_tensor(tensor, external_, what)), "an initializer");
    std::string().swap(*tensor.mutable_raw_data());  // large weights are not kept twice
  }
  for (const auto& sparse : graph.sparse_initializer()) {
    unsupported_.push_back("sparse initializer " + quoted_name(sparse.values().name()));
    add_source(sparse.values().name(), nullptr, "a sparse initializer");
  }
}

Shape Importer::input_shape(const proto::ValueInfoProto& input) const {
  const auto given = options_.shapes.find(input.name());
  const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
  if (!input.type().tensor_type().has_shape()) {
    if (given != options_.shapes.end()) return given->second;
    throw Error(ErrorKind::invalid,
                fmt::format("graph input {} has no shape: give one, e.g. --shape {}=1x3x224x224",
                            quoted_name(input.name()), input.name()));
  }
  if (given != options_.shapes.end() && static_cast<int>(given->second.size()) != declared.dim_size())
    throw Error(ErrorKind::invalid,
                fmt::format("graph input {} has rank {}, but the given shape {} has rank {}",
                            quoted_name(input.name()), declared.dim_size(), to_string(given->second),
                            given->second.size()));
  Shape shape;
  std::vector<std::string> shown, open;
  for (const auto& dimension : declared.dim()) {
    const size_t axis = shape.size();
    const bool fixed = dimension.has_dim_value() && dimension.dim_value() >= 0;
    const std::string name = dimension.dim_param().empty() ? "?" : dimension.dim_param();
    shown.push_back(fixed ? std::to_string(dimension.dim_value()) : name);
    shape.push_back(fixed ? dimension.dim_value() : 1);
    if (!fixed) open.push_back(fmt::format("{} (axis {})", quoted_name(name), axis));
    if (given == options_.shapes.end()) continue;
    if (fixed && given->second[axis] != dimension.dim_value())
      throw Error(ErrorKind::invalid,
                  fmt::format("graph input {} has extent {} on axis {}, but the given shape {} says {}",
                              quoted_name(input.name()), dimension.dim_value(), axis,
                              to_string(given->second), given->second[axis]));
  }
  if (given != options_.shapes.end()) return given->second;
  if (!open.empty())
    throw Error(
        ErrorKind::invalid,
        fmt::format(
            "graph input {} of shape [{}] leaves dimensions open: {}; give its shape, e.g. --shape {}={}",
            quoted_name(input.name()), fmt::join(shown, "x"), fmt::join(open, ", "), input.name(),
            to_string(shape)));
  return shape;
}

void Importer::read_inputs() {
  const std::set<std::string> constants(sources_.begin(), sources_.end());
  std::set<std::string> names;
  for (const auto& input : model_.graph().input()) {
    if (!names.insert(input.name()).second)
      throw Error(ErrorKind::invalid,
                  fmt::format("two graph inputs are called {}", quoted_name(input.name())));
    if (constants.contains(input.name())) continue;  // a default value: constant for us
    const auto& type = input.type().tensor_type();
    const std::optional<DType> dtype = dtype_of(type.elem_type());
    if (!input.type().has_tensor_type() || !dtype) {
      unsupported_.push_back(fmt::format("graph input {}: {}", quoted_name(input.name()),
                                         input.type().has_tensor_type()
                                             ? "element type " + data_type_name(type.elem_type())
                                             : "not a tensor"));
      add_source(input.name(), nullptr, "a graph input");
      continue;
    }
    const TensorType tensor_type{*dtype, input_shape(input)};
    try {
      require_fits_memory(tensor_type);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("graph input {}: {}", quoted_name(input.name()), error.what()));
    }
    add_source(input.name(), builder_.input(tensor_type, input.name()), "a graph input");
  }
  for (const auto& [name, shape] : options_.shapes) {
    if (!names.contains(name) || constants.contains(name))
      throw Error(ErrorKind::usage,
                  fmt::format("a shape is given for {}, but the model has no such input", quoted_name(name)));
  }
}

// None when one of them could not be imported.
std::optional<std::vector<Operand>> Importer::node_inputs(const proto::NodeProto& node) const {
  std::vector<Operand> inputs;
  for (const std::string& name : node.input()) {
    const Operand operand = name.empty() ? nullptr : operands_.at(name);
    if (!name.empty() && operand == nullptr) return std::nullopt;
    inputs.push_back(operand);
  }
  return inputs;
}

void Importer::release_inputs(const proto::NodeProto& node) {
  for (const std::string& name : node.input()) {
    if (!name.empty() && --index_.uses.at(name) == 0) operands_.erase(name);
  }
}

// The outputs, or nothing when the node is not supported.
std::vector<Operand> Importer::apply_rule(Rule rule, NodeImport& node, const std::string& description) {
  try {
    std::vector<Operand> outputs = rule(node);
    node.require_all_attributes_read();
    return outputs;
  } catch (const Error& error) {
    const std::string message = fmt::format("{}: {}", description, error.what());
    if (error.kind() != ErrorKind::unsupported) throw Error(error.kind(), message);
    unsupported_.push_back(message);
    return {};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::resource, description + ": out of memory");
  }
}

void Importer::import_node(int number) {
  throw_if_interrupted();
  const proto::NodeProto& proto = model_.graph().node(number);
  const std::string description = describe(proto, index_.labels[number]);
  std::vector<Operand> outputs;
  const Rule rule = find_rule(proto.domain(), proto.op_type());
  if (rule == nullptr) unsupported_.push_back(description);
  const auto inputs = node_inputs(proto);
  if (rule != nullptr && inputs) {
    std::vector<bool> used_outputs;
    for (const std::string& name : proto.output()) used_outputs.push_back(used(name));
    NodeImport node(proto, index_.labels[number], opset_, *inputs, used_outputs, builder_, external_);
    outputs = apply_rule(rule, node, description);
  }
  const bool imported = !outputs.empty();
  outputs.resize(proto.output_size());  // those of a refused node are null
  for (int i = 0; i < proto.output_size(); ++i) {
    const std::string& name = proto.output(i);
    if (!used(name)) continue;
    if (imported && outputs[i] == nullptr)
      throw Error(ErrorKind::invalid, fmt::format("{} has no output {} in opset {}", description, i, opset_));
    operands_[name] = outputs[i];
    if (imported) builder_.name(outputs[i], name);
  }
  release_inputs(proto);
}

void Importer::throw_unsupported() const {
  if (unsupported_.empty()) return;
  throw Error(ErrorKind::unsupported, fmt::format("the model uses what korch does not support:\n  {}",
                                                  fmt::join(unsupported_, "\n  ")));
}

void Importer::set_outputs() {
  std::vector<ValueId> values;
  std::vector<std::string> names;
  for (const auto& output : model_.graph().output()) {
    if (std::find(names.begin(), names.end(), output.name()) != names.end())
      throw Error(ErrorKind::invalid,
                  fmt::format("two graph outputs are called {}", quoted_name(output.name())));
    const Operand& operand = operands_.at(output.name());
    if (operand == nullptr)
      throw Error(ErrorKind::unsupported,
                  fmt::format("graph output {} has a type korch does not know", quoted_name(output.name())));
    const auto& declared = output.type().tensor_type();
    if (declared.elem_type() != 0 && dtype_of(declared.elem_type()) != operand->dtype())
      throw Error(ErrorKind::invalid,
                  fmt::format("graph output {} is declared as {}, but its node computes {}",
                              quoted_name(output.name()), data_type_name(declared.elem_type()),
                              to_string(operand->type)));
    values.push_back(builder_.value(operand));
    names.push_back(output.name());
  }
  builder_.graph().set_outputs(std::move(values), std::move(names));
}

}  // namespace
}  // namespace onnx

Graph import_onnx(const std::string& path, const ImportOptions& options) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return onnx::Importer(onnx::load_model_file(path), folder.empty() ? "." : folder, options).run();
}

Graph import_onnx_bytes(std::string_view bytes, const ImportOptions& options) {
  return onnx::Importer(onnx::parse_model(bytes, "the model"), "", options).run();
}

}  // namespace korch
