// Control flow. Where a condition is known, one branch stays. Else small branches are both computed, and
// large ones are loops of one step or none. Loops of few steps are written out, step after step; others run
// (ir/loops.h), where what a step makes for the next has one shape.
#include <fmt/format.h>

#include <algorithm>

#include "korch/onnx/bounded.h"
#include "korch/onnx/loop_rule.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/running_loop.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Elements that a branch reads, some microseconds: with more, it is not computed for nothing.
constexpr double kLargeBranch = 0x1p14;
constexpr int kDeepestBranch = 3;

// Where one is longer, the extent depends on the data.
Term chosen(NodeImport& n, const Operand& condition, const Operand& yes, const Operand& no) {
  if (yes->sequence || no->sequence) n.unsupported("a condition that depends on the data chooses a sequence");
  if (yes->dtype() != no->dtype() || yes->rank() != no->rank())
    n.unsupported(fmt::format("a condition that depends on the data chooses between {} and {}",
                              to_string(yes->type), to_string(no->type)));
  const Term chooses(n, n.reshape(condition, {}));
  if (yes->type == no->type && !is_bounded(yes) && !is_bounded(no))
    return select(chooses, {n, yes}, Term(n, no));
  Shape bounds;
  Results extents;
  for (int64_t axis = 0; axis < yes->rank(); ++axis) {
    const int64_t a = yes->shape()[axis], b = no->shape()[axis];
    bounds.push_back(std::max(a, b));
    const bool same = a == b && extent_of(yes, axis) == extent_of(no, axis);
    extents.push_back(same ? extent_of(yes, axis)
                           : select(chooses, length({n, yes}, axis), length({n, no}, axis)).operand());
    if (!same) extents.back()->upper = bounds.back();
  }
  return {n, n.bounded(select(chooses, padded(n, yes, bounds), padded(n, no, bounds)), extents)};
}

// What a branch reads from around, as a loop carries it in; constants stay where they are, and what is known
// of more than a tensor's elements would be lost.
bool is_carried(const Operand& x) {
  return is_plain(x) && !x->constant && !x->upper && x->elements.empty() && x->unquantized == nullptr &&
         x->stack == nullptr;
}

// A branch as a loop of so many steps, one or none, after which the results are `otherwise`. What it reads is
// carried, or its primitives would depend on nothing in the loop, stand before it and always be computed.
std::optional<Results> run_once(NodeImport& n, const proto::GraphProto& branch, const std::string& label,
                                const Term& count, const Results& read, const Results& otherwise) {
  RunningLoop loop{count.operand(), n.scalar(DType::bool_, 1), 1, read, nullptr};
  loop.states.insert(loop.states.end(), otherwise.begin(), otherwise.end());
  loop.step = [&](const Operand&, const Results& states) {
    size_t next = 0;
    Results results = n.import_body(branch, {}, label, &loop.refusal,
                                    [&](const Operand& x) { return is_carried(x) ? states[next++] : x; });
    if (results.empty()) return results;
    results.insert(results.begin(), states.begin(), states.begin() + static_cast<std::ptrdiff_t>(next));
    results.insert(results.begin(), n.scalar(DType::bool_, 1));
    return results;
  };
  std::optional<Results> results = run_loop(n, loop);
  if (results) results->erase(results->begin(), results->begin() + static_cast<std::ptrdiff_t>(read.size()));
  return results;
}

struct Branch {
  const proto::GraphProto& graph;
  std::string label;
  Results read, results = {};
  bool is_large = false;
  std::string misfit = {};  // what does not fit together in it, or not into the least extents of a range
  ErrorKind kind = ErrorKind::invalid;  // of the misfit
};

Branch imported(NodeImport& n, const char* attribute, const char* label) {
  Branch branch{n.graph_attr(attribute), label, {}};
  const double before = n.emitted_work();
  try {
    branch.results = n.import_body(branch.graph, {}, label, nullptr, [&](const Operand& x) {
      if (is_carried(x)) branch.read.push_back(x);
      return x;
    });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid && error.kind() != ErrorKind::usage) throw;
    branch.misfit = error.what();
    branch.kind = error.kind();
  }
  branch.is_large = n.emitted_work() - before > kLargeBranch;
  return branch;
}

// How many conditions within conditions a branch has: each large one is imported twice.
int depth(const proto::GraphProto& graph) {
  int deepest = 0;
  for (const proto::NodeProto& node : graph.node())
    for (const proto::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) deepest = std::max(deepest, 1 + depth(attribute.g()));
  return deepest;
}

// Exporters write branches for what the data may be (a batch of one, another sample rate): one that does not
// fit the shapes is an error where a run takes it. `taken`: the condition's value for the branch that fits.
Results only_fitting(NodeImport& n, const Operand& condition, bool taken, const Branch& fits,
                     const Branch& misfit) {
  n.builder().warn(
      fmt::format("node {}: a run that takes its {} branch is an error, since that does not fit: {}",
                  quoted_name(n.origin()), misfit.label, misfit.misfit));
  const Term chooses(n, n.reshape(condition, {}));
  const Term one(
      n, n.builder().required(taken ? chooses : !chooses,
                              fmt::format("node {} takes its {} branch, which does not fit the shapes: {}",
                                          quoted_name(n.origin()), misfit.label, misfit.misfit),
                              n.origin()));
  const Term is_right = one == 1;
  Results outputs;
  for (const Operand& result : fits.results) {
    if (result->sequence) n.unsupported("a condition that depends on the data chooses a sequence");
    outputs.push_back(select(is_right, Term(n, result), 0));
  }
  return outputs;
}

Results if_else(NodeImport& n) {
  const Operand& condition = n.input(0);
  if (condition->constant) {
    const proto::GraphProto &yes = n.graph_attr("then_branch"), &no = n.graph_attr("else_branch");
    return is_true(n, condition) ? n.import_body(yes, {}, "then") : n.import_body(no, {}, "else");
  }
  if (condition->dtype() != DType::bool_ || element_count(condition->shape()) != 1)
    n.invalid("the condition is not one bool");
  const Branch yes = imported(n, "then_branch", "then"), no = imported(n, "else_branch", "else");
  if (!yes.misfit.empty() && !no.misfit.empty())
    throw Error(yes.kind, fmt::format("neither branch fits: {}; {}", yes.misfit, no.misfit));
  if (!no.misfit.empty()) return only_fitting(n, condition, true, yes, no);
  if (!yes.misfit.empty()) return only_fitting(n, condition, false, no, yes);
  if (yes.results.size() != no.results.size()) n.invalid("its branches have different numbers of outputs");
  const auto same = [](const Operand& a, const Operand& b) {
    return is_plain(a) && is_plain(b) && a->type == b->type;
  };
  if ((yes.is_large || no.is_large) && std::max(depth(yes.graph), depth(no.graph)) <= kDeepestBranch &&
      std::equal(yes.results.begin(), yes.results.end(), no.results.begin(), same)) {
    const Term count = cast(Term(n, n.reshape(condition, {})), DType::i64);
    Results none;
    for (const Operand& result : yes.results)
      none.push_back(n.emit(Op::Expand, ShapeAttrs{result->shape()}, {n.scalar(result->dtype(), 0)}));
    const std::optional<Results> first = run_once(n, yes.graph, yes.label, count, yes.read, none);
    const std::optional<Results> both =
        first ? run_once(n, no.graph, no.label, 1 - count, no.read, *first) : std::nullopt;
    if (both) return *both;
  }
  Results outputs;
  for (size_t i = 0; i < yes.results.size(); ++i)
    outputs.push_back(chosen(n, condition, yes.results[i], no.results[i]));
  return outputs;
}

// A condition that depends on the data lets later steps change nothing more.
Results written_out_loop(NodeImport& n) {
  const proto::GraphProto& body = n.graph_attr("body");
  const bool counted = n.has_input(0), conditional = n.has_input(1);
  Results states;
  for (size_t i = 2; i < n.input_count(); ++i) states.push_back(n.any_input(i));
  const auto scanned = static_cast<int64_t>(body.output_size()) - 1 - static_cast<int64_t>(states.size());
  const int64_t most = counted ? n.int_input(0, "number of steps") : kMaxUnrolled;
  std::optional<Operand> active;  // nothing: for sure
  if (conditional && !n.input(1)->constant) active = n.input(1);
  bool goes_on = !conditional || active || is_true(n, n.input(1));
  std::vector<std::vector<Term>> made(static_cast<size_t>(scanned));
  for (int64_t step = 0; step < most && goes_on; ++step) {
    require_few(n, counted ? most : step + 1, body);
    Results inputs = {n.integer(step), active ? *active : n.scalar(DType::bool_, 1)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const Results outputs = n.import_body(body, inputs, std::to_string(step));
    for (size_t i = 0; i < states.size(); ++i)
      states[i] = active ? chosen(n, *active, outputs[i + 1], states[i]) : outputs[i + 1];
    for (size_t i = 0; i < made.size(); ++i) made[i].push_back({n, outputs[1 + states.size() + i]});
    const Operand& condition = outputs[0];
    if (condition->constant) {
      goes_on = is_true(n, condition);
      continue;
    }
    if (!counted) n.unsupported("its condition depends on the data, and no number of steps is given");
    active = active ? n.emit(Op::And, {*active, condition}) : condition;
  }
  if (active && scanned > 0) {
    std::string refusal;
    if (std::optional<Results> results = running_loop(n, true, refusal)) return *results;
    n.unsupported("its condition depends on the data and decides how long a result is: " + refusal);
  }
  Results results = states;
  for (size_t i = 0; i < made.size(); ++i)
    results.push_back(stacked(n, made[i], 0, false, body.output(static_cast<int>(1 + states.size() + i))));
  return results;
}

Results loop(NodeImport& n) {
  const proto::GraphProto& body = n.graph_attr("body");
  const auto given = static_cast<int>(n.input_count());
  if (body.output_size() + 1 < given || body.input_size() < given)
    n.invalid("its body has fewer inputs or outputs than it has states");
  const bool known = n.has_input(0) && n.input(0)->constant && (!n.has_input(1) || n.input(1)->constant);
  const int64_t steps = known ? n.int_input(0, "number of steps") : 0;
  std::string refusal;
  if (known && is_short(steps, body)) return written_out_loop(n);
  if (std::optional<Results> results = running_loop(n, !known, refusal)) return *results;
  if (known && !are_few(steps, body))
    if (std::optional<Results> results = running_loop(n, true, refusal)) return *results;
  if (n.has_input(0) && !n.input(0)->constant)
    n.unsupported("its number of steps depends on the data, and it cannot run as a loop: " + refusal);
  return written_out_loop(n);
}

}  // namespace

std::vector<RuleRow> control_rules() {
  return {
      {"If", if_else, 1, 25},
      {"Loop", loop, 1, 25},
  };
}

}  // namespace korch::onnx
