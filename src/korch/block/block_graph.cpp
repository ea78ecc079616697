#include "korch/block/block_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "korch/base/error.h"

namespace korch::block {
namespace {

const Step& at(const BlockGraph& graph, int step) {
  return graph.steps[static_cast<size_t>(step)];
}

AxisSet axes_of_operands(const BlockGraph& graph, const Step& step) {
  AxisSet axes = 0;
  for (int arg : step.args) axes |= at(graph, arg).axes;
  return axes;
}

std::string names(const BlockGraph& graph, AxisSet set) {
  return fmt::format("{}", fmt::join(names_of(graph.axes, set), ", "));
}

std::string text_of(const BlockGraph& graph, const Step& step) {
  std::vector<std::string> args;
  for (int arg : step.args) args.push_back(fmt::format("%{}", arg));
  switch (step.kind) {
    case Step::Kind::leaf:
      return "load " + graph.leaf_names[static_cast<size_t>(step.leaf)];
    case Step::Kind::number:
      return fmt::format("number {}", step.number);
    case Step::Kind::call:
      return fmt::format("{}({}){}", name(step.op), fmt::join(args, ", "),
                         step.scalars == ScalarAttrs{}
                             ? ""
                             : fmt::format(" alpha {} beta {}", step.scalars.alpha, step.scalars.beta));
    case Step::Kind::fold: {
      std::string text =
          fmt::format("{} {} {}", name_of_fold(step.combine), names(graph, step.over), args[0]);
      if (step.rescale >= 0) text += fmt::format(" rescaled %{}", step.rescale);
      return text;
    }
    case Step::Kind::window:
      return fmt::format("at {} of {}", print(graph.axes, step.window), args[0]);
    case Step::Kind::before:
      return "before " + args[0];
  }
  return {};
}

// Why a step may not read operand `arg` (an earlier step); empty if it may.
std::string operand_fault(const BlockGraph& graph, const Step& step, int arg) {
  const Step& operand = at(graph, arg);
  if (operand.place > step.place) return fmt::format("%{} stands in a later part", arg);
  if (operand.place == step.place || !graph.in_loop(operand)) return {};
  // What a loop leaves behind are its accumulators.
  if (!graph.is_running(operand)) return fmt::format("%{} is a value of a loop, and no accumulator", arg);
  return {};
}

std::string number_fault(const BlockGraph& graph, const Step& step) {
  const size_t arity = step.kind == Step::Kind::leaf || step.kind == Step::Kind::number ? 0 : 1;
  if (step.kind != Step::Kind::call && step.args.size() != arity) return "another number of operands";
  if (step.kind == Step::Kind::leaf && (step.leaf < 0 || step.leaf >= static_cast<int>(graph.leaves.size())))
    return "no such leaf";
  if (step.kind != Step::Kind::call) return {};
  const OpInfo& row = info(step.op);
  if (row.category != Category::elementwise || step.op == Op::Cast)
    return fmt::format("{} is no function of elements", row.name);
  if (static_cast<int>(step.args.size()) != row.min_inputs) return "another number of operands";
  return {};
}

std::string fold_fault(const BlockGraph& graph, const Step& step) {
  if (step.over == 0 || (step.over & ~axes_of_operands(graph, step)) != 0)
    return "a fold over axes that its operand does not depend on";
  if ((step.over & graph.grid) != 0) return "a fold over an axis of the grid";
  if (step.combine != ScalarFn::add && step.combine != ScalarFn::mul && step.combine != ScalarFn::min &&
      step.combine != ScalarFn::max)
    return "a fold by no combining function";
  if (at(graph, step.args[0]).type != DType::f32) return "a fold of what is no float32";
  if (step.rescale < 0) return {};
  if (!graph.is_running(step) || step.combine != ScalarFn::add)
    return "only an accumulator that adds is rescaled";
  const Step& factor = at(graph, step.rescale);
  if (factor.place != step.place) return "its rescaling stands outside of its loop";
  if ((factor.axes & ~step.axes) != 0) return "its rescaling depends on axes that it does not depend on";
  return {};
}

std::string window_fault(const BlockGraph& graph, const Step& step) {
  const Window& window = step.window;
  const auto axes = static_cast<int>(graph.axes.size());
  const auto is_axis = [&](int axis) { return axis >= 0 && axis < axes; };
  if (!is_axis(window.of) || window.parts.empty()) return "a window of no axis, or at no value";
  AxisSet seen = axis_set(window.of);
  for (const Window::Part& part : window.parts) {
    if (!is_axis(part.axis) || (seen & axis_set(part.axis)) != 0) return "a window that names an axis twice";
    if (part.times < 1) return "a window that goes back";
    seen |= axis_set(part.axis);
  }
  if ((graph.grid & axis_set(window.of)) != 0) return "a window of an axis of the grid";
  for (int loop : graph.loops)
    if ((seen & axis_set(loop)) != 0) return "a window of a loop's axis, or at its values";
  if (at(graph, step.args[0]).type != DType::f32) return "a window of what is no float32";
  return {};
}

std::string step_fault(const BlockGraph& graph, int number) {
  const Step& step = at(graph, number);
  if (const std::string fault = number_fault(graph, step); !fault.empty()) return fault;
  std::vector<int> read = step.args;
  if (step.rescale >= 0) read.push_back(step.rescale);
  for (int arg : read) {
    if (arg < 0 || arg >= number) return fmt::format("%{} does not stand before it", arg);
    if (const std::string fault = operand_fault(graph, step, arg); !fault.empty()) return fault;
  }
  if (step.kind != Step::Kind::fold && (step.over != 0 || step.rescale >= 0))
    return "only folds go over axes";
  if (step.kind == Step::Kind::fold)
    if (const std::string fault = fold_fault(graph, step); !fault.empty()) return fault;
  if (step.kind != Step::Kind::window && step.window != Window{}) return "a window of what is none";
  if (step.kind == Step::Kind::window)
    if (const std::string fault = window_fault(graph, step); !fault.empty()) return fault;
  if (step.kind == Step::Kind::before &&
      (!graph.is_running(at(graph, step.args[0])) || at(graph, step.args[0]).place != step.place))
    return "'before' of what is no accumulator of the loop";
  Step known = step;
  complete(graph, known);
  if (known != step) return "its axes or type do not follow from its operands";
  for (size_t i = 0; i < graph.loops.size(); ++i)
    if (((step.axes | step.over) & axis_set(graph.loops[i])) != 0 &&
        step.place != static_cast<int>(2 * i + 1) &&
        !(graph.in_loop(step) && graph.loop_axis(step) == graph.loops[i]))
      return fmt::format("it depends on {} outside of a loop over it",
                         graph.axes[static_cast<size_t>(graph.loops[i])].name);
  return {};
}

std::string head_fault(const BlockGraph& graph) {
  const auto axes = static_cast<int>(graph.axes.size());
  if (axes > kMostAxes) return fmt::format("more than {} axes", kMostAxes);
  const AxisSet all = axes == kMostAxes ? ~AxisSet{0} : axis_set(axes) - 1;
  if ((graph.grid & ~all) != 0) return "a grid over an axis that there is not";
  for (int loop : graph.loops)
    if (loop < 0 || loop >= axes || (graph.grid & axis_set(loop)) != 0)
      return "a loop over an axis of the grid, or over none";
  if (graph.leaf_names.size() != graph.leaves.size()) return "leaves without names";
  for (const Leaf& leaf : graph.leaves)
    if ((leaf.axes & ~all) != 0) return "a leaf over an axis that there is not";
  return {};
}

}  // namespace

void complete(const BlockGraph& graph, Step& step) {
  switch (step.kind) {
    case Step::Kind::leaf:
      step.type = graph.leaves[static_cast<size_t>(step.leaf)].type;
      step.axes = graph.leaves[static_cast<size_t>(step.leaf)].axes;
      break;
    case Step::Kind::number:
      step.type = DType::f32;
      step.axes = 0;
      break;
    case Step::Kind::call: {
      std::vector<DType> types;
      for (int arg : step.args) types.push_back(at(graph, arg).type);
      step.type = type_of_call(step.op, types);
      step.axes = axes_of_operands(graph, step);
      break;
    }
    case Step::Kind::fold:
      step.type = at(graph, step.args[0]).type;
      step.axes = axes_of_operands(graph, step) & ~step.over;
      break;
    case Step::Kind::window:
      step.type = at(graph, step.args[0]).type;
      step.axes = axes_through(step.window, axes_of_operands(graph, step));
      break;
    case Step::Kind::before:
      step.type = at(graph, step.args[0]).type;
      step.axes = at(graph, step.args[0]).axes;
      break;
  }
}

std::string fault_in(const BlockGraph& graph) {
  if (const std::string fault = head_fault(graph); !fault.empty()) return fault;
  int place = 0;
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    const auto number = static_cast<int>(i);
    const Step& step = graph.steps[i];
    if (step.place < place || step.place > static_cast<int>(2 * graph.loops.size()))
      return fmt::format("%{}: its part of the graph is another one", i);
    place = step.place;
    try {
      if (const std::string fault = step_fault(graph, number); !fault.empty())
        return fmt::format("%{}: {}", i, fault);
    } catch (const Error& error) {  // of the shape rule: operands of types that the operator does not take
      return fmt::format("%{}: {}", i, error.what());
    }
  }
  if (graph.results.empty()) return "no result";
  for (int result : graph.results) {
    if (result < 0 || result >= static_cast<int>(graph.steps.size())) return "a result that is no step";
    const Step& step = at(graph, result);
    if (graph.in_loop(step) && !graph.is_running(step))
      return fmt::format("the result %{} is a value of a loop, and no accumulator", result);
    if ((graph.grid & ~step.axes) != 0)
      return fmt::format("the result %{} does not depend on all axes of the grid", result);
  }
  return {};
}

std::string print(const BlockGraph& graph) {
  std::string text = "block {\n  axes";
  for (size_t i = 0; i < graph.axes.size(); ++i) {
    const Axis& axis = graph.axes[i];
    text += fmt::format("{} {}", i == 0 ? "" : ",", axis.name);
    if (axis.extent > 0) text += fmt::format(" {}", axis.extent);
    if ((graph.grid & axis_set(static_cast<int>(i))) != 0) text += " grid";
  }
  text += "\n";
  for (size_t i = 0; i < graph.leaves.size(); ++i)
    text += fmt::format("  leaf {} {}{} [{}]\n", graph.leaf_names[i], name(graph.leaves[i].type),
                        graph.leaves[i].constant ? " constant" : "", names(graph, graph.leaves[i].axes));
  int place = 0;
  const auto go_to = [&](int next) {
    for (; place < next; ++place)
      text +=
          place % 2 == 0
              ? fmt::format("  loop {} {{\n",
                            graph.axes[static_cast<size_t>(graph.loops[static_cast<size_t>(place / 2)])].name)
              : "  }\n";
  };
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    go_to(graph.steps[i].place);
    text += fmt::format("  {}%{} = {}\n", place % 2 == 1 ? "  " : "", i, text_of(graph, graph.steps[i]));
  }
  go_to(static_cast<int>(2 * graph.loops.size()));
  for (int result : graph.results) text += fmt::format("  result %{}\n", result);
  return text + "}\n";
}

}  // namespace korch::block
