#include "korch/interp/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/interp/evaluate.h"
#include "korch/interp/random_rounding.h"
#include "korch/ir/loops.h"
#include "korch/ir/refusal.h"

namespace korch {

LoopWithoutEnd::LoopWithoutEnd(const std::string& node, int64_t steps)
    : Error(ErrorKind::resource,
            fmt::format("node \"{}\": the loop has not ended after {} steps", node, steps)) {}

std::vector<NodeId> needed_nodes(const Graph& graph) {
  enum class State : uint8_t { unseen, open, done };
  std::vector<State> state(graph.node_count(), State::unseen);
  std::vector<NodeId> order, stack;
  const auto visit = [&](ValueId value) {
    if (graph.is_input(value)) return;
    const NodeId producer = graph.value(value).producers[0];
    if (state[producer] == State::unseen) stack.push_back(producer);
    KORCH_ASSERT(state[producer] != State::open, "the graph has a cycle");
  };
  for (ValueId output : graph.outputs()) {
    visit(output);
    while (!stack.empty()) {
      const NodeId node = stack.back();
      if (state[node] == State::unseen) {
        state[node] = State::open;
        for (size_t i = graph.node(node).inputs.size(); i-- > 0;) visit(graph.node(node).inputs[i]);
        continue;
      }
      stack.pop_back();
      if (state[node] == State::open) order.push_back(node);
      state[node] = State::done;
    }
  }
  return order;
}

namespace {

TensorType stored_type(TensorType type, Precision precision) {
  if (precision == Precision::float64 && is_float(type.dtype)) type.dtype = DType::f64;
  return type;
}

std::string label(const Graph& graph, const Node& node) {
  if (!node.origins.empty()) return node.origins[0];
  return node.outputs.empty() ? "" : graph.value(node.outputs[0]).name;
}

std::vector<HostTensor> evaluate_labelled(const Node& node, const std::string& label,
                                          const std::vector<HostTensor>& inputs,
                                          const std::vector<TensorType>& output_types, Precision precision,
                                          StopCheck& stop) {
  std::vector<TensorType> types;
  for (const TensorType& type : output_types) types.push_back(stored_type(type, precision));
  std::vector<HostTensor> results;
  try {
    results = evaluator(node.op)(Evaluation{node, inputs, types, stop});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal || error.kind() == ErrorKind::interrupted) throw;
    if (label.starts_with(kRefusal)) throw Error(error.kind(), label.substr(kRefusal.size()));
    throw Error(error.kind(), fmt::format("node \"{}\": {}: {}", label, name(node.op), error.what()));
  }
  KORCH_ASSERT(results.size() == types.size(), "one result per output");
  for (size_t i = 0; i < results.size(); ++i) {
    KORCH_ASSERT(results[i].shape() == types[i].shape,
                 fmt::format("node \"{}\": {} computed [{}] where the shape rule says [{}]", label,
                             name(node.op), to_string(results[i].shape()), to_string(types[i].shape)));
    results[i] = converted(results[i], types[i].dtype);
  }
  return results;
}

// One run of a graph: the Values alive, and how many reads each still has before it.
class Run {
 public:
  // `rounding` null: to nearest.
  Run(const Graph& graph, const InterpretOptions& options, StopCheck& stop, RandomRounding* rounding)
      : graph_(graph),
        options_(options),
        stop_(stop),
        rounding_(rounding),
        loops_(graph),
        order_(in_order(graph, loops_)),
        values_(graph.value_count()),
        again_(graph.value_count()),
        reads_left_(graph.value_count(), 0) {
    for (NodeId id : order_)
      for (ValueId input : graph.node(id).inputs) ++reads_left_[input];
    for (ValueId output : graph.outputs()) ++reads_left_[output];
  }

  void set_input(ValueId id, const HostTensor& tensor) {
    const DType wanted = stored_type(graph_.value(id).type, options_.precision).dtype;
    const bool as_bytes = is_storage(tensor.dtype()) && !is_storage(wanted);
    values_[id] = as_bytes ? tensor.retyped(wanted) : converted(tensor, wanted);
    if (options_.observe) options_.observe(id, values_[id]);
    if (reads_left_[id] == 0) values_[id] = {};
  }

  void compute() { compute(0, order_.size()); }

  HostTensor read(ValueId id) {
    const HostTensor* constant = graph_.constant(id);
    if (constant != nullptr)
      return converted(*constant, stored_type(constant->type(), options_.precision).dtype);
    const HostTensor value = values_[id];
    release(id, 1);
    return value;
  }

 private:
  static std::vector<NodeId> in_order(const Graph& graph, const Loops& loops) {
    const std::vector<NodeId> nodes = needed_nodes(graph);
    if (loops.empty()) return nodes;
    std::vector<LoopItem> items;
    for (NodeId id : nodes) items.push_back(loops.item(id));
    std::vector<NodeId> order;
    for (size_t item : order_by_loops(items, loops)) order.push_back(nodes[item]);
    return order;
  }

  // Of the order, from one place up to another.
  void compute(size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      const Node& node = graph_.node(order_[i]);
      // Constants are read where they are used: widening all of them at once would double the memory of a
      // model.
      if (node.op == Op::Constant && !options_.observe) continue;
      if (node.op == Op::LoopBegin)
        i = run_loop(i);
      else if (rounding_ != nullptr && rounding_->computes_twice())
        compute_twice(node);
      else
        store(node, evaluate(node, read_all(node)));
    }
  }

  void compute_twice(const Node& node) {
    std::vector<HostTensor> second;
    for (ValueId input : node.inputs) second.push_back(again_[input]);
    const std::vector<HostTensor> first = read_all(node);
    store(node, evaluate(node, rounding_->mostly(first, second)));
    const std::vector<HostTensor> results = evaluate(node, rounding_->mostly(second, first));
    for (size_t i = 0; i < results.size(); ++i)
      if (values_[node.outputs[i]].raw() != nullptr) again_[node.outputs[i]] = results[i];
  }

  std::vector<HostTensor> read_all(const Node& node) {
    std::vector<HostTensor> inputs;
    for (ValueId input : node.inputs) inputs.push_back(read(input));
    return inputs;
  }

  void release(ValueId id, int reads) {
    if ((reads_left_[id] -= reads) == 0) values_[id] = again_[id] = {};
  }

  // The loop whose begin stands there; returns where its end does.
  size_t run_loop(size_t at) {
    const Node& begin = graph_.node(order_[at]);
    const NodeId ends = loops_.loops()[static_cast<size_t>(loops_.of_value(begin.outputs[0]))].end;
    const auto found = std::find(order_.begin() + static_cast<std::ptrdiff_t>(at), order_.end(), ends);
    KORCH_ASSERT(found != order_.end(), "what a loop computes is asked for without its end");
    const auto end_at = static_cast<size_t>(found - order_.begin());
    const Node& end = graph_.node(order_[end_at]);
    std::vector<HostTensor> state = evaluate(begin, read_all(begin));
    // Every step reads what was there before: it is held until the last, and read once then.
    std::map<ValueId, int> reads;
    for (size_t i = at + 1; i <= end_at; ++i)
      for (ValueId input : graph_.node(order_[i]).inputs) ++reads[input];
    for (const auto& [value, count] : reads) ++reads_left_[value];
    const std::vector<int> reads_of_a_step = reads_left_;
    for (int64_t step = 0; element_as_int(state[1], 0) != 0; ++step) {
      if (step == options_.most_steps) throw LoopWithoutEnd(label(graph_, begin), step);
      reads_left_ = reads_of_a_step;
      store(begin, state);
      compute(at + 1, end_at);
      state = evaluate(end, read_all(end));
    }
    reads_left_ = reads_of_a_step;
    for (const auto& [value, count] : reads) release(value, count + 1);
    store(end, state);
    return end_at;
  }

  std::vector<HostTensor> evaluate(const Node& node, const std::vector<HostTensor>& inputs) const {
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) types.push_back(graph_.value(output).type);
    if (rounding_ != nullptr) return rounding_->evaluate(node, inputs, types);
    return evaluate_labelled(node, label(graph_, node), inputs, types, options_.precision, stop_);
  }

  void store(const Node& node, const std::vector<HostTensor>& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (options_.observe) options_.observe(node.outputs[i], results[i]);
      again_[node.outputs[i]] = {};
      if (reads_left_[node.outputs[i]] > 0 && node.op != Op::Constant) values_[node.outputs[i]] = results[i];
    }
  }

  const Graph& graph_;
  const InterpretOptions& options_;
  StopCheck& stop_;
  RandomRounding* rounding_;
  const Loops loops_;
  std::vector<NodeId> order_;
  std::vector<HostTensor> values_;
  std::vector<HostTensor> again_;  // where each Value is computed twice
  std::vector<int> reads_left_;
};

void check_input(const Graph& graph, ValueId id, const HostTensor& tensor, Precision precision) {
  const TensorType& wanted = graph.value(id).type;
  const bool widened =
      precision == Precision::float64 && is_float(wanted.dtype) && tensor.dtype() == DType::f64;
  const bool bytes = is_storage(tensor.dtype()) && carrier(tensor.dtype()) == wanted.dtype;  // after fission
  if (tensor.shape() == wanted.shape && (tensor.dtype() == wanted.dtype || widened || bytes)) return;
  throw Error(ErrorKind::invalid, fmt::format("input '{}' must be {}, not {}", graph.value(id).name,
                                              to_string(wanted), to_string(tensor.type())));
}

}  // namespace

std::vector<HostTensor> evaluate_node(const Node& node, const std::vector<HostTensor>& inputs,
                                      const std::vector<TensorType>& output_types, Precision precision) {
  StopCheck stop;
  return evaluate_node(node, inputs, output_types, precision, stop);
}

std::vector<HostTensor> evaluate_node(const Node& node, const std::vector<HostTensor>& inputs,
                                      const std::vector<TensorType>& output_types, Precision precision,
                                      StopCheck& stop) {
  return evaluate_labelled(node, node.origins.empty() ? "" : node.origins[0], inputs, output_types, precision,
                           stop);
}

namespace {

std::vector<HostTensor> run_graph(const Graph& graph, const std::vector<HostTensor>& inputs,
                                  const InterpretOptions& options, StopCheck& stop,
                                  RandomRounding* rounding) {
  if (inputs.size() != graph.inputs().size())
    throw Error(ErrorKind::invalid,
                fmt::format("the graph has {} inputs, {} were given", graph.inputs().size(), inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    check_input(graph, graph.inputs()[i], inputs[i], options.precision);
  Run run(graph, options, stop, rounding);
  for (size_t i = 0; i < inputs.size(); ++i) run.set_input(graph.inputs()[i], inputs[i]);
  run.compute();
  std::vector<HostTensor> outputs;
  for (ValueId output : graph.outputs()) outputs.push_back(run.read(output));
  return outputs;
}

}  // namespace

std::vector<HostTensor> interpret(const Graph& graph, const std::vector<HostTensor>& inputs,
                                  const InterpretOptions& options) {
  StopCheck stop(options.deadline);
  return interpret(graph, inputs, options, stop);
}

std::vector<HostTensor> interpret(const Graph& graph, const std::vector<HostTensor>& inputs,
                                  const InterpretOptions& options, StopCheck& stop) {
  return run_graph(graph, inputs, options, stop, nullptr);
}

std::vector<HostTensor> interpret_rounding_at_random(
    const Graph& graph, const std::vector<HostTensor>& inputs, uint64_t seed,
    const std::function<void(ValueId, const HostTensor&)>& observe, const Offsets& offsets,
    Roundings roundings, const Deadline& deadline, ProductType products) {
  StopCheck stop(deadline);
  RandomRounding rounding(seed, offsets, stop, roundings, products);
  return run_graph(graph, inputs, {Precision::native, observe}, stop, &rounding);
}

std::vector<Shape> output_shapes(const Graph& graph, const std::vector<HostTensor>& outputs) {
  std::vector<Shape> shapes;
  for (const HostTensor& output : outputs) shapes.push_back(output.shape());
  const size_t tensors = outputs.size() - graph.extents().size();
  for (size_t i = 0; i < graph.extents().size(); ++i) {
    const auto [output, axis] = graph.extents()[i];
    int64_t& extent = shapes[static_cast<size_t>(output)][static_cast<size_t>(axis)];
    const int64_t counted = element_as_int(outputs[tensors + i], 0);
    KORCH_ASSERT(counted >= 0 && counted <= extent, "an extent beyond its bound");
    extent = counted;
  }
  return shapes;
}

}  // namespace korch
