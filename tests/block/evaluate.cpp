#include "evaluate.h"

#include <cmath>
#include <limits>
#include <random>

#include "korch/ir/scalar_functions.h"

namespace korch::block {
namespace {

double identity_of(ScalarFn combine) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (combine == ScalarFn::max) return -kInf;
  if (combine == ScalarFn::min) return kInf;
  return combine == ScalarFn::mul ? 1 : 0;
}

double combined(ScalarFn combine, double a, double b) {
  double out = 0;
  apply_block<double>(combine, 1, &a, &b, nullptr, &out);
  return out;
}

}  // namespace

Evaluator::Evaluator(std::vector<Axis> axes) : axes_(std::move(axes)) {
  for (const Axis& axis : axes_) {
    strides_.push_back(static_cast<int64_t>(points_));
    points_ *= static_cast<size_t>(axis.extent);
  }
}

Numbers Evaluator::random(AxisSet axes, DType type, uint64_t seed) const {
  std::mt19937_64 draw(seed);
  Numbers numbers(points_);
  for (size_t point = 0; point < points_; ++point) {
    size_t own = 0;
    for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis)
      if ((axes & axis_set(axis)) != 0)
        own += static_cast<size_t>(coordinate(point, axis) * strides_[static_cast<size_t>(axis)]);
    if (own != point) {
      numbers[point] = numbers[own];
      continue;
    }
    numbers[point] = 0.25 + 1.5 * static_cast<double>(draw() >> 11) * 0x1p-53;
    if (type == DType::bool_) numbers[point] = numbers[point] > 0.8 ? 1 : 0;
  }
  return numbers;
}

Numbers Evaluator::call(Op op, const ScalarAttrs& scalars, const std::vector<const Numbers*>& args) const {
  std::vector<Numbers> values;
  const auto n = static_cast<int64_t>(points_);
  for (const ScalarExpr::Term& term : scalar_semantics(op).terms) {
    const auto at = [&](int i) { return i < 0 ? nullptr : values[static_cast<size_t>(i)].data(); };
    Numbers out(points_);
    if (term.fn == ScalarFn::arg0 || term.fn == ScalarFn::arg1 || term.fn == ScalarFn::arg2)
      out = *args[static_cast<size_t>(term.fn) - static_cast<size_t>(ScalarFn::arg0)];
    else if (term.fn == ScalarFn::alpha)
      out.assign(points_, scalars.alpha);
    else if (term.fn == ScalarFn::beta)
      out.assign(points_, scalars.beta);
    else if (term.fn == ScalarFn::constant)
      out.assign(points_, term.value);
    else
      apply_block<double>(term.fn, n, at(term.a), at(term.b), at(term.c), out.data());
    values.push_back(std::move(out));
  }
  return values.back();
}

Numbers Evaluator::fold(ScalarFn combine, AxisSet over, const Numbers& arg, int axis, int64_t first,
                        int64_t end) const {
  Numbers result(points_, identity_of(combine));
  const auto base = [&](size_t point) {  // the point at the start of the axes folded over
    for (int i = 0; i < static_cast<int>(axes_.size()); ++i)
      if ((over & axis_set(i)) != 0)
        point -= static_cast<size_t>(coordinate(point, i) * strides_[static_cast<size_t>(i)]);
    return point;
  };
  for (size_t point = 0; point < points_; ++point) {
    if (axis >= 0 && (coordinate(point, axis) < first || coordinate(point, axis) >= end)) continue;
    double& value = result[base(point)];
    value = combined(combine, value, arg[point]);
  }
  for (size_t point = 0; point < points_; ++point) result[point] = result[base(point)];
  return result;
}

Numbers Evaluator::at(const Window& window, const Numbers& arg) const {
  Numbers result(points_, 0);
  for (size_t point = 0; point < points_; ++point) {
    int64_t place = window.offset;
    for (const Window::Part& part : window.parts) place += part.times * coordinate(point, part.axis);
    if (place < 0 || place >= axes_[static_cast<size_t>(window.of)].extent) continue;
    const int64_t steps = place - coordinate(point, window.of);
    result[point] = arg[static_cast<size_t>(static_cast<int64_t>(point) +
                                            steps * strides_[static_cast<size_t>(window.of)])];
  }
  return result;
}

std::vector<Numbers> Evaluator::evaluate(const Terms& terms, const std::vector<Numbers>& leaves) const {
  std::vector<Numbers> values;
  for (const Term& term : terms.terms) {
    std::vector<const Numbers*> args;
    for (int arg : term.args) args.push_back(&values[static_cast<size_t>(arg)]);
    switch (term.kind) {
      case TermKind::leaf:
        values.push_back(leaves[static_cast<size_t>(term.leaf)]);
        break;
      case TermKind::number:
        values.push_back(Numbers(points_, term.number));
        break;
      case TermKind::call:
        values.push_back(call(term.op, term.scalars, args));
        break;
      case TermKind::fold:
        values.push_back(fold(term.combine, term.over, *args[0]));
        break;
      case TermKind::window:
        values.push_back(at(term.window, *args[0]));
        break;
    }
  }
  return values;
}

// As lowerings take it, 0 where a maximum of -inf is subtracted from -inf.
Numbers Evaluator::exp_of(const BlockGraph& graph, const Step& step, const std::vector<Numbers>& now) const {
  const auto of = static_cast<size_t>(step.args[0]);
  Numbers result = call(Op::Exp, {}, {&now[of]});
  const Step& difference = graph.steps[of];
  if (difference.kind != Step::Kind::call || difference.op != Op::Sub) return result;
  const Numbers& x = now[static_cast<size_t>(difference.args[0])];
  const Numbers& r = now[static_cast<size_t>(difference.args[1])];
  for (size_t point = 0; point < points_; ++point)
    if (std::isinf(x[point]) && x[point] == r[point]) result[point] = 0;
  return result;
}

std::vector<Numbers> Evaluator::run(const BlockGraph& graph, const std::vector<Numbers>& leaves,
                                    int64_t block) const {
  std::vector<Numbers> now(graph.steps.size()), before(graph.steps.size());
  const auto step_at = [&](size_t i, int64_t first, int64_t end) {
    const Step& step = graph.steps[i];
    std::vector<const Numbers*> args;
    for (int arg : step.args) args.push_back(&now[static_cast<size_t>(arg)]);
    switch (step.kind) {
      case Step::Kind::leaf:
        return leaves[static_cast<size_t>(step.leaf)];
      case Step::Kind::number:
        return Numbers(points_, step.number);
      case Step::Kind::call:
        return step.op == Op::Exp ? exp_of(graph, step, now) : call(step.op, step.scalars, args);
      case Step::Kind::window:
        return at(step.window, *args[0]);
      case Step::Kind::before:
        return before[static_cast<size_t>(step.args[0])];
      case Step::Kind::fold:
        break;
    }
    if (!graph.is_running(step)) return fold(step.combine, step.over, *args[0]);
    Numbers sum = fold(step.combine, step.over, *args[0], graph.loop_axis(step), first, end);
    for (size_t point = 0; point < points_; ++point) {
      double held = before[i][point];
      if (step.rescale >= 0) held *= now[static_cast<size_t>(step.rescale)][point];
      sum[point] = combined(step.combine, held, sum[point]);
    }
    return sum;
  };
  for (size_t i = 0; i < graph.steps.size();) {
    const int place = graph.steps[i].place;
    size_t behind = i;
    while (behind < graph.steps.size() && graph.steps[behind].place == place) ++behind;
    const int axis = graph.loop_axis(graph.steps[i]);
    const int64_t extent = axis < 0 ? 1 : axes_[static_cast<size_t>(axis)].extent;
    for (size_t s = i; s < behind; ++s) now[s].assign(points_, identity_of(graph.steps[s].combine));
    for (int64_t first = 0; first < extent; first += block) {
      for (size_t s = i; s < behind; ++s) before[s] = now[s];
      for (size_t s = i; s < behind; ++s) now[s] = step_at(s, first, std::min(extent, first + block));
    }
    i = behind;
  }
  std::vector<Numbers> results;
  for (int result : graph.results) results.push_back(now[static_cast<size_t>(result)]);
  return results;
}

bool close(const Numbers& a, const Numbers& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) {
      if (std::isnan(a[i]) != std::isnan(b[i])) return false;
    } else if (!(std::fabs(a[i] - b[i]) <= 1e-7 * std::max({1.0, std::fabs(a[i]), std::fabs(b[i])})) &&
               a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace korch::block
