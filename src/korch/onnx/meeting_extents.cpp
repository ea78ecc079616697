#include "korch/onnx/meeting_extents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "korch/interp/interpreter.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

constexpr int64_t kMostTried = 1024;   // extents of a dimension, the least first
constexpr int64_t kMostElements = 64;  // of a tensor that an extent is made of

// The inputs that a Value is made of.
class Origins {
 public:
  explicit Origins(const Graph& graph) : graph_(graph) {}

  const std::set<ValueId>& of(ValueId value) {
    if (const auto known = known_.find(value); known != known_.end()) return known->second;
    std::set<ValueId> result;
    const std::vector<NodeId>& producers = graph_.value(value).producers;
    if (producers.empty()) result.insert(value);
    for (const NodeId producer : producers)
      for (const ValueId input : graph_.node(producer).inputs) {
        const std::set<ValueId>& more = of(input);
        result.insert(more.begin(), more.end());
      }
    return known_[value] = std::move(result);
  }

 private:
  const Graph& graph_;
  std::map<ValueId, std::set<ValueId>> known_;
};

// What Values are that are made of one extent.
class At {
 public:
  At(const Graph& graph, ValueId input, int64_t extent) : graph_(graph) {
    known_.emplace(input, HostTensor::of<int64_t>(DType::i64, {}, {extent}));
  }

  // None where that takes more than a look.
  std::optional<int64_t> number(ValueId value) {
    const HostTensor* found = tensor(value);
    return found == nullptr ? std::nullopt : std::optional(element_as_int(*found, 0));
  }

 private:
  const HostTensor* tensor(ValueId value) {
    if (const auto known = known_.find(value); known != known_.end()) return &known->second;
    const std::vector<NodeId>& producers = graph_.value(value).producers;
    if (producers.empty()) return nullptr;
    const Node& node = graph_.node(producers[0]);
    std::vector<TensorType> types;
    for (const ValueId output : node.outputs) {
      types.push_back(graph_.value(output).type);
      if (types.back().elements() > kMostElements) return nullptr;
    }
    std::vector<HostTensor> inputs;
    for (const ValueId input : node.inputs) {
      const HostTensor* operand = tensor(input);
      if (operand == nullptr) return nullptr;
      inputs.push_back(*operand);
    }
    std::vector<HostTensor> results = evaluate_node(node, inputs, types, Precision::native);
    for (size_t i = 0; i < results.size(); ++i) known_.emplace(node.outputs[i], std::move(results[i]));
    return &known_.at(value);
  }

  const Graph& graph_;
  std::map<ValueId, HostTensor> known_;
};

std::string sentence(const OpenDimension& dimension, const std::vector<int64_t>& fitting,
                     const std::string& example) {
  constexpr size_t kNamed = 4;
  const std::vector<int64_t> first(fitting.begin(), fitting.begin() + std::min(fitting.size(), kNamed));
  const std::string list = fitting.empty() ? "for none of its extents"
                                           : fmt::format("for {}{}", fmt::join(first, ", "),
                                                         fitting.size() > kNamed ? ", ..." : "");
  return fmt::format(
      "the network fits together {} of {}, not for all of {}..{}: {}; what other runs give means nothing",
      list, quoted_name(dimension.name), dimension.least, dimension.most, example);
}

}  // namespace

std::vector<std::string> extents_that_do_not_fit(const Graph& graph,
                                                 const std::vector<MeetingExtents>& meeting) {
  std::vector<std::string> result;
  Origins origins(graph);
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  for (size_t d = 0; d < open.size(); ++d) {
    const ValueId input = graph.inputs()[graph.inputs().size() - open.size() + d];
    std::vector<const MeetingExtents*> own;
    for (const MeetingExtents& pair : meeting) {
      std::set<ValueId> both = origins.of(pair.a);
      both.insert(origins.of(pair.b).begin(), origins.of(pair.b).end());
      if (both == std::set<ValueId>{input}) own.push_back(&pair);
    }
    if (own.empty()) continue;
    std::vector<int64_t> fitting;
    std::string example;
    for (int64_t e = open[d].least; e <= std::min(open[d].most, open[d].least + kMostTried); ++e) {
      At at(graph, input, e);
      bool fits = true;
      for (const MeetingExtents* pair : own) {
        const auto a = at.number(pair->a), b = at.number(pair->b);
        if (!a || !b || *a == *b) continue;
        fits = false;
        if (example.empty()) example = fmt::format("of {}, {} and {} meet at {}", e, *a, *b, pair->origin);
      }
      if (fits) fitting.push_back(e);
    }
    if (!example.empty()) result.push_back(sentence(open[d], fitting, example));
  }
  return result;
}

}  // namespace korch::onnx
