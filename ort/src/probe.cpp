#include "probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <unordered_map>

#include "korch/base/printable.h"
#include "korch/interp/work.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/rules.h"

namespace korch::ort {
namespace {

using onnx::Operand;

constexpr int64_t kOldestOpset = 6;                        // as the import
constexpr size_t kMostKnownBytes = 64 << 10;               // larger constants parameterize no operator
constexpr int64_t kMostFoldingGrowth = int64_t{16} << 20;  // bytes; shapes need little
constexpr int kOutside = -1;                               // the group of what is in none

TensorType tensor_type(const proto::TypeProto::Tensor& type) {
  TensorType result{*onnx::dtype_of(type.elem_type()), {}};
  for (const auto& dimension : type.shape().dim()) result.shape.push_back(dimension.dim_value());
  return result;
}

// Imports the nodes one after the other as far as it goes; what a refused node makes, or one of another
// group, is an input of its declared type.
class Probe {
 public:
  Probe(const Network& network, const std::vector<int>& group)
      : network_(network), group_(group), builder_(kMostFoldingGrowth, kMaxFoldingWork), external_("") {
    for (size_t i = 0; i < network.nodes.size(); ++i)
      for (const std::string& name : network.nodes[i].input()) readers_[name].insert(group[i]);
    for (const std::string& name : network.outputs) readers_[name].insert(kOutside);
  }

  std::vector<std::optional<Refusal>> run() {
    std::vector<std::optional<Refusal>> result;
    for (size_t i = 0; i < network_.nodes.size(); ++i) result.push_back(import_node(i));
    return result;
  }

 private:
  std::optional<Refusal> import_node(size_t number);
  std::optional<Refusal> refusal_of_types(const proto::NodeProto& node) const;
  bool is_sequence(const std::string& name) const;
  Operand operand(const std::string& name, int group);
  void check_made(const std::string& name, const Operand& computed, int group) const;
  bool used(const std::string& name) const { return !name.empty() && readers_.contains(name); }

  struct Made {
    Operand operand;
    int group;
  };
  const Network& network_;
  const std::vector<int>& group_;
  onnx::GraphBuilder builder_;
  onnx::ExternalData external_;
  std::unordered_map<std::string, std::set<int>> readers_;  // of a value, their groups
  std::unordered_map<std::string, Made> made_;
  std::unordered_map<std::string, Operand> given_;
  std::set<std::string> dequantized_;
};

// All that read it are in the group of its maker (check_made).
bool Probe::is_sequence(const std::string& name) const {
  const auto found = made_.find(name);
  return found != made_.end() && found->second.operand->sequence;
}

std::optional<Refusal> Probe::refusal_of_types(const proto::NodeProto& node) const {
  std::set<std::string> open;
  const auto look = [&](const std::string& name) -> std::optional<Refusal> {
    if (network_.constants.contains(name)) {
      const int32_t type = network_.constants.at(name).header.data_type();
      if (onnx::dtype_of(type)) return std::nullopt;
      return Refusal{fmt::format("{}: constant of type {}", label(node), onnx::data_type_name(type)), {}};
    }
    const std::vector<std::string> parts = open_parts(network_, name);
    open.insert(parts.begin(), parts.end());
    if (open.contains("type"))
      return Refusal{fmt::format("{}: {} is no tensor", label(node), onnx::quoted_name(name)), {}};
    const int32_t type = network_.types.at(name).tensor_type().elem_type();
    if (onnx::dtype_of(type)) return std::nullopt;
    return Refusal{fmt::format("{}: element type {}", label(node), onnx::data_type_name(type)), {}};
  };
  for (const std::string& name : node.input())
    if (!name.empty() && !is_sequence(name))
      if (const auto refusal = look(name)) return refusal;
  for (const std::string& name : node.output())
    if (used(name) && network_.types.contains(name))
      if (const auto refusal = look(name)) return refusal;
  if (open.empty()) return std::nullopt;
  return Refusal{fmt::format("{}: its shapes are open", label(node)), open};
}

// Of a value that a node of `group` reads.
Operand Probe::operand(const std::string& name, int group) {
  const auto found = made_.find(name);
  if (found != made_.end() && found->second.group == group) return found->second.operand;
  const auto known = given_.find(name);
  if (known != given_.end()) return known->second;
  const auto constant = network_.constants.find(name);
  Operand result;
  if (constant == network_.constants.end()) {
    result = builder_.input(tensor_type(network_.types.at(name).tensor_type()), printable(name));
  } else {
    proto::TensorProto tensor = constant->second.header;
    if (constant->second.bytes.size() <= kMostKnownBytes) {
      tensor.set_raw_data(constant->second.bytes.data(), constant->second.bytes.size());
      result = builder_.constant(onnx::read_tensor(tensor, external_, onnx::quoted_name(name)));
    } else {
      const Shape shape(tensor.dims().begin(), tensor.dims().end());
      result = builder_.input({*onnx::dtype_of(tensor.data_type()), shape}, printable(name));
    }
  }
  return given_[name] = result;
}

// Sequences exist within a group alone: ONNX Runtime would have to hand them over.
void Probe::check_made(const std::string& name, const Operand& computed, int group) const {
  const std::set<int>& readers = readers_.at(name);
  if (computed != nullptr && computed->sequence && readers == std::set<int>{group}) return;
  const auto declared = network_.types.find(name);
  if (onnx::is_bounded(computed))
    throw Error(ErrorKind::unsupported,
                fmt::format("an extent of output {} depends on the data", onnx::quoted_name(name)));
  if (computed == nullptr || computed->sequence || declared == network_.types.end())
    throw Error(ErrorKind::unsupported, fmt::format("output {} is no tensor", onnx::quoted_name(name)));
  const TensorType type = tensor_type(declared->second.tensor_type());
  if (!(computed->type == type))
    throw Error(ErrorKind::unsupported,
                fmt::format("korch computes {} for output {}, ONNX Runtime {}", to_string(computed->type),
                            onnx::quoted_name(name), to_string(type)));
}

std::optional<Refusal> Probe::import_node(size_t number) {
  const proto::NodeProto& node = network_.nodes[number];
  const int64_t opset = std::min(network_.opset, onnx::kLatestOpset);
  if (group_[number] == kOutside) return std::nullopt;
  if (network_.is_taken[number]) return Refusal{};
  const bool quantizes = node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear";
  if (node.op_type() == "DequantizeLinear") dequantized_.insert(node.output(0));
  const onnx::RuleRow* row = onnx::find_rule(node.domain(), node.op_type());
  if (row == nullptr || opset < row->since)
    return Refusal{fmt::format("{}: korch does not know the operator", label(node)), {}};
  if (network_.opset < kOldestOpset || network_.versions[number] > std::min(row->version, row->until))
    return Refusal{fmt::format("{}: korch does not know the operator of opset {}", label(node),
                               network_.versions[number]),
                   {}};
  if (quantizes || std::any_of(node.input().begin(), node.input().end(),
                               [&](const std::string& name) { return dequantized_.contains(name); }))
    return Refusal{fmt::format("{}: it may become a quantized operator of ONNX Runtime", label(node)), {}};
  if (auto refusal = refusal_of_types(node)) return refusal;
  try {
    std::vector<Operand> inputs;
    for (const std::string& name : node.input())
      inputs.push_back(name.empty() ? nullptr : operand(name, group_[number]));
    std::vector<bool> used_outputs;
    for (const std::string& name : node.output()) used_outputs.push_back(used(name));
    onnx::NodeImport import(node, label(node), opset, inputs, used_outputs, builder_, external_,
                            [](const proto::GraphProto&, std::vector<Operand>, const std::string&, bool,
                               const onnx::Captured&) -> std::vector<Operand> {
                              throw Error(ErrorKind::unsupported, "its subgraphs stay with ONNX Runtime");
                            });
    std::vector<Operand> outputs = row->rule(import);
    import.require_all_read();
    outputs.resize(node.output_size());
    for (int i = 0; i < node.output_size(); ++i)
      if (used_outputs[i]) check_made(node.output(i), outputs[i], group_[number]);
    for (int i = 0; i < node.output_size(); ++i)
      if (used_outputs[i]) made_[node.output(i)] = {outputs[i], group_[number]};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    return Refusal{fmt::format("{}: {}", label(node), error.what()), {}};
  } catch (const std::bad_alloc&) {
    return Refusal{fmt::format("{}: out of memory", label(node)), {}};
  }
  return std::nullopt;
}

}  // namespace

std::string label(const proto::NodeProto& node) {
  const std::string name = !node.name().empty()     ? node.name()
                           : node.output_size() > 0 ? node.output(0)
                                                    : std::string();
  return onnx::describe(node, name);
}

std::vector<std::optional<Refusal>> probe(const Network& network, const std::vector<int>& group) {
  return Probe(network, group).run();
}

}  // namespace korch::ort
