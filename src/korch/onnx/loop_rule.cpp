#include "korch/onnx/loop_rule.h"

#include <algorithm>

#include "korch/ir/loops.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/running_loop.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// A state to whose end each step puts something, and which it does not read otherwise.
struct Grown {
  std::ptrdiff_t state = 0;
  size_t items = 1;                  // of a sequence: in each step
  std::optional<int64_t> axis = {};  // of a tensor: along it
};

int64_t axis_of(const proto::NodeProto& concat) {
  for (const proto::AttributeProto& attribute : concat.attribute())
    if (attribute.name() == "axis") return attribute.i();
  return 0;  // the rule refuses it
}

bool appends_item(const proto::NodeProto& node, const std::string& to) {
  return node.op_type() == "SequenceInsert" && node.input_size() >= 2 && node.input(0) == to &&
         (node.input_size() == 2 || (node.input_size() == 3 && node.input(2).empty())) &&
         node.output_size() == 1;
}

// How the body goes on with a state that it reads as `input` and returns as `output`; nothing where it does
// something else with it.
std::optional<Grown> grown(const proto::GraphProto& body, std::string input, const std::string& output,
                           bool is_sequence) {
  Grown result{0, 0, {}};
  for (int passed = 0; input != output; ++passed) {
    const proto::NodeProto* reader = nullptr;
    int64_t times = std::count_if(body.output().begin(), body.output().end(),
                                  [&](const auto& made) { return made.name() == input; });
    for (const proto::NodeProto& node : body.node()) {
      const std::vector<std::string> names = reads(node);  // and what its subgraphs capture
      const int64_t here = std::count(names.begin(), names.end(), input);
      if (here > 0) reader = &node;
      times += here;
    }
    // In a circle of names, which the import refuses, there would be no end.
    if (times != 1 || reader == nullptr || passed > body.node_size() || reader->output_size() != 1 ||
        reader->input_size() == 0)
      return std::nullopt;
    const std::string& op = reader->op_type();
    if (is_sequence && appends_item(*reader, input)) {
      ++result.items;
    } else if (!is_sequence && op == "Concat" && reader->input(0) == input) {
      if (result.axis.value_or(axis_of(*reader)) != axis_of(*reader)) return std::nullopt;
      result.axis = axis_of(*reader);
    } else if (op != "Identity" && (op != "Cast" || is_sequence)) {  // a state's type stays
      return std::nullopt;
    }
    input = reader->output(0);
  }
  const auto made = std::count_if(body.output().begin(), body.output().end(),
                                  [&](const auto& each) { return each.name() == output; });
  if (made != 1 || (!is_sequence && !result.axis)) return std::nullopt;
  return result;
}

// While the loop runs, what is put behind such states are rows of it.
class GrownStates {
 public:
  // False where the body does something else with a sequence.
  bool take(NodeImport& n, const proto::GraphProto& body, const Results& states) {
    for (size_t i = 0; i < states.size(); ++i) {
      const bool is_sequence = states[i]->sequence.has_value();
      std::optional<Grown> how = grown(body, body.input(static_cast<int>(2 + i)).name(),
                                       body.output(static_cast<int>(1 + i)).name(), is_sequence);
      if (!how && is_sequence) return false;
      if (!how) continue;
      how->state = static_cast<std::ptrdiff_t>(i);
      if (how->axis) how->items = 1;
      if (how->axis) how->axis = n.axis(*how->axis, states[i]->rank());
      grown_.push_back(*how);
    }
    return true;
  }
  // Tensors are carried after all.
  void keep_sequences() {
    std::erase_if(grown_, [](const Grown& each) { return each.axis.has_value(); });
  }
  bool any(bool tensors) const {
    return std::any_of(grown_.begin(), grown_.end(),
                       [&](const Grown& each) { return each.axis.has_value() == tensors; });
  }

  Results without(Results states) const {
    for (size_t i = grown_.size(); i-- > 0;) states.erase(states.begin() + grown_[i].state);
    return states;
  }
  // Empty, so that after a step they are what it put behind them.
  Results with_empty(NodeImport& n, Results states, const Results& before) const {
    for (const Grown& each : grown_) {
      auto none = std::make_shared<OperandState>();
      if (each.axis) {
        const Operand& state = before[static_cast<size_t>(each.state)];
        Shape shape = state->shape();
        shape[static_cast<size_t>(*each.axis)] = 0;
        none = n.constant(HostTensor(TensorType{state->dtype(), shape}));
        Results extents = extents_of(state);
        extents[*each.axis] = nullptr;
        none = n.bounded(none, extents);
      } else {
        none->sequence.emplace();
      }
      states.insert(states.begin() + each.state, none);
    }
    return states;
  }

  // Of a body's outputs: what was put behind moves behind all others.
  Results rows_last(Results outputs) const {
    Results rows;
    for (size_t i = grown_.size(); i-- > 0;) {
      const auto made = outputs.begin() + 1 + grown_[i].state;
      if (grown_[i].axis)
        rows.insert(rows.begin(), *made);
      else
        rows.insert(rows.begin(), (*made)->sequence->begin(), (*made)->sequence->end());
      outputs.erase(made);
    }
    outputs.insert(outputs.end(), rows.begin(), rows.end());
    return outputs;
  }

  // Of a loop's results: the states, from the rows behind all others.
  Results restored(NodeImport& n, Results results, const Results& before) const {
    size_t rows = 0;
    for (const Grown& each : grown_) rows += each.items;
    const Results stacks(results.end() - static_cast<std::ptrdiff_t>(rows), results.end());
    results.resize(results.size() - rows);
    auto stack = stacks.begin();
    for (const Grown& each : grown_) {
      const Operand& state = before[static_cast<size_t>(each.state)];
      const Results of(stack, stack + static_cast<std::ptrdiff_t>(each.items));
      stack += static_cast<std::ptrdiff_t>(each.items);
      results.insert(results.begin() + each.state,
                     each.axis ? longer(n, state, of[0], *each.axis) : longer(n, state, of));
    }
    return results;
  }

 private:
  static Operand longer(NodeImport& n, const Operand& sequence, const Results& stacks) {
    auto whole = std::make_shared<OperandState>(*sequence);
    for (int64_t step = 0; !stacks.empty() && step < stacks[0]->shape()[0]; ++step)
      for (const Operand& of : stacks) {
        const Shape shape(of->shape().begin() + 1, of->shape().end());
        const Operand row = n.reshape(slice(Term(n, of), 0, step, 1), shape);
        row->stack = of;
        row->row = step;
        whole->sequence->push_back(row);
      }
    return whole;
  }

  // [steps, ..., k, ...] to [..., steps * k, ...], behind the state.
  static Operand longer(NodeImport& n, const Operand& state, const Operand& stack, int64_t axis) {
    std::vector<int64_t> perm;
    for (int64_t i = 1; i < stack->rank(); ++i) perm.push_back(i);
    perm.insert(perm.begin() + axis, 0);
    Term rows(n, stack);
    if (axis > 0) rows = transpose(rows, perm);
    Shape shape = rows.shape();
    const auto at = static_cast<size_t>(axis);
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + axis + 1);
    return concat({Term(n, state), reshape(rows, shape)}, axis);
  }

  std::vector<Grown> grown_;
};

RunningLoop described(NodeImport& n, bool may_vary) {
  RunningLoop loop;
  loop.condition = n.has_input(1) ? n.reshape(n.input(1), {}) : n.scalar(DType::bool_, 1);
  loop.count = n.integer(INT64_MAX);
  if (n.has_input(0)) {
    const Results count = n.elements_input(0, "number of steps");
    if (count.size() != 1) n.invalid("its number of steps is not one integer");
    loop.count = count[0];
    loop.most = loop.count->upper;
    if (loop.count->constant) loop.most = element_as_int(*loop.count->constant, 0);
  }
  if (loop.most && (*loop.most < 0 || *loop.most >= kMostSteps)) loop.most.reset();
  loop.may_vary = may_vary;
  return loop;
}

std::optional<Results> run_with(NodeImport& n, const GrownStates& grown, bool may_vary,
                                std::string& refusal) {
  const proto::GraphProto& body = n.graph_attr("body");
  Results states;
  for (size_t i = 2; i < n.input_count(); ++i) states.push_back(n.any_input(i));
  RunningLoop loop = described(n, may_vary);
  loop.states = grown.without(states);
  loop.step = [&](const Operand& number, const Results& before) {
    Results inputs = {number, n.scalar(DType::bool_, 1)};
    const Results given = grown.with_empty(n, before, states);
    inputs.insert(inputs.end(), given.begin(), given.end());
    const Results made = n.import_body(body, inputs, "step", &loop.refusal);
    return made.empty() ? made : grown.rows_last(made);
  };
  std::optional<Results> results = run_loop(n, loop);
  refusal = loop.refusal;
  if (!results) return results;
  if (grown.any(false) && std::any_of(results->begin(), results->end(), is_bounded)) {
    refusal = "how many items a sequence has depends on the data";
    return std::nullopt;
  }
  return grown.restored(n, *results, states);
}

}  // namespace

std::optional<Results> running_loop(NodeImport& n, bool may_vary, std::string& refusal) {
  Results states;
  for (size_t i = 2; i < n.input_count(); ++i) states.push_back(n.any_input(i));
  GrownStates grown;
  if (!grown.take(n, n.graph_attr("body"), states)) {
    refusal = "a sequence is read, or put together otherwise than by items behind the last";
    return std::nullopt;
  }
  std::optional<Results> results = run_with(n, grown, may_vary && !grown.any(true), refusal);
  if (results || !may_vary || !grown.any(true)) return results;
  grown.keep_sequences();
  return run_with(n, grown, may_vary, refusal);
}

}  // namespace korch::onnx
