#include "korch/block/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace korch::block {
namespace {

// Thrown where a graph has no second phase.
struct NoSecondPhase {
  std::string why;
};

Axis part_axis(const std::vector<Axis>& axes, int axis, int64_t parts) {
  std::string name = axes[axis].name + "_part";
  while (std::any_of(axes.begin(), axes.end(), [&](const Axis& other) { return other.name == name; }))
    name += "_";
  return {name, axes[axis].extent > 0 ? parts : 0};
}

void split_extents(std::vector<Axis>& axes, int axis, int64_t parts) {
  const Axis part = part_axis(axes, axis, parts);
  axes[axis].extent /= parts;
  axes.push_back(part);
}

class Splitter {
 public:
  Splitter(const BlockGraph& graph, int64_t parts) : graph_(graph), parts_(parts) {}

  TwoPhases build() {
    if (graph_.loops.size() != 1) throw NoSecondPhase{"not one loop"};
    // An image has rows enough for all workers.
    if (std::any_of(graph_.steps.begin(), graph_.steps.end(),
                    [](const Step& step) { return step.kind == Step::Kind::window; }))
      throw NoSecondPhase{"windows"};
    if (graph_.axes.size() == kMostAxes) throw NoSecondPhase{"too many axes"};
    const Axis& axis = graph_.axes[graph_.loops[0]];
    if (axis.extent % parts_ != 0) throw NoSecondPhase{fmt::format("{} parts of {}", parts_, axis.extent)};
    TwoPhases phases;
    for (int result : graph_.results)
      if (!graph_.is_running(graph_.steps[result])) need(result);
    for (int result : graph_.results)
      if (graph_.is_running(graph_.steps[result])) need(result);
    phases.first = first();
    begin_second(phases.first);
    for (int result : graph_.results) second_.results.push_back(copy(result));
    phases.second = std::move(second_);
    return phases;
  }

 private:
  // Collects the accumulators that a step behind the loop is computed from, and those that their rescalings
  // read.
  void need(int step) {
    if (!seen_.emplace(step, true).second) return;
    const Step& s = graph_.steps[step];
    if (!graph_.is_running(s))
      for (int arg : s.args) need(arg);
    if (s.rescale >= 0) need(s.rescale);
    if (graph_.is_running(s)) accumulators_.push_back(step);
  }

  BlockGraph first() {
    BlockGraph first = graph_;
    const int axis = graph_.loops[0];
    const int part = static_cast<int>(first.axes.size());
    split_extents(first.axes, axis, parts_);
    first.grid |= axis_set(part);
    for (Leaf& leaf : first.leaves)
      if ((leaf.axes & axis_set(axis)) != 0) leaf.axes |= axis_set(part);
    while (first.steps.back().place == 2) first.steps.pop_back();
    for (Step& step : first.steps) complete(first, step);
    first.results = accumulators_;
    for (int result : first.results) first.grid &= first.steps[result].axes;
    if ((first.grid & axis_set(part)) == 0) throw NoSecondPhase{"an accumulator that no part has"};
    return first;
  }

  void begin_second(const BlockGraph& first) {
    second_.axes = first.axes;
    second_.leaves = first.leaves;
    second_.leaf_names = first.leaf_names;
    second_.grid = graph_.grid;
    part_ = static_cast<int>(first.axes.size()) - 1;
    for (size_t i = 0; i < accumulators_.size(); ++i) {
      const Step& step = first.steps[accumulators_[i]];
      leaf_of_[accumulators_[i]] = static_cast<int>(second_.leaves.size());
      second_.leaves.push_back({step.type, step.axes, false});
      second_.leaf_names.push_back(fmt::format("part{}", i));
    }
  }

  // What the first phase left of it in each part.
  int part_of(int accumulator) {
    Step step;
    step.kind = Step::Kind::leaf;
    step.leaf = leaf_of_.at(accumulator);
    return emit(step);
  }

  int copy(int number) {
    const auto known = copies_.find(number);
    if (known != copies_.end()) return known->second;
    const Step& s = graph_.steps[number];
    int made = -1;
    if (s.kind == Step::Kind::before) {
      made = part_of(s.args[0]);
    } else if (graph_.is_running(s)) {
      made = together(number);
    } else {
      if ((s.axes & axis_set(graph_.loops[0])) != 0) throw NoSecondPhase{"a value of the loop behind it"};
      Step step = s;
      step.place = 0;
      for (int& arg : step.args) arg = copy(arg);
      made = emit(step);
    }
    return copies_[number] = made;
  }

  int together(int accumulator) {
    const Step& s = graph_.steps[accumulator];
    Step fold;
    fold.kind = Step::Kind::fold;
    fold.combine = s.combine;
    fold.over = axis_set(part_);
    int part = part_of(accumulator);
    if (s.rescale >= 0) {
      Step scaled;
      scaled.kind = Step::Kind::call;
      scaled.op = Op::Mul;
      scaled.args = {part, copy(s.rescale)};
      part = emit(scaled);
    }
    fold.args = {part};
    return emit(fold);
  }

  int emit(Step step) {
    complete(second_, step);
    const auto found = std::find(second_.steps.begin(), second_.steps.end(), step);
    if (found != second_.steps.end()) return static_cast<int>(found - second_.steps.begin());
    second_.steps.push_back(std::move(step));
    return static_cast<int>(second_.steps.size()) - 1;
  }

  const BlockGraph& graph_;
  const int64_t parts_;
  std::map<int, bool> seen_;
  std::vector<int> accumulators_;
  BlockGraph second_;
  int part_ = -1;
  std::map<int, int> leaf_of_, copies_;
};

// The second phase's terms, of what the first one's are: `made` has the first one's results in `to`.
int substituted(const Terms& second, int term, size_t leaves, const std::vector<int>& made, Terms& to,
                std::map<int, int>& copies) {
  const auto known = copies.find(term);
  if (known != copies.end()) return known->second;
  Term copy = second.terms[term];
  if (copy.kind == TermKind::leaf && copy.leaf >= static_cast<int>(leaves))
    return made[static_cast<size_t>(copy.leaf) - leaves];
  for (int& arg : copy.args) arg = substituted(second, arg, leaves, made, to, copies);
  return copies[term] = to.add(std::move(copy));
}

}  // namespace

Terms split_axis(Terms group, int axis, int64_t parts) {
  const AxisSet whole = axis_set(axis), part = axis_set(static_cast<int>(group.axes.size()));
  split_extents(group.axes, axis, parts);
  for (Leaf& leaf : group.leaves)
    if ((leaf.axes & whole) != 0) leaf.axes |= part;
  for (Term& term : group.terms) {
    if ((term.axes & whole) != 0) term.axes |= part;
    if ((term.over & whole) != 0) term.over |= part;
  }
  return group;
}

std::variant<TwoPhases, std::string> split_loop(const BlockGraph& graph, int64_t parts) {
  try {
    return Splitter(graph, parts).build();
  } catch (const NoSecondPhase& none) {
    return none.why;
  }
}

Proof prove(const Terms& group, const TwoPhases& phases, const SaturationLimits& limits) {
  const std::vector<Leaf>& leaves = phases.first.leaves;
  if (leaves != group.leaves || phases.first.axes != group.axes || phases.second.axes != group.axes ||
      phases.second.results.size() != group.results.size() ||
      phases.second.leaves.size() != leaves.size() + phases.first.results.size())
    return {};
  const Meaning first = meaning_of(phases.first), second = meaning_of(phases.second);
  if (first.terms.leaves != leaves || second.terms.leaves != phases.second.leaves) return {};
  Terms both = first.terms;
  std::map<int, int> copies;
  both.results.clear();
  for (int result : second.terms.results)
    both.results.push_back(
        substituted(second.terms, result, leaves.size(), first.terms.results, both, copies));
  return prove(group, std::move(both), {&phases.first, &phases.second}, limits);
}

}  // namespace korch::block
