#include "korch/onnx/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/base/error.h"
#include "korch/base/printable.h"
#include "korch/ir/append.h"
#include "korch/onnx/model_index.h"

namespace korch::onnx {
namespace {

template <typename Values>
std::set<std::string> names_of(const Values& values) {
  std::set<std::string> names;
  for (const auto& value : values) names.insert(value.name());
  return names;
}

// Exporters join one tensor, too.
bool is_copy(const proto::NodeProto& node) {
  return is_onnx_domain(node.domain()) && node.input_size() == 1 && node.output_size() == 1 &&
         (node.op_type() == "Identity" || node.op_type() == "Concat");
}

class StateFinder {
 public:
  explicit StateFinder(const Graph& graph) : graph_(graph), appended_(appended_inputs(graph)) {}

  void want(const std::string& input, const std::string& output) {
    const std::string what = fmt::format("the state {}={}", printable(input), printable(output));
    const int read = input_named(printable(input)), made = output_named(printable(output));
    if (read < 0)
      throw Error(ErrorKind::usage, fmt::format("{}: the network has no input '{}'", what, printable(input)));
    if (made < 0)
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the network has no output '{}'", what, printable(output)));
    if (is_taken(read, made))
      throw Error(ErrorKind::usage, fmt::format("{}: one of them is of another state", what));
    if (!add(read, made))
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: the output neither joins new rows to the input along an axis whose extent runs "
                      "tell (Concat, attention with a past, of one sequence GroupQueryAttention), with fixed "
                      "extents on all other axes but the "
                      "first, nor has it the input's type and extents",
                      what));
  }

  void find(const NamePairs& recurrent) {
    for (const Appended& a : appended_)
      if (!is_taken(a.input, a.output)) add(a.input, a.output);
    for (const auto& [input, output] : recurrent) {
      const int read = input_named(printable(input)), made = output_named(printable(output));
      if (read >= 0 && made >= 0 && !is_taken(read, made)) add(read, made);
    }
  }

  std::vector<StatePair> take() {
    std::sort(found_.begin(), found_.end(),
              [](const StatePair& a, const StatePair& b) { return a.input < b.input; });
    return std::move(found_);
  }

 private:
  int input_named(const std::string& name) const {
    const size_t count = graph_.inputs().size() - graph_.open_dimensions().size();
    for (size_t i = 0; i < count; ++i)
      if (graph_.value(graph_.inputs()[i]).name == name) return static_cast<int>(i);
    return -1;
  }
  int output_named(const std::string& name) const {
    const size_t count = graph_.outputs().size() - graph_.extents().size();
    for (size_t i = 0; i < count; ++i)
      if (graph_.output_names()[i] == name) return static_cast<int>(i);
    return -1;
  }
  bool is_taken(int input, int output) const {
    return std::any_of(found_.begin(), found_.end(), [&](const StatePair& state) {
      return state.input == input || state.output == output;
    });
  }

  bool add(int input, int output) {
    for (const Appended& a : appended_)
      if (a.input == input && a.output == output) {
        const auto& attrs = std::get<AppendAttrs>(graph_.node(a.node).attrs);
        found_.push_back({input, output, static_cast<int>(attrs.axis)});
        return true;
      }
    const TensorType& type = graph_.value(graph_.inputs()[static_cast<size_t>(input)]).type;
    if (type != graph_.value(graph_.outputs()[static_cast<size_t>(output)]).type ||
        extents_of_input(input) != extents_of_output(output))
      return false;
    found_.push_back({input, output, -1});
    return true;
  }

  // By axis: the Values that are the extents.
  std::map<int, ValueId> extents_of_input(int input) const {
    std::map<int, ValueId> extents;
    const auto& open = graph_.open_dimensions();
    const size_t first = graph_.inputs().size() - open.size();
    for (size_t d = 0; d < open.size(); ++d)
      for (const OpenDimension::Axis& axis : open[d].axes)
        if (axis.input == input) extents[axis.axis] = graph_.inputs()[first + d];
    return extents;
  }
  std::map<int, ValueId> extents_of_output(int output) const {
    std::map<int, ValueId> extents;
    const size_t first = graph_.outputs().size() - graph_.extents().size();
    for (size_t e = 0; e < graph_.extents().size(); ++e)
      if (graph_.extents()[e].output == output)
        extents[graph_.extents()[e].axis] = graph_.outputs()[first + e];
    return extents;
  }

  const Graph& graph_;
  const std::vector<Appended> appended_;
  std::vector<StatePair> found_;
};

}  // namespace

std::set<std::string> growing_inputs(const proto::GraphProto& graph, const StateOptions& options) {
  std::set<std::string> wanted, candidates;
  for (const auto& [input, output] : options.pairs) wanted.insert(printable(input));
  for (const auto& input : graph.input())
    if (options.find || wanted.contains(printable(input.name()))) candidates.insert(input.name());
  for (const std::string& initializer : names_of(graph.initializer())) candidates.erase(initializer);
  const std::set<std::string> outputs = names_of(graph.output());
  std::map<std::string, std::string> input_of;  // by names of what is the input and nothing else
  for (const std::string& name : candidates) input_of[name] = name;
  std::map<std::string, int> readers;
  std::set<std::string> lead_out;  // read by a node that makes an output
  for (const proto::NodeProto& node : graph.node()) {
    if (node.op_type() == "Shape" || node.op_type() == "Size") continue;  // they become extents
    const bool makes = std::any_of(node.output().begin(), node.output().end(),
                                   [&](const std::string& name) { return outputs.contains(name); });
    const std::vector<std::string> read = reads(node);
    if (is_copy(node) && !makes && input_of.contains(node.input(0))) {
      const std::string input = input_of[node.input(0)];
      input_of[node.output(0)] = input;
      continue;
    }
    for (const std::string& name : std::set<std::string>(read.begin(), read.end())) {
      const auto found = input_of.find(name);
      if (found == input_of.end()) continue;
      ++readers[found->second];
      if (makes) lead_out.insert(found->second);
    }
  }
  std::erase_if(candidates, [&](const std::string& name) {
    return outputs.contains(name) || readers[name] != 1 || !lead_out.contains(name);
  });
  return candidates;
}

NamePairs recurrent_states(const proto::GraphProto& graph) {
  constexpr int kFirstState = 5, kLastState = 1;  // of an LSTM's cells the next one
  const std::set<std::string> inputs = names_of(graph.input()), outputs = names_of(graph.output());
  NamePairs pairs;
  for (const proto::NodeProto& node : graph.node()) {
    const std::string& kind = node.op_type();
    const int states = kind == "LSTM" ? 2 : kind == "GRU" || kind == "RNN" ? 1 : 0;
    if (!is_onnx_domain(node.domain())) continue;
    for (int s = 0; s < states; ++s) {
      if (node.input_size() <= kFirstState + s || node.output_size() <= kLastState + s) continue;
      const std::string &input = node.input(kFirstState + s), &output = node.output(kLastState + s);
      if (inputs.contains(input) && outputs.contains(output)) pairs.emplace_back(input, output);
    }
  }
  return pairs;
}

std::vector<StatePair> find_states(const Graph& graph, const StateOptions& options,
                                   const NamePairs& recurrent) {
  StateFinder finder(graph);
  for (const auto& [input, output] : options.pairs) finder.want(input, output);
  if (options.find) finder.find(recurrent);
  return finder.take();
}

}  // namespace korch::onnx
