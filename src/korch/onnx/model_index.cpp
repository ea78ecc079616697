#include "korch/onnx/model_index.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <queue>

#include "korch/base/error.h"
#include "korch/base/printable.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

constexpr int kSource = -1;            // producer of initializers and graph inputs
constexpr size_t kMaxListedNodes = 8;  // of a cycle

using Producers = std::unordered_map<std::string, int>;

Producers find_producers(const proto::GraphProto& graph, const std::vector<std::string>& sources,
                         const std::vector<std::string>& labels) {
  Producers producers;
  for (const std::string& source : sources) producers.emplace(source, kSource);
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty()) continue;
      const auto [place, fresh] = producers.emplace(output, i);
      if (fresh) continue;
      const std::string first = place->second == kSource
                                    ? "a graph input or initializer"
                                    : describe(graph.node(place->second), labels[place->second]);
      throw Error(ErrorKind::invalid,
                  fmt::format("value {} is made twice: by {} and by {}; value names must be unique",
                              quoted_name(output), first, describe(graph.node(i), labels[i])));
    }
  }
  return producers;
}

int producer_of(const Producers& producers, const std::string& name, const std::string& reader) {
  const auto found = producers.find(name);
  if (found == producers.end())
    throw Error(ErrorKind::invalid, fmt::format("{} reads {}, which no node, input or initializer provides",
                                                reader, quoted_name(name)));
  return found->second;
}

// Kahn's algorithm, the smallest index first, so that a sorted file keeps its order.
std::vector<int> topological_order(const proto::GraphProto& graph, const Producers& producers,
                                   const std::vector<std::string>& labels) {
  const int count = graph.node_size();
  std::vector<std::vector<int>> readers(count);
  std::vector<int> missing(count, 0);
  for (int i = 0; i < count; ++i) {
    for (const std::string& input : reads(graph.node(i))) {
      const int producer = producer_of(producers, input, describe(graph.node(i), labels[i]));
      if (producer == kSource) continue;
      readers[producer].push_back(i);
      ++missing[i];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    order.push_back(node);
    for (int reader : readers[node]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  if (static_cast<int>(order.size()) == count) return order;
  std::vector<std::string> stuck;
  for (int i = 0; i < count && stuck.size() < kMaxListedNodes; ++i) {
    if (missing[i] > 0) stuck.push_back(describe(graph.node(i), labels[i]));
  }
  throw Error(ErrorKind::invalid,
              fmt::format("the graph has a cycle; {} of its nodes are on it or depend on it: {}{}",
                          count - static_cast<int>(order.size()), fmt::join(stuck, ", "),
                          stuck.size() == kMaxListedNodes ? ", ..." : ""));
}

}  // namespace

bool is_onnx_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

std::string operator_name(const proto::NodeProto& node) {
  const bool own = is_onnx_domain(node.domain());
  const std::string shown = quoted_name(own ? node.op_type() : node.domain() + "::" + node.op_type());
  return shown.substr(1, shown.size() - 2);
}

std::string describe(const proto::NodeProto& node, const std::string& label) {
  return fmt::format("node {} ({})", quoted_name(label), operator_name(node));
}

std::vector<std::string> reads(const proto::NodeProto& node) {
  std::vector<std::string> result;
  for (const std::string& input : node.input())
    if (!input.empty()) result.push_back(input);
  for (const proto::AttributeProto& attribute : node.attribute())
    if (attribute.has_g()) {
      const std::set<std::string> names = captures(attribute.g());
      result.insert(result.end(), names.begin(), names.end());
    }
  return result;
}

std::set<std::string> captures(const proto::GraphProto& graph) {
  std::set<std::string> own, result;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const proto::NodeProto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
  const auto read = [&](const std::string& name) {
    if (!own.contains(name)) result.insert(name);
  };
  for (const proto::NodeProto& node : graph.node())
    for (const std::string& name : reads(node)) read(name);
  for (const auto& output : graph.output()) read(output.name());
  return result;
}

ModelIndex index_model(const proto::GraphProto& graph, const std::vector<std::string>& sources) {
  ModelIndex index;
  for (int i = 0; i < graph.node_size(); ++i) {
    const proto::NodeProto& node = graph.node(i);
    index.labels.push_back(
        printable(node.name().empty() ? fmt::format("{}_{}", node.op_type(), i) : node.name()));
  }
  const Producers producers = find_producers(graph, sources, index.labels);
  const std::vector<int> order = topological_order(graph, producers, index.labels);

  std::vector<bool> live(graph.node_size(), false);
  for (const auto& output : graph.output()) {
    const int producer = producer_of(producers, output.name(), "the graph's output list");
    if (producer != kSource) live[producer] = true;
    ++index.uses[output.name()];
  }
  for (size_t i = order.size(); i-- > 0;) {
    if (!live[order[i]]) continue;
    for (const std::string& input : reads(graph.node(order[i]))) {
      ++index.uses[input];
      const int producer = producers.at(input);
      if (producer != kSource) live[producer] = true;
    }
  }
  for (int node : order) {
    if (live[node]) index.order.push_back(node);
  }
  return index;
}

}  // namespace korch::onnx
