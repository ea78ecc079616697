#include "korch/block/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "korch/base/error.h"

namespace korch::block {
namespace {

using Kind = ENode::Kind;

// Thrown where a choice and a plan of loops have no block graph.
struct NoStructure {
  std::string why;
};

class StructureBuilder {
 public:
  StructureBuilder(const EGraph& graph, const Chooser& chooser, const Chooser::Choice& choice,
                   const LoopPlan& plan)
      : graph_(graph), chooser_(chooser), choice_(choice), plan_(plan) {
    for (int axis : plan.loops) loop_axes_ |= axis_set(axis);
  }

  BlockGraph build(const Terms& group, const std::vector<ClassId>& results) {
    built_.axes = group.axes;
    built_.leaves = group.leaves;
    for (size_t i = 0; i < group.leaves.size(); ++i) built_.leaf_names.push_back(fmt::format("x{}", i));
    built_.loops = plan_.loops;
    const int last = static_cast<int>(2 * plan_.loops.size());
    for (ClassId result : results) built_.results.push_back(value(graph_.find(result), last));
    sort_by_place();
    return std::move(built_);
  }

 private:
  using Read = std::function<int(ClassId)>;

  const ENode& node_of(ClassId id) const {
    const int chosen = choice_[id] >= 0 ? choice_[id] : chooser_.cheapest(id);
    KORCH_ASSERT(chosen >= 0, "a class without a node");
    return graph_.node(chosen);
  }
  bool runs(const ENode& node) const { return node.kind == Kind::fold && (node.over & loop_axes_) != 0; }
  int loop_of(ClassId id) const { return plan_.loop_of.at(id); }

  // The first part of the graph from which one can read the final value of a class that depends on no loop's
  // axis.
  int final_place(ClassId id) {
    const auto known = final_places_.find(id);
    if (known != final_places_.end()) return known->second;
    const ENode& node = node_of(id);
    int place = 0;
    if (runs(node))
      place = 2 * loop_of(id) + 2;
    else
      for (const ENode::Part& part : node.parts)
        if ((graph_.axes(part.of) & loop_axes_) == 0)
          place = std::max(place, final_place(graph_.find(part.of)));
    return final_places_[id] = place;
  }

  // Where the value stands that a reader in part `place` reads.
  int place_of(ClassId id, int place) {
    const AxisSet over = graph_.axes(id) & loop_axes_;
    if (over != 0) {
      if (place % 2 == 0 || over != axis_set(plan_.loops[place / 2]))
        throw NoStructure{"a value of a loop's axis outside of its loop"};
      return place;
    }
    const int final = final_place(id);
    if (final <= place) return final;
    if (place % 2 == 0 || final > place + 1) throw NoStructure{"an accumulator that is read before its loop"};
    return place;
  }

  int value(ClassId id, int place) {
    place = place_of(id, place);
    const ENode& node = node_of(id);
    if (runs(node)) return accumulator(id, node);
    const auto known = values_.find({id, place});
    if (known != values_.end()) return known->second;
    const int step = compute(node, place, [&](ClassId of) { return value(graph_.find(of), place); });
    return values_[{id, place}] = step;
  }

  int compute(const ENode& node, int place, const Read& read) {
    Step step;
    step.place = place;
    switch (node.kind) {
      case Kind::leaf:
        step.kind = Step::Kind::leaf;
        step.leaf = node.leaf;
        break;
      case Kind::number:
        return number(node.number);
      case Kind::exp:
        return call(Op::Exp, {read(node.parts[0].of)}, place);
      case Kind::call:
        step.kind = Step::Kind::call;
        step.op = node.op;
        step.scalars = node.scalars;
        for (const ENode::Part& part : node.parts) step.args.push_back(read(part.of));
        break;
      case Kind::fold:
        step.kind = Step::Kind::fold;
        step.combine = node.combine;
        step.over = node.over;
        step.args = {read(node.parts[0].of)};
        break;
      case Kind::window:
        step.kind = Step::Kind::window;
        step.window = node.window;
        step.args = {read(node.parts[0].of)};
        break;
      case Kind::sum:
      case Kind::product:
        return compute_pairs(node, place, read);
    }
    return emit(step);
  }

  int compute_pairs(const ENode& node, int place, const Read& read) {
    const Pairing pairs = chooser_.pairing(node);
    std::vector<int> steps;
    for (int i = 0; i < pairs.given; ++i) {
      const Pairing::Operand& operand = pairs.operands[i];
      if (operand.of < 0)
        steps.push_back(number(operand.factor));
      else if (operand.factor == 1)
        steps.push_back(read(operand.of));
      else
        steps.push_back(call(Op::Mul, {read(operand.of), number(operand.factor)}, place));
    }
    for (const Pairing::Pair& pair : pairs.pairs)
      steps.push_back(call(pair.op, {steps[pair.a], steps[pair.b]}, place));
    if (!pairs.inverse) return steps.back();
    return call(node.kind == Kind::sum ? Op::Neg : Op::Reciprocal, {steps.back()}, place);
  }

  int accumulator(ClassId id, const ENode& node) {
    const auto known = accumulators_.find(id);
    if (known != accumulators_.end()) return known->second;
    const int loop = loop_of(id), place = 2 * loop + 1;
    const ClassId terms = graph_.find(node.parts[0].of);
    Step step;
    step.place = place;
    step.kind = Step::Kind::fold;
    step.combine = node.combine;
    step.over = node.over;
    step.args = {value(terms, place)};
    if (reads_running(terms, place)) {
      if (node.combine != ScalarFn::add) throw NoStructure{"an extremum of terms that change"};
      step.rescale = rescaling(terms, loop);
    }
    return accumulators_[id] = emit(step);
  }

  // Whether a value in the loop depends on accumulators that still run.
  bool reads_running(ClassId id, int place) {
    const bool varies = (graph_.axes(id) & loop_axes_) != 0;
    if (!varies && final_place(id) <= place) return false;
    const ENode& node = node_of(id);
    return runs(node) || std::any_of(node.parts.begin(), node.parts.end(), [&](const ENode::Part& part) {
             return reads_running(graph_.find(part.of), place);
           });
  }

  int rescaling(ClassId terms, int loop) {
    const AxisSet axis = axis_set(plan_.loops[loop]);
    const std::vector<bool> free = classes_without_fold_over(axis);
    std::string why = "terms that do not come apart";
    for (int index : graph_.nodes_of(terms)) {
      const ENode& product = graph_.node(index);
      if (product.kind != Kind::product) continue;
      std::vector<ENode::Part> exponents;
      bool apart = true, exponential = true;
      for (const ENode::Part& part : product.parts) {
        const ClassId of = graph_.find(part.of);
        if (free[of]) continue;
        apart = apart && (graph_.axes(of) & axis) == 0;
        const ClassId exponent = exponent_of(of);
        exponential = exponential && exponent >= 0;
        exponents.push_back({exponent, part.times});
      }
      if (!apart) continue;
      if (exponential && !exponents.empty()) return exponential_factor(exponents, free, 2 * loop + 1);
      why = "a rescaling that is no exponential";
    }
    throw NoStructure{why};
  }

  // A class of which it is the exponential, and which the accumulators of this structure give; -1.
  ClassId exponent_of(ClassId id) const {
    for (int index : graph_.nodes_of(id)) {
      const ENode& node = graph_.node(index);
      if (node.kind == Kind::exp && is_known(graph_.find(node.parts[0].of)))
        return graph_.find(node.parts[0].of);
    }
    return -1;
  }

  // Whether it can be computed without an accumulator that this structure lacks.
  bool is_known(ClassId id) const {
    if (choice_[id] >= 0) return true;
    if (chooser_.cheapest(id) < 0) return false;
    const ENode& node = graph_.node(chooser_.cheapest(id));
    return !runs(node) && std::all_of(node.parts.begin(), node.parts.end(), [&](const ENode::Part& part) {
      return is_known(graph_.find(part.of));
    });
  }

  // exp of the sum of times * (now - before); the smaller one of the two first, so that it is at most 1.
  int exponential_factor(const std::vector<ENode::Part>& exponents, const std::vector<bool>& free,
                         int place) {
    int exponent = -1;
    for (const ENode::Part& part : exponents) {
      const int now = value(part.of, place), then = before(part.of, free, place);
      int change = part.times < 0 ? call(Op::Sub, {then, now}, place) : call(Op::Sub, {now, then}, place);
      if (std::abs(part.times) != 1) change = call(Op::Mul, {change, number(std::abs(part.times))}, place);
      exponent = exponent < 0 ? change : call(Op::Add, {exponent, change}, place);
    }
    return call(Op::Exp, {exponent}, place);
  }

  // The value by the accumulators before this block.
  int before(ClassId id, const std::vector<bool>& free, int place) {
    if (free[id]) return value(id, place);
    const ENode& node = node_of(id);
    if (runs(node)) {
      Step step;
      step.place = place;
      step.kind = Step::Kind::before;
      step.args = {accumulator(id, node)};
      return emit(step);
    }
    return compute(node, place, [&](ClassId of) { return before(graph_.find(of), free, place); });
  }

  // Classes that some node computes without a fold over the axis: what runs in its loop changes none of them.
  std::vector<bool> classes_without_fold_over(AxisSet axis) const {
    std::vector<bool> free(static_cast<size_t>(graph_.class_slots()));
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < graph_.node_slots(); ++i) {
        const ClassId id = graph_.class_of(i);
        if (!graph_.is_live(i) || free[id] || (graph_.node(i).over & axis) != 0) continue;
        const std::vector<ENode::Part>& parts = graph_.node(i).parts;
        free[id] = std::all_of(parts.begin(), parts.end(),
                               [&](const ENode::Part& part) { return free[graph_.find(part.of)]; });
        changed = changed || free[id];
      }
    }
    return free;
  }

  int number(double value) {
    Step step;
    step.kind = Step::Kind::number;
    step.number = value;
    return emit(step);
  }
  int call(Op op, std::vector<int> args, int place) {
    Step step;
    step.kind = Step::Kind::call;
    step.op = op;
    step.args = std::move(args);
    step.place = place;
    return emit(step);
  }
  int emit(Step step) {
    complete(built_, step);
    const auto found = std::find(built_.steps.begin(), built_.steps.end(), step);
    if (found != built_.steps.end()) return static_cast<int>(found - built_.steps.begin());
    built_.steps.push_back(std::move(step));
    return static_cast<int>(built_.steps.size()) - 1;
  }

  void sort_by_place() {
    std::vector<int> order;
    for (int i = 0; i < static_cast<int>(built_.steps.size()); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return built_.steps[a].place < built_.steps[b].place; });
    std::vector<int> position(order.size());
    std::vector<Step> sorted;
    for (size_t i = 0; i < order.size(); ++i) {
      position[order[i]] = static_cast<int>(i);
      sorted.push_back(built_.steps[order[i]]);
    }
    for (Step& step : sorted) {
      for (int& arg : step.args) arg = position[arg];
      if (step.rescale >= 0) step.rescale = position[step.rescale];
    }
    for (int& result : built_.results) result = position[result];
    built_.steps = std::move(sorted);
  }

  const EGraph& graph_;
  const Chooser& chooser_;
  const Chooser::Choice& choice_;
  const LoopPlan& plan_;
  AxisSet loop_axes_ = 0;
  BlockGraph built_;
  std::map<ClassId, int> final_places_;
  std::map<std::pair<ClassId, int>, int> values_;
  std::map<ClassId, int> accumulators_;
};

// Of the classes below `id`: `found` gets those that a fold over the axes computes, in order.
void folds_below(const EGraph& graph, const Chooser::Choice& choice, ClassId id, AxisSet axes, bool beyond,
                 std::set<ClassId>& seen, std::vector<ClassId>& found) {
  if (!seen.insert(id).second) return;
  const ENode& node = graph.node(choice[id]);
  const bool runs = node.kind == Kind::fold && (node.over & axes) != 0;
  if (!runs || beyond)
    for (const ENode::Part& part : node.parts)
      folds_below(graph, choice, graph.find(part.of), axes, beyond, seen, found);
  if (runs) found.push_back(id);
}

}  // namespace

std::vector<ClassId> running_folds(const EGraph& graph, const Chooser::Choice& choice, AxisSet axes) {
  std::set<ClassId> seen;
  std::vector<ClassId> found;
  for (ClassId id = 0; id < static_cast<ClassId>(choice.size()); ++id)
    if (choice[id] >= 0) folds_below(graph, choice, id, axes, true, seen, found);
  return found;
}

std::vector<ClassId> folds_read_by(const EGraph& graph, const Chooser::Choice& choice, ClassId fold,
                                   AxisSet axes) {
  std::set<ClassId> seen;
  std::vector<ClassId> found;
  folds_below(graph, choice, graph.find(graph.node(choice[fold]).parts[0].of), axes, false, seen, found);
  return found;
}

std::variant<BlockGraph, std::string> structure_of(const EGraph& graph, const Chooser& chooser,
                                                   const Chooser::Choice& choice, const Terms& group,
                                                   const std::vector<ClassId>& results,
                                                   const LoopPlan& plan) {
  try {
    return StructureBuilder(graph, chooser, choice, plan).build(group, results);
  } catch (const NoStructure& refused) {
    return refused.why;
  }
}

}  // namespace korch::block
