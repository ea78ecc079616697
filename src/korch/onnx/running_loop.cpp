#include "korch/onnx/running_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/ir/loops.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {

using Results = std::vector<Operand>;

bool is_short(int64_t steps, const proto::GraphProto& body) {
  return steps <= 1 || steps <= kUnrolled / std::max(1, body.node_size());
}

void require_few(NodeImport& n, int64_t steps, const proto::GraphProto& body) {
  if (steps > kMaxUnrolled / std::max(1, body.node_size()))
    n.unsupported(fmt::format("{} steps of {} nodes; all of them are written out, up to {} nodes", steps,
                              body.node_size(), kMaxUnrolled));
}

bool is_true(NodeImport& n, const Operand& condition) {
  if (condition->dtype() != DType::bool_ || condition->constant->elements() != 1)
    n.invalid("the condition is not one bool");
  return element_as_int(*condition->constant, 0) != 0;
}

Operand stacked(NodeImport& n, const std::vector<Term>& steps, int64_t axis, bool reversed,
                const proto::ValueInfoProto& declared) {
  if (steps.empty()) {
    const auto& type = declared.type().tensor_type();
    const std::optional<DType> dtype = dtype_of(type.elem_type());
    Shape shape = {0};
    for (const auto& dimension : type.shape().dim()) {
      if (!dimension.has_dim_value()) n.unsupported("no steps, and a result whose shape is not declared");
      shape.push_back(dimension.dim_value());
    }
    if (!type.has_shape() || !dtype) n.unsupported("no steps, and a result whose shape is not declared");
    return n.constant(HostTensor(TensorType{*dtype, shape}));
  }
  const int64_t rank = steps[0].rank() + 1, place = n.axis(axis, rank);
  std::vector<Term> parts;
  for (const Term& step : steps) {
    if (step.shape() != steps[0].shape()) n.unsupported("a result whose shape changes from step to step");
    parts.push_back(insert_axis(step, place));
  }
  if (reversed) std::reverse(parts.begin(), parts.end());
  return concat(parts, place);
}

bool is_plain(const Operand& x) {
  return !x->sequence && !is_bounded(x);
}

std::optional<Results> run_loop(NodeImport& n, const RunningLoop& loop) {
  if (!std::all_of(loop.states.begin(), loop.states.end(), is_plain)) return std::nullopt;
  const auto carried = static_cast<std::ptrdiff_t>(loop.states.size());
  const auto begin = [&](const LoopAttrs& attrs, const Results& stacks) {
    Results given = {loop.count, loop.condition};
    given.insert(given.end(), loop.states.begin(), loop.states.end());
    given.insert(given.end(), stacks.begin(), stacks.end());
    return n.emit_all(Op::LoopBegin, attrs, given);
  };
  const auto step_after = [&](const Results& begun) {
    return loop.step(begun[0], {begun.begin() + 2, begun.begin() + 2 + carried});
  };
  LoopAttrs attrs{n.new_loop(), carried};
  Results begun = begin(attrs, {}), made = step_after(begun);
  if (made.empty() || !std::all_of(made.begin(), made.end(), is_plain)) return std::nullopt;
  for (std::ptrdiff_t i = 0; i < carried; ++i)
    if (made[1 + i]->type != loop.states[i]->type) return std::nullopt;
  if (static_cast<std::ptrdiff_t>(made.size()) > 1 + carried) {
    if (!loop.most) return std::nullopt;
    Results stacks;
    for (auto row = made.begin() + 1 + carried; row != made.end(); ++row) {
      Shape shape = (*row)->shape();
      shape.insert(shape.begin(), *loop.most);
      stacks.push_back(n.emit(Op::Expand, ShapeAttrs{shape}, {n.scalar((*row)->dtype(), 0)}));
    }
    // Once more, now that their types are known; the first is read by nobody.
    attrs.number = n.new_loop();
    begun = begin(attrs, stacks);
    made = step_after(begun);
  }
  Results given = {begun[0], loop.count, n.reshape(made[0], {})};
  given.insert(given.end(), made.begin() + 1, made.begin() + 1 + carried);
  given.insert(given.end(), begun.begin() + 2 + carried, begun.end());
  given.insert(given.end(), made.begin() + 1 + carried, made.end());
  Results ended = n.emit_all(Op::LoopEnd, attrs, given);
  const Operand steps = ended[0];
  ended.erase(ended.begin(), ended.begin() + 2);
  if (loop.most) steps->upper = *loop.most;
  const bool all = loop.most && loop.count->constant && made[0]->constant && is_true(n, made[0]) &&
                   loop.condition->constant && is_true(n, loop.condition);
  for (auto stack = ended.begin() + carried; stack != ended.end() && !all; ++stack) {
    Results extents(static_cast<size_t>((*stack)->rank()));
    extents[0] = steps;
    *stack = n.bounded(*stack, extents);
  }
  return ended;
}

}  // namespace korch::onnx
