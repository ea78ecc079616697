#include "support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <new>
#include <unordered_map>

#include "grouping.h"
#include "korch/base/printable.h"
#include "korch/interp/work.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/rules.h"

namespace korch::ort {
namespace {

using onnx::Operand;

constexpr int64_t kOldestOpset = 6;                        // as the import
constexpr size_t kMostKnownBytes = 64 << 10;               // larger constants parameterize no operator
constexpr int64_t kMostFoldingGrowth = int64_t{16} << 20;  // bytes; shapes need little

// Work that makes a group worth a call: an operator that computes counts 1, one of linear_rules as many.
constexpr int kWorthwhile = 3;

std::string label(const proto::NodeProto& node) {
  const std::string name = !node.name().empty()     ? node.name()
                           : node.output_size() > 0 ? node.output(0)
                                                    : std::string();
  return onnx::describe(node, name);
}

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
    for (const proto::NodeProto& node : network.nodes)
      for (const std::string& name : node.input()) ++uses_[name];
    for (const std::string& name : network.outputs) ++uses_[name];
  }

  std::vector<std::optional<Refusal>> run() {
    std::vector<std::optional<Refusal>> result;
    for (size_t i = 0; i < network_.nodes.size(); ++i) result.push_back(import_node(i));
    return result;
  }

 private:
  std::optional<Refusal> import_node(size_t number);
  std::optional<Refusal> refusal_of_types(const proto::NodeProto& node) const;
  Operand operand(const std::string& name, int group);
  void check_declared(const std::string& name, const Operand& computed) const;
  bool used(const std::string& name) const { return !name.empty() && uses_.contains(name); }

  struct Made {
    Operand operand;
    int group;
  };
  const Network& network_;
  const std::vector<int>& group_;  // per node; below 0: none, not tried
  onnx::GraphBuilder builder_;
  onnx::ExternalData external_;
  std::unordered_map<std::string, int> uses_;
  std::unordered_map<std::string, Made> made_;
  std::unordered_map<std::string, Operand> given_;
  std::set<std::string> dequantized_;
};

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
  for (const auto* names : {&node.input(), &node.output()})
    for (const std::string& name : *names)
      if (!name.empty() && (names == &node.input() || used(name)))
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

void Probe::check_declared(const std::string& name, const Operand& computed) const {
  const TensorType declared = tensor_type(network_.types.at(name).tensor_type());
  if (computed == nullptr || computed->sequence)
    throw Error(ErrorKind::unsupported, fmt::format("no tensor for output {}", onnx::quoted_name(name)));
  if (!(computed->type == declared))
    throw Error(ErrorKind::unsupported,
                fmt::format("korch computes {} for output {}, ONNX Runtime {}", to_string(computed->type),
                            onnx::quoted_name(name), to_string(declared)));
}

std::optional<Refusal> Probe::import_node(size_t number) {
  const proto::NodeProto& node = network_.nodes[number];
  const int64_t opset = std::min(network_.opset, onnx::kLatestOpset);
  if (group_[number] < 0) return std::nullopt;
  if (network_.is_taken[number]) return Refusal{};
  if (node.op_type() == "DequantizeLinear") dequantized_.insert(node.output(0));
  const onnx::RuleRow* row = onnx::find_rule(node.domain(), node.op_type());
  if (row == nullptr || opset < row->since)
    return Refusal{fmt::format("{}: korch does not know the operator", label(node)), {}};
  if (network_.opset < kOldestOpset || network_.versions[number] > row->until)
    return Refusal{fmt::format("{}: korch does not know the operator of opset {}", label(node),
                               network_.versions[number]),
                   {}};
  if (std::any_of(node.input().begin(), node.input().end(),
                  [&](const std::string& name) { return dequantized_.contains(name); }))
    return Refusal{fmt::format("{}: it may become a quantized operator of ONNX Runtime", label(node)), {}};
  if (auto refusal = refusal_of_types(node)) return refusal;
  try {
    std::vector<Operand> inputs;
    for (const std::string& name : node.input())
      inputs.push_back(name.empty() ? nullptr : operand(name, group_[number]));
    std::vector<bool> used_outputs;
    for (const std::string& name : node.output()) used_outputs.push_back(used(name));
    onnx::NodeImport import(node, label(node), opset, inputs, used_outputs, builder_, external_);
    std::vector<Operand> outputs = row->rule(import);
    import.require_all_read();
    outputs.resize(node.output_size());
    for (int i = 0; i < node.output_size(); ++i)
      if (used_outputs[i]) check_declared(node.output(i), outputs[i]);
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

std::vector<std::vector<int>> producers_of(const Network& network) {
  std::unordered_map<std::string, int> producer;
  std::vector<std::vector<int>> result(network.nodes.size());
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    for (const std::string& name : network.nodes[i].input()) {
      const auto found = producer.find(name);
      if (!name.empty() && found != producer.end()) result[i].push_back(found->second);
    }
    for (const std::string& name : network.nodes[i].output()) producer[name] = static_cast<int>(i);
  }
  return result;
}

bool is_among(const std::vector<onnx::RuleRow>& rows, const std::string& op_type) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const onnx::RuleRow& row) { return row.op_type == op_type; });
}

bool is_worthwhile(const Network& network, const std::vector<int>& group) {
  int work = 0;
  for (int node : group) {
    const std::string& op_type = network.nodes[node].op_type();
    const bool moves = is_among(onnx::shape_rules(), op_type) || is_among(onnx::layout_rules(), op_type) ||
                       is_among(onnx::sequence_rules(), op_type);
    work += is_among(onnx::linear_rules(), op_type) ? kWorthwhile : moves ? 0 : 1;
  }
  return work >= kWorthwhile;
}

}  // namespace

Support find_support(const Network& network) {
  const std::vector<std::vector<int>> producers = producers_of(network);
  Support support;
  support.refusals.resize(network.nodes.size());
  std::vector<int> group(network.nodes.size(), 0);
  // A node that reads a constant of another group's making may be refused when it no longer sees it; then
  // groups are made anew. Each round refuses one more node at least.
  for (bool changed = true; changed;) {
    changed = false;
    const auto refusals = Probe(network, group).run();
    for (size_t i = 0; i < refusals.size(); ++i) {
      if (!refusals[i]) continue;
      support.refusals[i] = refusals[i];
      changed = true;
    }
    std::vector<bool> wanted;
    for (const auto& refusal : support.refusals) wanted.push_back(!refusal);
    support.groups = convex_groups(producers, wanted);
    group.assign(group.size(), -1);
    for (size_t g = 0; g < support.groups.size(); ++g)
      for (int node : support.groups[g]) group[node] = static_cast<int>(g);
  }
  std::erase_if(support.groups, [&](const auto& nodes) { return !is_worthwhile(network, nodes); });
  return support;
}

std::string describe_group(const Network& network, const std::vector<int>& group) {
  return fmt::format("{} nodes, from {} to {}", group.size(), label(network.nodes[group.front()]),
                     label(network.nodes[group.back()]));
}

std::vector<std::string> describe_refusals(const Network& network, const Support& support) {
  struct Kind {
    std::string example;
    int count = 0;
  };
  std::map<std::string, Kind> kinds;
  std::set<std::string> open;
  int open_count = 0;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const auto& refusal = support.refusals[i];
    if (!refusal || refusal->what.empty()) continue;
    if (!refusal->open.empty()) {
      ++open_count;
      open.insert(refusal->open.begin(), refusal->open.end());
      continue;
    }
    Kind& kind = kinds[onnx::operator_name(network.nodes[i])];
    if (kind.count++ == 0) kind.example = refusal->what;
  }
  std::vector<std::string> lines;
  for (const auto& [name, kind] : kinds)
    lines.push_back(fmt::format("not taken: {}{}", kind.example,
                                kind.count == 1 ? "" : fmt::format(" (and {} more)", kind.count - 1)));
  if (open_count == 0) return lines;
  std::vector<std::string> names;
  for (const std::string& name : open)
    names.push_back(name == "?"      ? "one without a name"
                    : name == "rank" ? "the rank"
                                     : onnx::quoted_name(name));
  lines.push_back(fmt::format(
      "not taken: {} of {} nodes, because dimensions are open: {}. Fix them when the session is made "
      "(add_free_dimension_override_by_name in Python)",
      open_count, network.nodes.size(), fmt::join(names, ", ")));
  return lines;
}

}  // namespace korch::ort
