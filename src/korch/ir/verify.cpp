#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "korch/ir/append.h"
#include "korch/ir/loops.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

bool has_wide_result(const Node& node) {
  const auto* matmul = std::get_if<MatMulAttrs>(&node.attrs);
  const auto* conv = std::get_if<ConvAttrs>(&node.attrs);
  return (matmul != nullptr && matmul->wide_result) || (conv != nullptr && conv->wide_result);
}

void verify_node(const Graph& graph, NodeId id, GraphForm form) {
  const Node& node = graph.node(id);
  const auto require = [&](bool condition, const char* what) {
    if (!condition) throw Error(ErrorKind::internal, fmt::format("verifier: {}: {}", what, print(graph, id)));
  };
  std::vector<TensorType> types;
  std::vector<const HostTensor*> constants;
  for (ValueId input : node.inputs) {
    if (input >= graph.value_count())
      throw Error(ErrorKind::internal,
                  fmt::format("verifier: node {} ({}) reads Value {}, which does not exist", id,
                              name(node.op), input));
    const Value& value = graph.value(input);
    types.push_back(value.type);
    constants.push_back(graph.constant(input));
    require(std::binary_search(value.users.begin(), value.users.end(), id),
            "an input does not list the node as user");
    const bool is_input =
        std::find(graph.inputs().begin(), graph.inputs().end(), input) != graph.inputs().end();
    require(!value.producers.empty() || is_input, "an input Value has no producer");
  }
  require(node.attrs.index() == info(node.op).attrs_index, "wrong attribute struct");
  require(static_cast<int>(node.outputs.size()) == output_count(node.op, node.attrs, node.inputs.size()),
          "wrong number of outputs");
  if (form == GraphForm::primitive) {
    require(is_primitive(node.op), "composite operator after fission");
    require(!std::holds_alternative<ConvAttrs>(node.attrs) || node.inputs.size() == 2,
            "bias inside a linear primitive");
    const bool computes = info(node.op).category != Category::layout &&
                          info(node.op).category != Category::constant && node.op != Op::Cast &&
                          node.op != Op::NarrowMatMul;  // which reads them alone
    const bool small =
        std::any_of(types.begin(), types.end(), [](const TensorType& t) { return is_small_float(t.dtype); });
    require(!computes || !small || has_wide_result(node), "arithmetic on a 16-bit float after fission");
  }
  std::vector<TensorType> inferred;
  try {
    inferred = infer_types(node.op, node.attrs, types, constants);
  } catch (const Error& error) {
    require(false, error.what());
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    require(value.type == inferred[i], "an output's type is not the inferred one");
    require(std::count(value.producers.begin(), value.producers.end(), id) == 1,
            "an output does not list the node");
  }
}

void verify_extents(const Graph& graph) {
  const size_t tensors = graph.outputs().size() - graph.extents().size();
  for (size_t i = 0; i < graph.extents().size(); ++i) {
    const auto [output, axis] = graph.extents()[i];
    const TensorType& type = graph.value(graph.outputs()[tensors + i]).type;
    const bool known = output >= 0 && static_cast<size_t>(output) < tensors && axis >= 0 &&
                       axis < static_cast<int>(graph.value(graph.outputs()[output]).type.shape.size());
    if (!known || type.dtype != DType::i64 || type.elements() != 1)
      throw Error(ErrorKind::internal,
                  fmt::format("verifier: extent {} is no single i64 of an axis of an output", i));
  }
}

void verify_open_dimensions(const Graph& graph) {
  const std::vector<OpenDimension>& open = graph.open_dimensions();
  const auto require = [](bool condition, const OpenDimension& dimension, const char* what) {
    if (!condition)
      throw Error(ErrorKind::internal,
                  fmt::format("verifier: open dimension '{}': {}", dimension.name, what));
  };
  const int64_t tensors = static_cast<int64_t>(graph.inputs().size()) - static_cast<int64_t>(open.size());
  for (size_t i = 0; i < open.size(); ++i) {
    require(tensors > 0, open[i], "there are no tensors to be its");
    const TensorType& type = graph.value(graph.inputs()[static_cast<size_t>(tensors) + i]).type;
    require(type.dtype == DType::i64 && type.shape.empty(), open[i], "its extent is no i64 of rank 0");
    require(open[i].least >= 0 && open[i].least <= open[i].most, open[i], "its bounds are none");
    require(!open[i].axes.empty(), open[i], "it has no axis");
    for (const auto& [input, axis] : open[i].axes) {
      require(input >= 0 && input < tensors, open[i], "there is no such input");
      const Shape& shape = graph.value(graph.inputs()[static_cast<size_t>(input)]).type.shape;
      require(axis >= 0 && axis < static_cast<int>(shape.size()), open[i], "there is no such axis");
      require(shape[static_cast<size_t>(axis)] == open[i].most, open[i], "a type states another bound");
    }
    int64_t before = open[i].least - 1;
    for (const auto& [first, last, step] : open[i].fitting) {
      require(first > before && last >= first && last <= open[i].most && step >= 1, open[i],
              "the extents that fit do not ascend within its bounds");
      before = last;
    }
    if (!open[i].sum) continue;
    require(!open[i].sum->terms.empty(), open[i], "its sum has no terms");
    for (const auto& [term, factor] : open[i].sum->terms) {
      require(term >= 0 && term < static_cast<int>(open.size()) && !open[static_cast<size_t>(term)].sum,
              open[i], "its sum is of no free dimension");
      require(factor > 0 && factor <= open[i].most, open[i], "its sum has a factor that is none");
    }
  }
}

void verify_states(const Graph& graph) {
  const size_t inputs = graph.inputs().size() - graph.open_dimensions().size(),
               outputs = graph.outputs().size() - graph.extents().size();
  std::set<int> read, made;
  const std::vector<Appended> appended = appended_inputs(graph);
  for (const StatePair& state : graph.states()) {
    const auto require = [&](bool condition, const char* what) {
      if (!condition)
        throw Error(ErrorKind::internal, fmt::format("verifier: state of input {} and output {}: {}",
                                                     state.input, state.output, what));
    };
    require(state.input >= 0 && static_cast<size_t>(state.input) < inputs && state.output >= 0 &&
                static_cast<size_t>(state.output) < outputs,
            "there are none such");
    require(read.insert(state.input).second && made.insert(state.output).second, "they are of two states");
    if (state.axis < 0) {
      require(graph.value(graph.inputs()[static_cast<size_t>(state.input)]).type ==
                  graph.value(graph.outputs()[static_cast<size_t>(state.output)]).type,
              "they have different types");
      continue;
    }
    const auto append = std::find_if(appended.begin(), appended.end(), [&](const Appended& a) {
      return a.input == state.input && a.output == state.output;
    });
    require(
        append != appended.end() && std::get<AppendAttrs>(graph.node(append->node).attrs).axis == state.axis,
        "the output does not append to the input");
  }
}

}  // namespace

void verify(const Graph& graph, GraphForm form) {
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (!graph.node(id).dead) verify_node(graph, id, form);
  }
  for (ValueId output : graph.outputs()) {
    const bool known = output < graph.value_count();
    const auto& inputs = graph.inputs();
    if (!known || (graph.is_input(output) && std::find(inputs.begin(), inputs.end(), output) == inputs.end()))
      throw Error(ErrorKind::internal, fmt::format("verifier: graph output {} is never computed", output));
  }
  verify_extents(graph);
  verify_open_dimensions(graph);
  verify_states(graph);
  graph.topological_order();
  const std::string fault = Loops(graph).fault();
  if (!fault.empty()) throw Error(ErrorKind::internal, "verifier: " + fault);
}

}  // namespace korch
