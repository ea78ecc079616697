#include "korch/onnx/running_loop.h"

#include <fmt/format.h>

#include <algorithm>

#include "korch/ir/loops.h"
#include "korch/onnx/bounded.h"

namespace korch::onnx {

bool is_short(int64_t steps, const proto::GraphProto& body) {
  return steps <= 1 || steps <= kUnrolled / std::max(1, body.node_size());
}

bool are_few(int64_t steps, const proto::GraphProto& body) {
  return steps <= kMaxUnrolled / std::max(1, body.node_size());
}

void require_few(NodeImport& n, int64_t steps, const proto::GraphProto& body) {
  if (!are_few(steps, body))
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

Term padded(NodeImport& n, const Operand& x, const Shape& bounds) {
  Term result(n, n.bounded(x, {}));
  const DType type = result.dtype();
  for (int64_t axis = 0; axis < result.rank(); ++axis) {
    const int64_t missing = bounds[axis] - result.extent(axis);
    if (missing > 0)
      result = pad(type == DType::bool_ ? cast(result, DType::u8) : result, axis, 0, missing, 0);
  }
  return cast(result, type);
}

namespace {

constexpr int kMostPasses = 8;  // until the bounds of the states are found

// A state as the loop carries it: at its bounds, with the extents that change or depend on the data.
struct Carried {
  Operand initial;
  Shape bounds;
  std::vector<bool> counted;  // per axis
};

class Runner {
 public:
  Runner(NodeImport& n, RunningLoop& loop) : n_(n), loop_(loop) {
    for (const Operand& state : loop.states) {
      Carried carried{state, state->type.shape, {}};
      for (int64_t axis = 0; axis < state->rank(); ++axis)
        carried.counted.push_back(extent_of(state, axis) != nullptr);
      carried_.push_back(carried);
    }
  }

  std::optional<Results> run() {
    for (const Operand& state : loop_.states) {
      if (state->sequence) return refused("a state is a sequence that is read, or more than appended to");
      if (is_bounded(state) && !loop_.may_vary) return refused("an extent of a state depends on the data");
    }
    for (int pass = 0; pass < kMostPasses; ++pass) {
      const Step step = next({});
      if (step.made.empty()) return std::nullopt;
      for (const Operand& made : step.made)
        if (made->sequence) return refused("it makes a sequence");
      const std::optional<bool> changed = adapt(step);
      if (!changed) return std::nullopt;
      if (!*changed) return finished(step);
    }
    return refused("no bound is found of a state whose extents change");
  }

 private:
  struct Step {
    LoopAttrs attrs;
    Results begun, made;  // what LoopBegin passes on; the condition, the states and the rows
    Results states;       // with their extents
  };

  std::optional<Results> refused(const std::string& why) {
    loop_.refusal = why;
    return std::nullopt;
  }
  size_t state_count() const { return carried_.size(); }

  template <typename Function>
  void each_counted(Function function) const {
    for (size_t i = 0; i < state_count(); ++i)
      for (size_t axis = 0; axis < carried_[i].counted.size(); ++axis)
        if (carried_[i].counted[axis]) function(i, static_cast<int64_t>(axis));
  }

  // The body once more, for states of the present bounds. `more` are carried behind, and then stacks.
  Step next(const Results& more, const Results& stacks = {}) {
    Step step;
    Results given = {loop_.count, loop_.condition};
    for (const Carried& state : carried_) given.push_back(padded(n_, state.initial, state.bounds));
    each_counted([&](size_t i, int64_t axis) { given.push_back(n_.length(carried_[i].initial, axis)); });
    given.insert(given.end(), more.begin(), more.end());
    step.attrs = {n_.new_loop(), static_cast<int64_t>(given.size()) - 2};
    given.insert(given.end(), stacks.begin(), stacks.end());
    step.begun = n_.emit_all(Op::LoopBegin, step.attrs, given);
    step.states = with_extents(step.begun);
    step.made = loop_.step(step.begun[0], step.states);
    return step;
  }

  // Of the results of one of the ends: the states.
  Results with_extents(const Results& results) {
    Results states(results.begin() + 2, results.begin() + 2 + static_cast<std::ptrdiff_t>(state_count()));
    std::vector<Results> extents;
    for (const Carried& state : carried_) extents.emplace_back(state.bounds.size());
    size_t at = 2 + state_count();
    each_counted([&](size_t i, int64_t axis) {
      const Operand& extent = results[at++];
      extent->upper = carried_[i].bounds[static_cast<size_t>(axis)];
      extents[i][static_cast<size_t>(axis)] = extent;
    });
    for (size_t i = 0; i < states.size(); ++i) states[i] = n_.bounded(states[i], extents[i]);
    return states;
  }

  // Whether the bounds had to change for what a step made of the states; nothing where there are none.
  std::optional<bool> adapt(const Step& step) {
    bool changed = false;
    for (size_t i = 0; i < state_count(); ++i) {
      const Operand& made = step.made[1 + i];
      if (made->dtype() != carried_[i].initial->dtype() || made->rank() != carried_[i].initial->rank()) {
        refused(fmt::format("a state of type {} becomes one of {}", to_string(carried_[i].initial->type),
                            to_string(made->type)));
        return std::nullopt;
      }
      for (int64_t axis = 0; axis < made->rank(); ++axis) {
        const std::optional<int64_t> bound = bound_for(made, step.states[i], carried_[i], axis);
        if (!bound) return std::nullopt;
        const auto at = static_cast<size_t>(axis);
        const bool counted = carried_[i].counted[at] || extent_of(made, axis) != nullptr ||
                             made->shape()[at] != carried_[i].bounds[at];
        if (counted && !loop_.may_vary) {
          refused("a state changes its shape");
          return std::nullopt;
        }
        changed = changed || *bound != carried_[i].bounds[at] || counted != carried_[i].counted[at];
        carried_[i].bounds[at] = *bound;
        carried_[i].counted[at] = counted;
      }
    }
    return changed;
  }

  // A bound of an extent before and after all steps, given one step from the present bound.
  std::optional<int64_t> bound_for(const Operand& made, const Operand& before, const Carried& carried,
                                   int64_t axis) {
    const int64_t bound = carried.bounds[static_cast<size_t>(axis)];
    const Operand after = extent_of(made, axis), was = extent_of(before, axis);
    const int64_t upper = made->shape()[static_cast<size_t>(axis)];
    if (after == nullptr || std::min(after->upper.value_or(upper), upper) <= bound)
      return after == nullptr ? std::max(upper, bound) : bound;
    if (was == nullptr) return std::max(upper, bound);  // a first try
    const std::optional<int64_t> growth = n_.growth(after, was);
    if (growth && *growth <= 0) return bound;
    if (!growth || !loop_.most) {
      refused(growth ? "a state grows, and no bound of the number of steps is known"
                     : "a state grows by what depends on how long it is");
      return std::nullopt;
    }
    const int64_t first = carried.initial->shape()[static_cast<size_t>(axis)];
    if (*growth > (kMaxOffset - first) / std::max<int64_t>(*loop_.most, 1))
      throw Error(ErrorKind::resource, "a state may grow beyond any memory");
    return std::max(first + *loop_.most * *growth, bound);
  }

  // At the bounds of the state.
  Operand cut(const Operand& made, const Carried& state) {
    Term result(n_, n_.bounded(made, {}));
    for (int64_t axis = 0; axis < result.rank(); ++axis) {
      const int64_t bound = state.bounds[static_cast<size_t>(axis)];
      if (result.extent(axis) > bound) result = slice(result, axis, 0, bound);
    }
    return padded(n_, result, state.bounds);
  }

  // Rows may have extents that depend on the data, but the same ones in each step: those of the last.
  Results row_extents(const Step& step) {
    Results extents;
    for (size_t row = 1 + state_count(); row < step.made.size(); ++row)
      for (int64_t axis = 0; axis < step.made[row]->rank(); ++axis)
        if (const Operand extent = extent_of(step.made[row], axis)) extents.push_back(extent);
    return extents;
  }

  std::optional<Results> finished(Step step) {
    const size_t rows = step.made.size() - 1 - state_count();
    if (rows > 0 && !loop_.most) return refused("what it stacks needs a bound of the number of steps");
    const size_t lengths = row_extents(step).size();
    if (lengths > 0 && !loop_.may_vary) return refused("an extent of what it stacks depends on the data");
    if (rows > 0) {
      Results stacks;
      for (auto row = step.made.end() - static_cast<std::ptrdiff_t>(rows); row != step.made.end(); ++row) {
        Shape shape = (*row)->shape();
        shape.insert(shape.begin(), *loop_.most);
        stacks.push_back(n_.emit(Op::Expand, ShapeAttrs{shape}, {n_.scalar((*row)->dtype(), 0)}));
      }
      // Once more, now that their types are known; the first is read by nobody.
      step = next(Results(lengths, n_.integer(0)), stacks);
    }
    return ended(step, rows);
  }

  Results ended(const Step& step, size_t rows) {
    const auto first_row = step.made.end() - static_cast<std::ptrdiff_t>(rows);
    Results given = {step.begun[0], loop_.count, n_.reshape(step.made[0], {})};
    for (size_t i = 0; i < state_count(); ++i) given.push_back(cut(step.made[1 + i], carried_[i]));
    each_counted([&](size_t i, int64_t axis) {
      const int64_t bound = carried_[i].bounds[static_cast<size_t>(axis)];
      given.push_back(
          min(Term(n_, n_.length(step.made[1 + i], axis)), Term(n_, n_.integer(bound))).operand());
    });
    const Results lengths = row_extents(step);
    given.insert(given.end(), lengths.begin(), lengths.end());
    given.insert(given.end(), step.begun.end() - static_cast<std::ptrdiff_t>(rows), step.begun.end());
    for (auto row = first_row; row != step.made.end(); ++row) given.push_back(n_.bounded(*row, {}));
    const Results all = n_.emit_all(Op::LoopEnd, step.attrs, given);
    Results results = with_extents(all);
    const Operand& steps = all[0];
    if (loop_.most) steps->upper = *loop_.most;
    const bool always = loop_.most && loop_.count->constant && step.made[0]->constant &&
                        is_true(n_, step.made[0]) && loop_.condition->constant &&
                        is_true(n_, loop_.condition);
    auto length = all.end() - static_cast<std::ptrdiff_t>(rows + lengths.size());
    auto stack = all.end() - static_cast<std::ptrdiff_t>(rows);
    for (auto row = first_row; row != step.made.end(); ++row, ++stack) {
      Results extents(static_cast<size_t>((*stack)->rank()));
      if (!always) extents[0] = steps;
      for (int64_t axis = 0; axis < (*row)->rank(); ++axis) {
        if (extent_of(*row, axis) == nullptr) continue;
        (*length)->upper = (*row)->shape()[static_cast<size_t>(axis)];
        extents[static_cast<size_t>(axis) + 1] = *length++;
      }
      results.push_back(n_.bounded(*stack, extents));
    }
    return results;
  }

  NodeImport& n_;
  RunningLoop& loop_;
  std::vector<Carried> carried_;
};

}  // namespace

std::optional<Results> run_loop(NodeImport& n, RunningLoop& loop) {
  return Runner(n, loop).run();
}

}  // namespace korch::onnx
