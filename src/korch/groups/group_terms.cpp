#include "korch/groups/group_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace korch::groups {
namespace {

using block::AxisSet;
using block::Term;
using block::TermKind;

// Axes are those of the forest, numbered as they come.
class TermBuilder {
 public:
  TermBuilder(const Graph& graph, const Candidate& candidate, const GroupAxes& axes)
      : graph_(graph), candidate_(candidate), axes_(axes) {}

  GroupTerms build() {
    for (NodeId id : candidate_.nodes)
      if (axes_.is_combined(graph_.node(id).outputs[0])) add_combined(id);
    for (ValueId output : candidate_.outputs) {
      const Coordinates at = numbered(axes_.dimensions(output));
      const int term =
          axes_.is_combined(output) ? combined_.at(output) : plain({output, axes_.dimensions(output)});
      result_.terms.results.push_back(term);
      result_.results.push_back({output, at});
    }
    return std::move(result_);
  }
  size_t axis_count() const { return numbers_.size(); }

 private:
  void add_combined(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<int> args;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      args.push_back(axes_.is_combined(node.inputs[i]) ? combined_.at(node.inputs[i])
                                                       : plain({node.inputs[i], axes_.read(id, i)}));
      for (const WindowRead& read : axes_.windows(id, i)) args.back() = through_window(read, args.back());
    }
    combined_[node.outputs[0]] = combine(id, node, std::move(args));
  }

  int through_window(const WindowRead& read, int arg) {
    block::Window window;
    window.of = numbered(read.of)[0];
    for (int axis : numbered(read.rows)) window.parts.push_back({axis, read.scale});
    for (int axis : numbered(read.taps)) window.parts.push_back({axis, read.step});
    window.offset = read.offset;
    return result_.terms.at(std::move(window), arg);
  }

  int combine(NodeId id, const Node& node, std::vector<int> args) {
    block::Terms& terms = result_.terms;
    const Category category = info(node.op).category;
    if (category == Category::layout) return args[0];
    if (category == Category::elementwise) return terms.call(node.op, std::move(args), scalars_of(node));
    const AxisSet over = set_of(numbered(axes_.combined_over(id)));
    if (category == Category::linear)
      return terms.fold(ScalarFn::add, over, terms.call(Op::Mul, std::move(args)));
    return terms.fold(combining(node.op), over, args[0]);
  }

  static ScalarAttrs scalars_of(const Node& node) {
    return block::has_scalars(node.op) ? std::get<ScalarAttrs>(node.attrs) : ScalarAttrs{};
  }

  static ScalarFn combining(Op reduction) {
    if (reduction == Op::ReduceMax) return ScalarFn::max;
    if (reduction == Op::ReduceMin) return ScalarFn::min;
    return reduction == Op::ReduceProd ? ScalarFn::mul : ScalarFn::add;
  }

  int plain(Place place) {
    const HostTensor* constant = graph_.constant(place.value);
    if (constant != nullptr && constant->elements() == 1 && constant->dtype() == DType::f32)
      return result_.terms.number(element_as_double(*constant, 0));
    const Node* node = axes_.maker(place.value);
    if (axes_.is_term(place.value)) {
      std::vector<int> args;
      for (size_t i = 0; i < node->inputs.size(); ++i)
        args.push_back(plain({node->inputs[i], *axes_.read_through(*node, i, place.at)}));
      return result_.terms.call(node->op, std::move(args), scalars_of(*node));
    }
    if (node != nullptr && node->inputs.size() == 1 && info(node->op).category == Category::layout)
      if (std::optional<Coordinates> at = axes_.read_through(*node, 0, place.at))
        return plain({node->inputs[0], std::move(*at)});
    return leaf({place.value, numbered(place.at)});
  }

  int leaf(Place place) {
    const auto known = std::find(result_.leaves.begin(), result_.leaves.end(), place);
    const auto number = static_cast<int>(known - result_.leaves.begin());
    if (known == result_.leaves.end()) {
      result_.terms.leaves.push_back(
          {graph_.value(place.value).type.dtype, set_of(flattened(place.at)), is_constant(place.value)});
      result_.leaves.push_back(std::move(place));
    }
    return result_.terms.leaf(number);
  }

  bool is_constant(ValueId value) const {
    const Node* node = axes_.maker(value);
    if (node == nullptr) return graph_.constant(value) != nullptr;
    return std::all_of(node->inputs.begin(), node->inputs.end(),
                       [&](ValueId input) { return is_constant(input); });
  }

  AxisList numbered(AxisList axes) {
    for (int& axis : axes) {
      const auto [place, is_new] = numbers_.emplace(axis, static_cast<int>(numbers_.size()));
      if (is_new) result_.terms.axes.push_back({{}, axes_.forest().extent(axis)});
      axis = place->second;
    }
    return axes;
  }
  Coordinates numbered(Coordinates at) {
    for (AxisList& axes : at) axes = numbered(std::move(axes));
    return at;
  }

  static AxisSet set_of(const AxisList& axes) {
    AxisSet set = 0;
    for (int axis : axes)
      if (axis < block::kMostAxes) set |= block::axis_set(axis);
    return set;
  }

  const Graph& graph_;
  const Candidate& candidate_;
  const GroupAxes& axes_;
  GroupTerms result_;
  std::unordered_map<ValueId, int> combined_;  // their terms
  std::unordered_map<int, int> numbers_;       // of the forest's axes
};

// The same in the order in which the results lead to it; what they do not lead to is left out. Axes are in an
// order that does not depend on those of dimensions: by the results, leaves and folds that have them.
class Renumbering {
 public:
  explicit Renumbering(const GroupTerms& from) : from_(from) {}

  GroupTerms run() {
    for (const Place& result : from_.results) to_.results.push_back(result);
    for (int result : from_.terms.results) to_.terms.results.push_back(moved(result));
    order_axes();
    return std::move(to_);
  }

 private:
  int moved_leaf(int leaf) {
    const auto [place, is_new] = leaves_.emplace(leaf, static_cast<int>(leaves_.size()));
    if (is_new) {
      to_.terms.leaves.push_back(from_.terms.leaves[static_cast<size_t>(leaf)]);
      to_.leaves.push_back(from_.leaves[static_cast<size_t>(leaf)]);
    }
    return place->second;
  }

  int moved(int term) {
    if (const auto known = terms_.find(term); known != terms_.end()) return known->second;
    Term copy = from_.terms.terms[static_cast<size_t>(term)];
    for (int& arg : copy.args) arg = moved(arg);
    if (copy.kind == TermKind::leaf) copy.leaf = moved_leaf(copy.leaf);
    return terms_[term] = to_.terms.add(std::move(copy));
  }

  // Where the axis occurs: false sorts behind true.
  std::vector<bool> occurrences(int axis) const {
    const AxisSet one = block::axis_set(axis);
    std::vector<bool> where;
    for (const Place& result : to_.results) {
      const AxisList axes = flattened(result.at);
      where.push_back(std::find(axes.begin(), axes.end(), axis) == axes.end());
    }
    for (const block::Leaf& leaf : to_.terms.leaves) where.push_back((leaf.axes & one) == 0);
    for (const Term& term : to_.terms.terms) where.push_back((term.over & one) == 0);
    for (const Term& term : to_.terms.terms) {
      where.push_back(term.window.of != axis);
      where.push_back((term.window.axes() & one) == 0);
    }
    return where;
  }

  void order_axes() {
    std::vector<std::pair<std::vector<bool>, int>> axes;  // with what each occurs in
    for (int axis = 0; axis < static_cast<int>(from_.terms.axes.size()); ++axis) {
      std::vector<bool> where = occurrences(axis);
      if (std::find(where.begin(), where.end(), false) != where.end())
        axes.emplace_back(std::move(where), axis);
    }
    std::sort(axes.begin(), axes.end());
    std::vector<int> number(from_.terms.axes.size(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto old = static_cast<size_t>(axes[i].second);
      number[old] = static_cast<int>(i);
      std::string name(1, static_cast<char>('a' + i % 26));
      if (i >= 26) name += std::to_string(i / 26);
      to_.terms.axes.push_back({std::move(name), from_.terms.axes[old].extent});
    }
    const auto renumber = [&](AxisSet& set) {
      AxisSet result = 0;
      for (const auto& [where, old] : axes)
        if ((set & block::axis_set(old)) != 0) result |= block::axis_set(number[static_cast<size_t>(old)]);
      set = result;
    };
    for (block::Leaf& leaf : to_.terms.leaves) renumber(leaf.axes);
    for (Term& term : to_.terms.terms) {
      renumber(term.axes);
      renumber(term.over);
      if (term.kind != TermKind::window) continue;
      term.window.of = number[static_cast<size_t>(term.window.of)];
      for (block::Window::Part& part : term.window.parts) part.axis = number[static_cast<size_t>(part.axis)];
    }
    for (std::vector<Place>* places : {&to_.leaves, &to_.results})
      for (Place& place : *places)
        for (AxisList& list : place.at)
          for (int& axis : list) axis = number[static_cast<size_t>(axis)];
  }

  const GroupTerms& from_;
  GroupTerms to_;
  std::unordered_map<int, int> leaves_, terms_;
};

}  // namespace

Result<GroupTerms> terms_of(const Graph& graph, const Candidate& candidate) {
  const Result<GroupAxes> axes = GroupAxes::of(graph, candidate);
  if (!axes) return axes.refusal();
  TermBuilder builder(graph, candidate, axes.value());
  const GroupTerms terms = builder.build();
  if (builder.axis_count() > static_cast<size_t>(block::kMostAxes))
    return Refusal{RefusalReason::no_kernel_family, fmt::format("more than {} axes", block::kMostAxes)};
  return Renumbering(terms).run();
}

std::string print(const Graph& graph, const GroupTerms& group) {
  std::string text = "axes";
  for (const block::Axis& axis : group.terms.axes) text += fmt::format(" {}={}", axis.name, axis.extent);
  text += "\n" + block::structure_text(group.terms);
  const auto add = [&](const std::string& what, const Place& place) {
    text += fmt::format("{} is %{} at ", what, graph.value(place.value).name);
    for (const AxisList& axes : place.at) {
      std::vector<std::string> names;
      for (int axis : axes) names.push_back(group.terms.axes[static_cast<size_t>(axis)].name);
      text += fmt::format("[{}]", fmt::join(names, ","));
    }
    text += "\n";
  };
  for (size_t i = 0; i < group.leaves.size(); ++i) add(fmt::format("leaf {}", i), group.leaves[i]);
  for (size_t i = 0; i < group.results.size(); ++i) add(fmt::format("result {}", i), group.results[i]);
  return text;
}

}  // namespace korch::groups
