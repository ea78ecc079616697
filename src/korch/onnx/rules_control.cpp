// Control flow. Where a condition is known, one branch stays. Else small branches are both computed, and
// large ones are loops of one step or none. Loops of few steps are written out, step after step; others run
// (ir/loops.h), where what a step makes for the next has one shape.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "korch/ir/loops.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/running_loop.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

using Results = std::vector<Operand>;

// Elements that a branch reads, some microseconds: with more, it is not computed for nothing.
constexpr double kLargeBranch = 0x1p14;
constexpr int kDeepestBranch = 3;

// At these bounds: zeros behind.
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
  const auto extent = [&](const Operand& x, int64_t axis) {
    const Operand counted = extent_of(x, axis);
    return Term(n, counted != nullptr
                       ? counted
                       : n.constant(HostTensor::of<int64_t>(DType::i64, {}, {x->shape()[axis]})));
  };
  for (int64_t axis = 0; axis < yes->rank(); ++axis) {
    const int64_t a = yes->shape()[axis], b = no->shape()[axis];
    bounds.push_back(std::max(a, b));
    const bool same = a == b && extent_of(yes, axis) == extent_of(no, axis);
    extents.push_back(same ? extent_of(yes, axis)
                           : select(chooses, extent(yes, axis), extent(no, axis)).operand());
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
    Results results = n.import_body(branch, {}, label, true,
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
};

Branch imported(NodeImport& n, const char* attribute, const char* label) {
  Branch branch{n.graph_attr(attribute), label, {}};
  const double before = n.emitted_work();
  branch.results = n.import_body(branch.graph, {}, label, false, [&](const Operand& x) {
    if (is_carried(x)) branch.read.push_back(x);
    return x;
  });
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

Results if_else(NodeImport& n) {
  const Operand& condition = n.input(0);
  if (condition->constant) {
    const proto::GraphProto &yes = n.graph_attr("then_branch"), &no = n.graph_attr("else_branch");
    return is_true(n, condition) ? n.import_body(yes, {}, "then") : n.import_body(no, {}, "else");
  }
  if (condition->dtype() != DType::bool_ || element_count(condition->shape()) != 1)
    n.invalid("the condition is not one bool");
  const Branch yes = imported(n, "then_branch", "then"), no = imported(n, "else_branch", "else");
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

// How the body goes on with a sequence that it reads as `input` and returns as `output`: by so many items put
// behind the last, and reads nothing of it; nothing where it does otherwise.
std::optional<size_t> appended(const proto::GraphProto& body, std::string input, const std::string& output) {
  size_t items = 0;
  for (; input != output; ++items) {
    const proto::NodeProto* reader = nullptr;
    int64_t times = 0;
    for (const proto::NodeProto& node : body.node()) {
      const std::vector<std::string> names = reads(node);  // and what its subgraphs capture
      const int64_t here = std::count(names.begin(), names.end(), input);
      if (here > 0) reader = &node;
      times += here;
    }
    const bool appends =
        times == 1 && reader->op_type() == "SequenceInsert" && reader->input_size() >= 2 &&
        reader->input(0) == input &&
        (reader->input_size() == 2 || (reader->input_size() == 3 && reader->input(2).empty())) &&
        reader->output_size() == 1;
    // In a circle of names, which the import refuses, there would be no end.
    if (!appends || items > static_cast<size_t>(body.node_size())) return std::nullopt;
    input = reader->output(0);
  }
  return items;
}

// A loop's sequences that grow by some items in each step: what is appended are rows, while it runs.
class Sequences {
 public:
  // False where a body does something else with one.
  bool take(const proto::GraphProto& body, const Results& states) {
    for (size_t i = 0; i < states.size(); ++i) {
      if (!states[i]->sequence) continue;
      const std::optional<size_t> items = appended(body, body.input(static_cast<int>(2 + i)).name(),
                                                   body.output(static_cast<int>(1 + i)).name());
      if (!items) return false;
      grown_.emplace_back(i, *items);
    }
    return true;
  }

  bool empty() const { return grown_.empty(); }

  // The states without sequences, and with empty ones.
  Results without(Results states) const {
    for (size_t i = grown_.size(); i-- > 0;) states.erase(states.begin() + grown_[i].state);
    return states;
  }
  Results with(Results states) const {
    for (const Grown& grown : grown_) {
      auto none = std::make_shared<OperandState>();
      none->sequence.emplace();
      states.insert(states.begin() + grown.state, none);
    }
    return states;
  }

  // Of a body's outputs: what was appended moves behind all others.
  Results rows_last(Results outputs) const {
    Results rows;
    for (size_t i = grown_.size(); i-- > 0;) {
      const auto sequence = outputs.begin() + 1 + grown_[i].state;
      rows.insert(rows.begin(), (*sequence)->sequence->begin(), (*sequence)->sequence->end());
      outputs.erase(sequence);
    }
    outputs.insert(outputs.end(), rows.begin(), rows.end());
    return outputs;
  }

  // Of a loop's results: the sequences, from the rows behind all others.
  Results restored(NodeImport& n, Results results, const Results& before) const {
    size_t rows = 0;
    for (const Grown& grown : grown_) rows += grown.items;
    const Results stacks(results.end() - static_cast<std::ptrdiff_t>(rows), results.end());
    results.resize(results.size() - rows);
    auto stack = stacks.begin();
    for (const Grown& grown : grown_) {
      auto whole = std::make_shared<OperandState>(*before[grown.state]);
      for (int64_t step = 0; grown.items > 0 && step < (*stack)->shape()[0]; ++step)
        for (size_t i = 0; i < grown.items; ++i) {
          const Operand& of = stack[static_cast<std::ptrdiff_t>(i)];
          const Shape shape(of->shape().begin() + 1, of->shape().end());
          const Operand row = n.reshape(slice(Term(n, of), 0, step, 1), shape);
          row->stack = of;
          row->row = step;
          whole->sequence->push_back(row);
        }
      stack += static_cast<std::ptrdiff_t>(grown.items);
      results.insert(results.begin() + grown.state, whole);
    }
    return results;
  }

 private:
  struct Grown {
    std::ptrdiff_t state;
    size_t items;
    Grown(size_t state, size_t items) : state(static_cast<std::ptrdiff_t>(state)), items(items) {}
  };
  std::vector<Grown> grown_;
};

std::optional<Results> running_loop(NodeImport& n) {
  const proto::GraphProto& body = n.graph_attr("body");
  RunningLoop loop;
  loop.condition = n.has_input(1) ? n.reshape(n.input(1), {}) : n.scalar(DType::bool_, 1);
  loop.count = n.has_input(0) ? n.reshape(n.input(0), {})
                              : n.constant(HostTensor::of<int64_t>(DType::i64, {}, {INT64_MAX}));
  if (loop.count->constant && n.has_input(0)) loop.most = element_as_int(*loop.count->constant, 0);
  if (loop.count->upper) loop.most = loop.count->upper;
  if (loop.most && (*loop.most < 0 || *loop.most >= kMostSteps)) loop.most.reset();
  Results states;
  for (size_t i = 2; i < n.input_count(); ++i) states.push_back(n.any_input(i));
  Sequences sequences;
  if (!sequences.take(body, states)) return std::nullopt;
  loop.states = sequences.without(states);
  loop.step = [&](const Operand& number, const Results& before) {
    Results inputs = {number, n.scalar(DType::bool_, 1)};
    const Results given = sequences.with(before);
    inputs.insert(inputs.end(), given.begin(), given.end());
    const Results made = n.import_body(body, inputs, "step", true);
    return made.empty() ? made : sequences.rows_last(made);
  };
  std::optional<Results> results = run_loop(n, loop);
  if (!results || sequences.empty()) return results;
  if (std::any_of(results->begin(), results->end(), is_bounded))
    return std::nullopt;  // how many items there are
  return sequences.restored(n, *results, states);
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
    Results inputs = {n.constant(HostTensor::of<int64_t>(DType::i64, {}, {step})),
                      active ? *active : n.scalar(DType::bool_, 1)};
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
    if (std::optional<Results> results = running_loop(n)) return *results;
    n.unsupported("its condition depends on the data and decides how long a result is");
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
  if (!known || !is_short(n.int_input(0, "number of steps"), body))
    if (std::optional<Results> results = running_loop(n)) return *results;
  if (n.has_input(0) && !n.input(0)->constant)
    n.unsupported(
        "its number of steps depends on the data: then all of its body must be supported, its states must "
        "keep their "
        "shapes, and what it stacks needs a bound of the steps");
  return written_out_loop(n);
}

}  // namespace

const std::vector<RuleRow>& control_rules() {
  static const std::vector<RuleRow> rows = {
      {"If", if_else, 1, 25},
      {"Loop", loop, 1, 25},
  };
  return rows;
}

}  // namespace korch::onnx
