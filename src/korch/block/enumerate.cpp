#include "korch/block/enumerate.h"

#include <algorithm>
#include <map>
#include <set>

#include "korch/base/error.h"
#include "korch/block/prove.h"
#include "korch/block/structure.h"

namespace korch::block {
namespace {

// What a slice takes of a grid axis, and a block of a loop's, in a rough cost.
constexpr double kTypicalTile = 64;
// Elements that a slice keeps near.
constexpr double kNearElements = 16384;
constexpr double kUnknownAxis = 256;
// Of the operations, that all slices along a grid axis repeat.
constexpr double kMostRepeated = 0.1;

double extent_of(const Axis& axis) {
  return axis.extent > 0 ? static_cast<double>(axis.extent) : kUnknownAxis;
}

// And those along which windows read these: rows that a slice has of a result need as many of an image, and
// a few more.
AxisSet with_windows(const BlockGraph& graph, AxisSet axes) {
  for (AxisSet before = 0; before != axes;) {
    before = axes;
    for (const Step& step : graph.steps)
      if (step.kind == Step::Kind::window && (axes & axis_set(step.window.of)) != 0)
        axes |= axis_set(step.window.parts[0].axis);
  }
  return axes;
}

// Elements of a value that a slice keeps: of the grid a few points, of a loop's axis a block.
double elements_kept(const BlockGraph& graph, const Step& step) {
  double points = 1, size = 1;
  for (size_t i = 0; i < graph.axes.size(); ++i) {
    const AxisSet axis = axis_set(static_cast<int>(i));
    if ((step.axes & axis) == 0) continue;
    const double extent = extent_of(graph.axes[i]);
    const bool is_loop = std::count(graph.loops.begin(), graph.loops.end(), static_cast<int>(i)) != 0;
    if ((graph.grid & with_windows(graph, axis)) != 0)
      points *= extent;
    else
      size *= is_loop ? std::min(extent, kTypicalTile) : extent;
  }
  return size * std::min(points, kTypicalTile);
}

double elements_of(const BlockGraph& graph, AxisSet axes) {
  double size = 1;
  for (size_t i = 0; i < graph.axes.size(); ++i)
    if ((axes & axis_set(static_cast<int>(i))) != 0) size *= extent_of(graph.axes[i]);
  return size;
}

// Axes that the operation of a step goes over.
AxisSet domain_of(const BlockGraph& graph, const Step& step) {
  return step.kind == Step::Kind::fold ? graph.steps[step.args[0]].axes : step.axes;
}

double operations_on(const BlockGraph& graph, const Step& step) {
  const double elements = elements_of(graph, domain_of(graph, step));
  if (step.kind == Step::Kind::call) return Chooser::weight(step.op) * elements;
  return step.kind == Step::Kind::fold || step.kind == Step::Kind::leaf ? elements : 0;
}

// The share of the operations of steps that do not go over the axis.
double share_without(const BlockGraph& graph, AxisSet axis) {
  double all = 0, without = 0;
  for (const Step& step : graph.steps) {
    const double operations = operations_on(graph, step);
    all += operations;
    if ((with_windows(graph, domain_of(graph, step)) & axis) == 0) without += operations;
  }
  return without / all;
}

// How often slices and blocks repeat a step whose operation goes over `axes`.
double repetitions(const BlockGraph& graph, AxisSet axes, AxisSet outer) {
  double times = 1;
  axes = with_windows(graph, axes);
  for (size_t i = 0; i < graph.axes.size(); ++i)
    if ((outer & ~axes & axis_set(static_cast<int>(i))) != 0)
      times *= std::max(1.0, extent_of(graph.axes[i]) / kTypicalTile);
  return times;
}

// A slice has rows of an image, and all pixels and channels of each: of axes along which windows read the
// first one is dealt out, and none that weights have.
AxisSet without_windows_but_one(const BlockGraph& graph, AxisSet axes) {
  AxisSet read = 0, of = 0;
  for (const Step& step : graph.steps)
    if (step.kind == Step::Kind::window) {
      read |= step.window.axes();
      of |= axis_set(step.window.of);
    }
  if (of == 0) return axes;
  for (const Leaf& leaf : graph.leaves)
    if (leaf.constant) axes &= ~leaf.axes;
  const AxisSet first = axes & read & ~of;
  return (axes & ~read & ~of) | (first & (~first + 1));
}

int operations_of(const BlockGraph& graph) {
  return static_cast<int>(std::count_if(graph.steps.begin(), graph.steps.end(), [](const Step& step) {
    return step.kind == Step::Kind::call || step.kind == Step::Kind::fold;
  }));
}

class StructureSearch {
 public:
  StructureSearch(const Terms& group, const SearchLimits& limits, SearchLog& log)
      : group_(group), limits_(limits), log_(log), graph_(group.leaves) {}

  std::vector<BlockGraph> run() {
    const std::vector<ClassId> classes = graph_.add(group_, group_.results);
    log_.saturation = saturate(graph_, limits_.saturation);
    if (log_.saturation.contradiction) return {};
    result_axes_ = ~AxisSet{0};
    for (int result : group_.results) {
      results_.push_back(graph_.find(classes[result]));
      result_axes_ &= graph_.axes(results_.back());
    }
    const Chooser chooser(graph_, group_.axes);
    log_.pruned = chooser.unfit();
    chooser_ = &chooser;
    chooser.choices(results_, limits_.dearer, limits_.choices, log_.pruned,
                    [&](const Chooser::Choice& choice) {
                      ++log_.choices;
                      plan_loops(choice);
                      return !limits_.saturation.deadline.is_over();
                    });
    return cheapest();
  }

 private:
  void plan_loops(const Chooser::Choice& choice) {
    build(choice, {});
    std::vector<int> axes;  // that folds go over; a result is no value of a loop
    for (int axis = 0; axis < static_cast<int>(group_.axes.size()); ++axis)
      if (!running_folds(graph_, choice, axis_set(axis)).empty() && !in_a_result(axis) && fits_windows(axis))
        axes.push_back(axis);
    for (int first : axes) {
      assign(choice, {.loops = {first}, .loop_of = {}});
      for (int second : axes) assign(choice, {.loops = {first, second}, .loop_of = {}});
    }
  }

  bool in_a_result(int axis) const {
    return std::any_of(results_.begin(), results_.end(),
                       [&](ClassId result) { return (graph_.axes(result) & axis_set(axis)) != 0; });
  }

  // No window is along it, and what windows read is less in each block.
  bool fits_windows(int axis) const {
    return std::all_of(group_.terms.begin(), group_.terms.end(), [&](const Term& term) {
      if (term.kind != TermKind::window) return true;
      const AxisSet along = term.window.axes() | axis_set(term.window.of);
      return (along & axis_set(axis)) == 0 && (group_.terms[term.args[0]].axes & axis_set(axis)) != 0;
    });
  }

  // Gives each fold over a loop's axis its loop: one as early as those that it reads, or the next one.
  void assign(const Chooser::Choice& choice, LoopPlan plan) {
    AxisSet axes = 0;
    for (int axis : plan.loops) axes |= axis_set(axis);
    assign_from(choice, running_folds(graph_, choice, axes), 0, axes, plan);
  }

  void assign_from(const Chooser::Choice& choice, const std::vector<ClassId>& folds, size_t index,
                   AxisSet axes, LoopPlan& plan) {
    if (index == folds.size()) {
      for (int loop = 0; loop < static_cast<int>(plan.loops.size()); ++loop)
        if (std::none_of(plan.loop_of.begin(), plan.loop_of.end(),
                         [&](const auto& entry) { return entry.second == loop; }))
          return;  // the same without that loop
      build(choice, plan);
      return;
    }
    const ClassId fold = folds[index];
    const AxisSet over = graph_.node(choice[fold]).over & axes;
    int earliest = 0;
    bool reads = false;
    for (ClassId read : folds_read_by(graph_, choice, fold, axes)) {
      earliest = std::max(earliest, plan.loop_of.at(read));
      reads = true;
    }
    for (int loop = earliest, tried = 0; loop < static_cast<int>(plan.loops.size()); ++loop) {
      if (over != axis_set(plan.loops[loop])) continue;
      plan.loop_of[fold] = loop;
      assign_from(choice, folds, index + 1, axes, plan);
      plan.loop_of.erase(fold);
      if (!reads || ++tried == 2) break;
    }
  }

  void build(const Chooser::Choice& choice, const LoopPlan& plan) {
    std::variant<BlockGraph, std::string> built =
        structure_of(graph_, *chooser_, choice, group_, results_, plan);
    if (const std::string* why = std::get_if<std::string>(&built)) {
      ++log_.pruned[*why];
      return;
    }
    BlockGraph& graph = std::get<BlockGraph>(built);
    if (operations_of(graph) > limits_.operations) {
      ++log_.pruned["too many operations"];
      return;
    }
    if (!starts_with_numbers(graph)) {
      ++log_.pruned["a rescaling that begins with infinity"];
      return;
    }
    choose_grids(graph);
  }

  // The grid has each axis that costs little of what slices do again, or all axes.
  void choose_grids(BlockGraph& graph) {
    AxisSet possible = result_axes_, cheap = 0;
    for (int loop : graph.loops) possible &= ~axis_set(loop);
    for (const Step& step : graph.steps) possible &= ~step.over;
    possible = without_windows_but_one(graph, possible);
    for (int axis = 0; axis < static_cast<int>(graph.axes.size()); ++axis)
      if (share_without(graph, axis_set(axis)) <= kMostRepeated) cheap |= possible & axis_set(axis);
    for (AxisSet grid : {possible & cheap, possible}) {
      graph.grid = grid;
      keep(graph);
      if ((possible & ~cheap) == 0) break;
    }
  }

  void keep(const BlockGraph& graph) {
    ++log_.generated;
    std::string text = print(graph);
    const std::string fault = fault_in(graph);
    KORCH_ASSERT(fault.empty(), fault + "\n" + text);
    if (!texts_.insert(std::move(text)).second)
      ++log_.pruned["twice the same"];
    else
      found_.push_back({rough_cost(graph), graph});
  }

  std::vector<BlockGraph> cheapest() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<BlockGraph> kept;
    std::map<std::pair<std::vector<int>, AxisSet>, int> alike;
    for (auto& [cost, graph] : found_) {
      int& number = alike[{graph.loops, graph.grid}];
      if (cost > limits_.slower * found_[0].first)
        ++log_.pruned["slower"];
      else if (number == limits_.alike || static_cast<int>(kept.size()) == limits_.structures)
        ++log_.pruned[number == limits_.alike ? "as others, and slower" : "too many structures"];
      else
        ++number, kept.push_back(std::move(graph));
    }
    return kept;
  }

  const Terms& group_;
  const SearchLimits& limits_;
  SearchLog& log_;
  EGraph graph_;
  const Chooser* chooser_ = nullptr;
  std::vector<ClassId> results_;
  AxisSet result_axes_ = 0;
  std::set<std::string> texts_;
  std::vector<std::pair<double, BlockGraph>> found_;
};

}  // namespace

double rough_cost(const BlockGraph& graph) {
  // Products that only sums read are never kept.
  std::vector<bool> is_kept(graph.steps.size());
  for (int result : graph.results) is_kept[result] = true;
  for (const Step& step : graph.steps)
    for (int arg : step.args) is_kept[arg] = is_kept[arg] || step.kind != Step::Kind::fold;
  double cost = 0;
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    const Step& step = graph.steps[i];
    const AxisSet outer = graph.grid | (graph.in_loop(step) ? axis_set(graph.loop_axis(step)) : 0);
    const bool is_value = step.kind == Step::Kind::call || step.kind == Step::Kind::fold;
    cost += operations_on(graph, step) * repetitions(graph, domain_of(graph, step), outer);
    if (is_value && is_kept[i] && elements_kept(graph, step) > kNearElements)
      cost += 2 * elements_of(graph, step.axes) * repetitions(graph, step.axes, outer);
  }
  return cost;
}

std::vector<BlockGraph> structures(const Terms& group, const SearchLimits& limits, SearchLog& log) {
  return StructureSearch(group, limits, log).run();
}

}  // namespace korch::block
