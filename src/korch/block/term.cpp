#include "korch/block/term.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/ir/graph.h"

namespace korch::block {

DType type_of_call(Op op, const std::vector<DType>& operands) {
  std::vector<TensorType> types;
  for (DType operand : operands) types.push_back({operand, {}});
  return infer_types(op, op_attrs(op, {}), types, std::vector<const HostTensor*>(types.size(), nullptr))[0]
      .dtype;
}

Attrs op_attrs(Op op, const ScalarAttrs& scalars) {
  return has_scalars(op) ? Attrs{scalars} : Attrs{NoAttrs{}};
}

bool has_scalars(Op op) {
  return info(op).attrs_index == Attrs{ScalarAttrs{}}.index();
}

AxisSet Window::axes() const {
  AxisSet set = 0;
  for (const Part& part : parts) set |= axis_set(part.axis);
  return set;
}

AxisSet axes_through(const Window& window, AxisSet axes) {
  return (axes & ~axis_set(window.of)) | window.axes();
}

int Terms::add(Term term) {
  const auto of = [&](int arg) { return terms[static_cast<size_t>(arg)].axes; };
  switch (term.kind) {
    case TermKind::leaf:
      term.axes = leaves[static_cast<size_t>(term.leaf)].axes;
      break;
    case TermKind::number:
      term.axes = 0;
      break;
    case TermKind::call:
      term.axes = 0;
      for (int arg : term.args) term.axes |= of(arg);
      break;
    case TermKind::fold:
      term.axes = of(term.args[0]) & ~term.over;
      break;
    case TermKind::window:
      term.axes = axes_through(term.window, of(term.args[0]));
      break;
  }
  const auto found = std::find(terms.begin(), terms.end(), term);
  if (found != terms.end()) return static_cast<int>(found - terms.begin());
  terms.push_back(std::move(term));
  return static_cast<int>(terms.size()) - 1;
}

int Terms::leaf(int number) {
  return add({.kind = TermKind::leaf, .type = leaves[static_cast<size_t>(number)].type, .leaf = number});
}

int Terms::number(double value) {
  return add({.kind = TermKind::number, .type = DType::f32, .number = value});
}

int Terms::call(Op op, std::vector<int> args, ScalarAttrs scalars) {
  std::vector<DType> types;
  for (int arg : args) types.push_back(terms[static_cast<size_t>(arg)].type);
  return add({.kind = TermKind::call,
              .type = type_of_call(op, types),
              .op = op,
              .scalars = scalars,
              .args = std::move(args)});
}

int Terms::fold(ScalarFn combine, AxisSet over, int arg) {
  if (over == 0) return arg;
  return add({.kind = TermKind::fold,
              .type = terms[static_cast<size_t>(arg)].type,
              .args = {arg},
              .combine = combine,
              .over = over});
}

int Terms::at(Window window, int arg) {
  return add({.kind = TermKind::window,
              .type = terms[static_cast<size_t>(arg)].type,
              .args = {arg},
              .window = std::move(window)});
}

std::vector<std::string> names_of(const std::vector<Axis>& axes, AxisSet set) {
  std::vector<std::string> names;
  for (size_t i = 0; i < axes.size(); ++i)
    if ((set & axis_set(static_cast<int>(i))) != 0) names.push_back(axes[i].name);
  return names;
}

std::string print(const Terms& terms, int term) {
  const Term& t = terms.terms[static_cast<size_t>(term)];
  switch (t.kind) {
    case TermKind::leaf:
      return fmt::format("leaf{}[{}]", t.leaf, fmt::join(names_of(terms.axes, t.axes), ","));
    case TermKind::number:
      return fmt::format("{}", t.number);
    case TermKind::call: {
      std::vector<std::string> args;
      for (int arg : t.args) args.push_back(print(terms, arg));
      return fmt::format("{}({})", name(t.op), fmt::join(args, ", "));
    }
    case TermKind::fold:
      return fmt::format("{} {} ({})", name_of_fold(t.combine), fmt::join(names_of(terms.axes, t.over), ","),
                         print(terms, t.args[0]));
    case TermKind::window:
      return fmt::format("at {} ({})", print(terms.axes, t.window), print(terms, t.args[0]));
  }
  return {};
}

std::string print(const std::vector<Axis>& axes, const Window& window) {
  std::string text = axes[static_cast<size_t>(window.of)].name + " = ";
  for (const Window::Part& part : window.parts)
    text += fmt::format("{} {} + ", part.times, axes[static_cast<size_t>(part.axis)].name);
  return text + std::to_string(window.offset);
}

std::string structure_text(const Terms& terms) {
  const auto axes = [&](AxisSet set) { return fmt::format("{}", fmt::join(names_of(terms.axes, set), ",")); };
  std::string text;
  for (const Leaf& leaf : terms.leaves)
    text +=
        fmt::format("leaf {} [{}]{}\n", name(leaf.type), axes(leaf.axes), leaf.constant ? " constant" : "");
  const auto args = [](const Term& term) {
    std::vector<std::string> names;
    for (int arg : term.args) names.push_back(fmt::format("%{}", arg));
    return fmt::format("{}", fmt::join(names, ", "));
  };
  for (size_t i = 0; i < terms.terms.size(); ++i) {
    const Term& term = terms.terms[i];
    text += fmt::format("%{} = ", i);
    switch (term.kind) {
      case TermKind::leaf:
        text += fmt::format("leaf {}\n", term.leaf);
        break;
      case TermKind::number:
        text += fmt::format("{}\n", term.number);
        break;
      case TermKind::call:
        text += fmt::format("{}({})", name(term.op), args(term));
        if (has_scalars(term.op))
          text += fmt::format(" {{alpha={}, beta={}}}", term.scalars.alpha, term.scalars.beta);
        text += "\n";
        break;
      case TermKind::fold:
        text += fmt::format("{} {} ({})\n", name_of_fold(term.combine), axes(term.over), args(term));
        break;
      case TermKind::window:
        text += fmt::format("at {} ({})\n", print(terms.axes, term.window), args(term));
        break;
    }
  }
  for (int result : terms.results) text += fmt::format("result %{}\n", result);
  return text;
}

const char* name_of_fold(ScalarFn combine) {
  return combine == ScalarFn::add ? "sum" : name(combine);
}

}  // namespace korch::block
