#include "korch/onnx/inline_functions.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "korch/base/error.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"

namespace korch::onnx {
namespace {

constexpr int kMaxNodes = 1 << 16;  // that calls may come to, themselves counted
constexpr int kMaxDepth = 64;       // of calls inside of calls

std::string own_domain(const std::string& domain) {
  return is_onnx_domain(domain) ? "" : domain;
}

class Inliner {
 public:
  explicit Inliner(proto::ModelProto& model) : model_(model) {
    for (const proto::OperatorSetIdProto& entry : model.opset_import())
      opsets_.emplace(own_domain(entry.domain()), entry.version());
    for (const proto::FunctionProto& function : model.functions()) {
      const auto key = std::tuple(own_domain(function.domain()), function.name(), function.overload());
      if (!functions_.emplace(key, &function).second)
        throw Error(ErrorKind::invalid, "two functions are called " + quoted_name(function.name()));
    }
  }

  void run() {
    take_names(model_.graph());
    inline_into(*model_.mutable_graph(), 0);
  }

 private:
  using Names = std::unordered_map<std::string, std::string>;
  using Nodes = google::protobuf::RepeatedPtrField<proto::NodeProto>;

  // Calls `f` with each subgraph of the node.
  template <typename F>
  static void for_each_body(proto::NodeProto& node, F&& f) {
    for (proto::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) f(*attribute.mutable_g());
  }

  void take_names(const proto::GraphProto& graph) {
    for (const auto* list : {&graph.input(), &graph.output()})
      for (const proto::ValueInfoProto& value : *list) taken_.insert(value.name());
    for (const proto::TensorProto& tensor : graph.initializer()) taken_.insert(tensor.name());
    for (const proto::NodeProto& node : graph.node()) {
      taken_.insert(node.output().begin(), node.output().end());
      for (const proto::AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) take_names(attribute.g());
    }
  }

  void inline_into(proto::GraphProto& graph, int depth) {
    Nodes nodes;
    nodes.Swap(graph.mutable_node());
    Nodes* const around = to_;
    to_ = graph.mutable_node();
    for (proto::NodeProto& node : nodes) add(std::move(node), depth);
    to_ = around;
  }

  void add(proto::NodeProto node, int depth) {
    if (++count_ > kMaxNodes && depth > 0)
      throw Error(ErrorKind::resource,
                  fmt::format("calls of functions come to more than {} nodes", kMaxNodes));
    const auto found = functions_.find({own_domain(node.domain()), node.op_type(), node.overload()});
    if (found != functions_.end()) return add_body(*found->second, node, depth);
    for_each_body(node, [&](proto::GraphProto& body) { inline_into(body, depth); });
    *to_->Add() = std::move(node);
  }

  void add_body(const proto::FunctionProto& function, const proto::NodeProto& call, int depth) {
    if (depth == kMaxDepth) fail(function, "calls itself, or others too deeply");
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
      fail(function, "is called with more inputs or outputs than it has");
    require_opsets(function);
    const std::string label =
        call.name().empty() ? fmt::format("{}_{}", call.op_type(), count_) : call.name();
    Names names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    // An output that is an input too, or stands twice, is copied.
    std::vector<std::pair<std::string, std::string>> copies;
    for (int i = 0; i < call.output_size(); ++i) {
      if (call.output(i).empty()) continue;
      if (!names.emplace(function.output(i), call.output(i)).second)
        copies.emplace_back(function.output(i), call.output(i));
    }
    for (int i = 0; i < function.node_size(); ++i) {
      proto::NodeProto node = function.node(i);
      const std::string own = node.name().empty() ? fmt::format("{}_{}", node.op_type(), i) : node.name();
      node.set_name(label + "/" + own);
      for (std::string& name : *node.mutable_input()) name = renamed(name, label, names);
      for (std::string& name : *node.mutable_output()) name = renamed(name, label, names);
      bind_attributes(function, call, node);
      for_each_body(node, [&](proto::GraphProto& body) {
        Names captured;
        for (const std::string& name : captures(body)) captured[name] = renamed(name, label, names);
        rename_captures(body, captured);
      });
      add(std::move(node), depth + 1);
    }
    for (const auto& [from, to] : copies) {
      proto::NodeProto copy;
      copy.set_op_type("Identity");
      copy.add_input(names.at(from));
      copy.add_output(to);
      add(std::move(copy), depth + 1);
    }
  }

  std::string renamed(const std::string& name, const std::string& label, Names& names) {
    if (name.empty()) return name;
    const auto [place, fresh] = names.emplace(name, "");
    if (!fresh) return place->second;
    const std::string wish = label + "/" + name;
    std::string given = wish;
    while (!taken_.insert(given).second) given = fmt::format("{}.{}", wish, ++repeats_[wish]);
    return place->second = given;
  }

  static void rename_captures(proto::GraphProto& graph, const Names& names) {
    const std::set<std::string> of_graph = captures(graph);
    const auto rename = [&](std::string& name) {
      if (const auto found = names.find(name); found != names.end() && of_graph.contains(name))
        name = found->second;
    };
    for (proto::NodeProto& node : *graph.mutable_node()) {
      for_each_body(node, [&](proto::GraphProto& body) { rename_captures(body, names); });
      for (std::string& name : *node.mutable_input()) rename(name);
    }
    for (auto& output : *graph.mutable_output()) rename(*output.mutable_name());
  }

  // Those that refer to the function's are the call's, or the function's defaults, or left out.
  static void bind_attributes(const proto::FunctionProto& function, const proto::NodeProto& call,
                              proto::NodeProto& node) {
    google::protobuf::RepeatedPtrField<proto::AttributeProto> attributes;
    attributes.Swap(node.mutable_attribute());
    for (const proto::AttributeProto& attribute : attributes) {
      const proto::AttributeProto* value = &attribute;
      if (attribute.has_ref_attr_name() && !attribute.ref_attr_name().empty()) {
        value = find(call.attribute(), attribute.ref_attr_name());
        if (value == nullptr) value = find(function.attribute_proto(), attribute.ref_attr_name());
      }
      if (value == nullptr) continue;
      proto::AttributeProto* bound = node.add_attribute();
      *bound = *value;
      bound->set_name(attribute.name());
    }
    for_each_body(node, [&](proto::GraphProto& body) {
      for (proto::NodeProto& inner : *body.mutable_node()) bind_attributes(function, call, inner);
    });
  }

  static const proto::AttributeProto* find(
      const google::protobuf::RepeatedPtrField<proto::AttributeProto>& attributes, const std::string& name) {
    for (const proto::AttributeProto& attribute : attributes)
      if (attribute.name() == name) return &attribute;
    return nullptr;
  }

  void require_opsets(const proto::FunctionProto& function) {
    for (const proto::OperatorSetIdProto& entry : function.opset_import()) {
      const auto [place, fresh] = opsets_.emplace(own_domain(entry.domain()), entry.version());
      if (fresh) *model_.add_opset_import() = entry;
      if (place->second != entry.version())
        throw Error(ErrorKind::unsupported,
                    fmt::format("function {} is written for opset {} of a domain of which the model uses {}",
                                quoted_name(function.name()), entry.version(), place->second));
    }
  }

  [[noreturn]] static void fail(const proto::FunctionProto& function, const char* what) {
    throw Error(ErrorKind::invalid, fmt::format("function {} {}", quoted_name(function.name()), what));
  }

  proto::ModelProto& model_;
  Nodes* to_ = nullptr;  // of the graph that is being filled
  std::map<std::string, int64_t> opsets_;
  std::map<std::tuple<std::string, std::string, std::string>, const proto::FunctionProto*> functions_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> repeats_;  // of names that were taken
  int count_ = 0;                                 // nodes and calls so far
};

}  // namespace

void inline_functions(proto::ModelProto& model) {
  if (model.functions_size() > 0) Inliner(model).run();
}

}  // namespace korch::onnx
