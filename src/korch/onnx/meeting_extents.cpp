#include "korch/onnx/meeting_extents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "korch/base/error.h"
#include "korch/interp/known_values.h"
#include "korch/onnx/extent_equations.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

constexpr int64_t kMostTried = 1024;    // extents of a dimension, the least first
constexpr int64_t kMostListed = 65536;  // likewise where some of them do not fit
constexpr int kMostDrawn = 256;         // extents of several dimensions
constexpr int64_t kMostChosen = 64;     // of what data are drawn to say

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

// The numbers that an extent is computed from by arithmetic of single numbers.
class NumbersBehind {
 public:
  explicit NumbersBehind(const Graph& graph) : graph_(graph) {}

  void add(ValueId value) {
    if (!seen_.insert(value).second) return;
    const std::vector<NodeId>& producers = graph_.value(value).producers;
    const bool is_computed =
        !producers.empty() && std::all_of(producers.begin(), producers.end(), [&](NodeId producer) {
          const std::vector<ValueId>& inputs = graph_.node(producer).inputs;
          return std::all_of(inputs.begin(), inputs.end(), [&](ValueId input) {
            return graph_.value(input).type == TensorType{DType::i64, {}};
          });
        });
    if (!is_computed) numbers.push_back(value);
    for (size_t i = 0; is_computed && i < producers.size(); ++i)
      for (const ValueId input : graph_.node(producers[i]).inputs) add(input);
  }

  std::vector<ValueId> numbers;

 private:
  const Graph& graph_;
  std::set<ValueId> seen_;
};

bool holds(ExtentRelation relation, int64_t a, int64_t b) {
  switch (relation) {
    case ExtentRelation::equal:
      return a == b;
    case ExtentRelation::equal_or_one:
      return a == b || a == 1;
    case ExtentRelation::at_most:
      return a <= b;
    case ExtentRelation::different:
      return a != b;
  }
  return true;
}

class Fitting {
 public:
  Fitting(const Graph& graph, const std::vector<MeetingExtents>& meeting)
      : graph_(graph), origins_(graph), open_(graph.open_dimensions()) {
    for (size_t d = 0; d < open_.size(); ++d) inputs_.push_back(graph.extent_input(d));
    const std::set<ValueId> extents(inputs_.begin(), inputs_.end());
    for (const MeetingExtents& pair : meeting) {
      std::set<ValueId> both = origins_.of(pair.a);
      both.insert(origins_.of(pair.b).begin(), origins_.of(pair.b).end());
      if (!std::includes(extents.begin(), extents.end(), both.begin(), both.end())) {
        if (pair.in_every_run) from_data_.push_back(&pair);
      } else if (both.size() == 1)
        of_one_[*both.begin()].push_back(&pair);
      else if (both.size() > 1 && pair.in_every_run)
        of_several_.push_back(&pair);
    }
  }

  FittingDimensions run() {
    ExtentEquations equations(graph_);
    for (const MeetingExtents* pair : of_several_)
      if (are_one(pair->relation)) equations.add(pair->a, pair->b);
    result_.dimensions = open_ = equations.take(&result_.warnings);
    for (size_t d = 0; d < open_.size(); ++d) list_fitting(d);
    for (OpenDimension& whole : open_) pass_on(whole);
    result_.dimensions = open_;
    for (const MeetingExtents* pair : of_several_)
      if (!fits_wherever_tried(*pair)) result_.unchecked.push_back(*pair);
    for (const MeetingExtents* pair : from_data_)
      if (!fits_whatever_data_say(*pair)) result_.unchecked.push_back(*pair);
    return std::move(result_);
  }

 private:
  struct Tried {
    std::vector<int64_t> fitting;
    std::string example;  // of what does not; empty: all fit
  };

  Tried tried(size_t d, const std::vector<const MeetingExtents*>& pairs, int64_t most) const {
    Tried result;
    for (int64_t e = open_[d].least; e <= std::min(open_[d].most, most); ++e) {
      KnownValues at(graph_, {{inputs_[d], e}});
      bool fits = true;
      for (const MeetingExtents* pair : pairs) {
        const auto a = at.number(pair->a), b = at.number(pair->b);
        if (!a || !b || holds(pair->relation, *a, *b)) continue;
        fits = false;
        if (result.example.empty())
          result.example = fmt::format("of {}, {} and {} meet at {}", e, *a, *b, pair->origin);
      }
      if (fits) result.fitting.push_back(e);
    }
    return result;
  }

  void list_fitting(size_t d) {
    OpenDimension& dimension = open_[d];
    std::vector<const MeetingExtents*> pairs, left_out;
    for (const MeetingExtents* pair : of_one_[inputs_[d]])
      (pair->in_every_run ? pairs : left_out).push_back(pair);
    if (const Tried some = tried(d, left_out, dimension.least + kMostTried); !some.example.empty())
      result_.warnings.push_back(
          fmt::format("a part of the network that a run may leave out {}",
                      sentence(dimension, some, "what other runs give means nothing")));
    if (tried(d, pairs, dimension.least + kMostTried).example.empty()) return;
    const Tried all = tried(d, pairs, dimension.least + kMostListed);
    if (all.fitting.empty())
      throw Error(ErrorKind::invalid,
                  fmt::format("the network {}", sentence(dimension, all, "no run would be right")));
    dimension.fitting = as_steps(all.fitting);
    result_.warnings.push_back("the network " + sentence(dimension, all, "other runs are refused"));
  }

  static std::string sentence(const OpenDimension& dimension, const Tried& tried, const char* so) {
    return fmt::format(
        "fits together {} of {}, not for all of {}..{}: {}; {}",
        tried.fitting.empty() ? "for none of the extents" : "for " + to_string(as_steps(tried.fitting)),
        quoted_name(dimension.name), dimension.least, dimension.most, tried.example, so);
  }

  // To the one extent that a sum is of, so that whoever chooses that one first finds a sum that fits.
  void pass_on(const OpenDimension& whole) {
    if (!whole.sum || whole.sum->terms.size() != 1) return;
    const auto [term, factor] = whole.sum->terms[0];
    OpenDimension& part = open_[static_cast<size_t>(term)];
    std::vector<int64_t> fitting;
    for (int64_t e = part.least; e <= std::min(part.most, part.least + kMostListed); ++e)
      if (fits(part, e) && fits(whole, factor * e + whole.sum->plus)) fitting.push_back(e);
    if (fitting.empty())
      throw Error(ErrorKind::invalid,
                  fmt::format("the network fits together for no extents: {} of {}..{} and {} of {}..{}",
                              quoted_name(part.name), part.least, part.most, quoted_name(whole.name),
                              whole.least, whole.most));
    const std::vector<ExtentSteps> steps = as_steps(fitting);
    if (steps != std::vector<ExtentSteps>{{part.least, part.most, 1}}) part.fitting = steps;
  }

  bool fits_wherever_tried(const MeetingExtents& pair) const {
    std::mt19937_64 random(1);
    for (int i = 0; i < kMostDrawn; ++i) {
      std::vector<int64_t> extents;
      for (const OpenDimension& dimension : open_) {
        const auto range = static_cast<uint64_t>(dimension.most - dimension.least + 1);
        extents.push_back(i == 0   ? dimension.most
                          : i == 1 ? dimension.least
                                   : dimension.least + static_cast<int64_t>(random() % range));
      }
      extents = fitting_extents(open_, extents);
      std::map<ValueId, int64_t> known;
      for (size_t d = 0; d < extents.size(); ++d) known.emplace(inputs_[d], extents[d]);
      KnownValues at(graph_, known);
      const auto a = at.number(pair.a), b = at.number(pair.b);
      if (!a || !b) return true;
      if (!holds(pair.relation, *a, *b)) return false;
    }
    return true;
  }

  // The data are taken to say any numbers.
  bool fits_whatever_data_say(const MeetingExtents& pair) const {
    NumbersBehind behind(graph_);
    behind.add(pair.a);
    behind.add(pair.b);
    std::mt19937_64 random(1);
    for (int i = 0; i < kMostDrawn; ++i) {
      std::map<ValueId, int64_t> known;
      for (const ValueId number : behind.numbers)
        known.emplace(number, static_cast<int64_t>(random() % (kMostChosen + 1)));
      try {
        KnownValues at(graph_, known);
        const auto a = at.number(pair.a), b = at.number(pair.b);
        if (!a || !b || !holds(pair.relation, *a, *b)) return false;
      } catch (const Error&) {  // a division by 0, say
        return false;
      }
    }
    return true;
  }

  const Graph& graph_;
  Origins origins_;
  std::vector<OpenDimension> open_;
  std::vector<ValueId> inputs_;  // the extent of each
  std::map<ValueId, std::vector<const MeetingExtents*>> of_one_;
  std::vector<const MeetingExtents*> of_several_, from_data_;
  FittingDimensions result_;
};

}  // namespace

std::vector<MeetingExtents> needed(const Graph& graph, const std::vector<MeetingExtents>& meeting) {
  const std::vector<bool> reaching = graph.nodes_that_reach_outputs();
  const auto is_needed = [&](ValueId value) {
    const std::vector<NodeId>& producers = graph.value(value).producers;
    return std::any_of(producers.begin(), producers.end(), [&](NodeId node) { return reaching[node]; });
  };
  std::vector<MeetingExtents> result;
  for (const MeetingExtents& pair : meeting)
    if (std::any_of(pair.results.begin(), pair.results.end(), is_needed)) result.push_back(pair);
  return result;
}

FittingDimensions fitting_dimensions(const Graph& graph, const std::vector<MeetingExtents>& meeting) {
  return Fitting(graph, meeting).run();
}

}  // namespace korch::onnx
