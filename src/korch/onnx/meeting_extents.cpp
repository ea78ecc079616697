#include "korch/onnx/meeting_extents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

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

// What Values are that are made of extents.
class At {
 public:
  At(const Graph& graph, const std::map<ValueId, int64_t>& extents) : graph_(graph) {
    for (const auto& [input, extent] : extents)
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

// plus + the sum of factors * extents; an extent per open dimension.
struct Linear {
  std::vector<int64_t> factors;
  int64_t plus = 0;

  int64_t of(const std::vector<int64_t>& extents) const {
    int64_t sum = plus;
    for (size_t d = 0; d < extents.size(); ++d) sum += factors[d] * extents[d];
    return sum;
  }
  // With what a dimension must be in its place.
  void replace(size_t dimension, const ExtentSum& sum) {
    const int64_t factor = std::exchange(factors[dimension], 0);
    plus += factor * sum.plus;
    for (const auto& [term, times] : sum.terms) factors[static_cast<size_t>(term)] += factor * times;
  }
};

// Extents that meet, as equations of the open dimensions.
class Equations {
 public:
  explicit Equations(const Graph& graph) : graph_(graph), open_(graph.open_dimensions()) {
    for (size_t d = 0; d < open_.size(); ++d)
      inputs_.push_back(graph.inputs()[graph.inputs().size() - open_.size() + d]);
  }

  void add(const MeetingExtents& pair) {
    std::optional<Linear> difference = difference_of(pair);
    if (!difference) return;
    for (size_t d = 0; d < open_.size(); ++d)
      if (open_[d].sum) difference->replace(d, *open_[d].sum);
    for (size_t d = open_.size(); d-- > 0;)
      if (solve_for(d, *difference)) return;
  }

  // Whose ranges are those of their sums.
  std::vector<OpenDimension> take(std::vector<std::string>* warnings) {
    std::vector<std::string> names;
    std::vector<int64_t> leasts, mosts;
    for (const OpenDimension& dimension : open_) {
      names.push_back(dimension.name);
      leasts.push_back(dimension.least);
      mosts.push_back(dimension.most);
    }
    for (OpenDimension& dimension : open_) {
      if (!dimension.sum) continue;
      const int64_t least = dimension.sum->of(leasts), most = dimension.sum->of(mosts);
      if (least == dimension.least && most == dimension.most) continue;
      warnings->push_back(fmt::format(
          "the network fits together only where {0} is {1}, {2}..{3}, but its range is {4}..{5}: what runs "
          "give in "
          "which it is not means nothing, and none is refused (--shape {0}={2}..{3} has them refused)",
          dimension.name, to_string(*dimension.sum, names), least, most, dimension.least, dimension.most));
      dimension.sum.reset();
    }
    return std::move(open_);
  }

 private:
  std::optional<int64_t> difference_at(const MeetingExtents& pair,
                                       const std::vector<int64_t>& extents) const {
    std::map<ValueId, int64_t> known;
    for (size_t d = 0; d < extents.size(); ++d) known.emplace(inputs_[d], extents[d]);
    At at(graph_, known);
    const auto a = at.number(pair.a), b = at.number(pair.b);
    return a && b ? std::optional(*a - *b) : std::nullopt;
  }

  // Where it is linear: as each dimension makes it grow by one, and all of them wherever tried.
  std::optional<Linear> difference_of(const MeetingExtents& pair) const {
    constexpr int kTried = 32;
    std::vector<int64_t> at;
    for (const OpenDimension& dimension : open_) at.push_back(dimension.least);
    const std::optional<int64_t> first = difference_at(pair, at);
    if (!first) return std::nullopt;
    Linear linear{{}, *first};
    for (size_t d = 0; d < open_.size(); ++d) {
      ++at[d];
      const std::optional<int64_t> next = difference_at(pair, at);
      --at[d];
      if (!next) return std::nullopt;
      linear.factors.push_back(*next - *first);
      linear.plus -= linear.factors.back() * at[d];
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < kTried; ++i) {
      for (size_t d = 0; d < open_.size(); ++d) {
        const auto range = static_cast<uint64_t>(open_[d].most - open_[d].least + 1);
        at[d] = i == 0 ? open_[d].most : open_[d].least + static_cast<int64_t>(random() % range);
      }
      if (difference_at(pair, at) != linear.of(at)) return std::nullopt;
    }
    return linear;
  }

  // False where what makes the difference 0 is no sum of the other dimensions' multiples.
  bool solve_for(size_t d, const Linear& difference) {
    const int64_t factor = difference.factors[d];
    if (factor != 1 && factor != -1) return false;
    ExtentSum sum{-difference.plus * factor, {}};
    for (size_t other = 0; other < open_.size(); ++other) {
      const int64_t times = -difference.factors[other] * factor;
      if (other == d || times == 0) continue;
      if (times < 0) return false;
      sum.terms.push_back({static_cast<int>(other), times});
    }
    if (sum.terms.empty()) return false;
    for (OpenDimension& dimension : open_) replace_in(dimension.sum, d, sum);
    open_[d].sum = std::move(sum);
    return true;
  }

  void replace_in(std::optional<ExtentSum>& known, size_t d, const ExtentSum& sum) const {
    if (!known) return;
    Linear linear{std::vector<int64_t>(open_.size(), 0), known->plus};
    for (const auto& [term, factor] : known->terms) linear.factors[static_cast<size_t>(term)] = factor;
    linear.replace(d, sum);
    known->plus = linear.plus;
    known->terms.clear();
    for (size_t other = 0; other < open_.size(); ++other)
      if (linear.factors[other] != 0)
        known->terms.push_back({static_cast<int>(other), linear.factors[other]});
  }

  const Graph& graph_;
  std::vector<OpenDimension> open_;
  std::vector<ValueId> inputs_;  // the extent of each
};

}  // namespace

std::vector<MeetingExtents> needed(const Graph& graph, const std::vector<MeetingExtents>& meeting) {
  const std::vector<bool> reaching = graph.nodes_that_reach_outputs();
  std::vector<MeetingExtents> result;
  for (const MeetingExtents& pair : meeting) {
    const std::vector<NodeId>& producers = graph.value(pair.result).producers;
    if (std::any_of(producers.begin(), producers.end(), [&](NodeId node) { return reaching[node]; }))
      result.push_back(pair);
  }
  return result;
}

std::vector<OpenDimension> with_sums(const Graph& graph, const std::vector<MeetingExtents>& meeting,
                                     std::vector<std::string>* warnings) {
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  const std::set<ValueId> extents(graph.inputs().end() - static_cast<std::ptrdiff_t>(open.size()),
                                  graph.inputs().end());
  Origins origins(graph);
  Equations equations(graph);
  for (const MeetingExtents& pair : meeting) {
    if (!pair.in_every_run) continue;
    std::set<ValueId> both = origins.of(pair.a);
    both.insert(origins.of(pair.b).begin(), origins.of(pair.b).end());
    if (both.size() > 1 && std::includes(extents.begin(), extents.end(), both.begin(), both.end()))
      equations.add(pair);
  }
  return equations.take(warnings);
}

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
      At at(graph, {{input, e}});
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
