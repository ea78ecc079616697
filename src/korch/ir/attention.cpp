#include "korch/ir/attention.h"

namespace korch {

Graph attention_definition(const std::vector<TensorType>& inputs) {
  Graph graph;
  for (const char* name : {"q", "k", "v", "mask"})
    if (graph.inputs().size() < inputs.size()) graph.add_input(inputs[graph.inputs().size()], name);
  const std::vector<ValueId> in = graph.inputs();
  ValueId scores = graph.add(Op::MatMul, MatMulAttrs{false, true}, {in[0], in[1]});
  if (in.size() > 3) scores = graph.add(Op::Add, NoAttrs{}, {scores, in[3]});
  const ReduceAttrs along{{static_cast<int64_t>(graph.value(scores).type.shape.size()) - 1}, true};
  const ValueId largest = graph.add(Op::ReduceMax, along, {scores});
  const ValueId weights = graph.add(Op::Exp, NoAttrs{}, {graph.add(Op::Sub, NoAttrs{}, {scores, largest})});
  const ValueId sum = graph.add(Op::ReduceSum, along, {weights});
  const ValueId product = graph.add(Op::MatMul, MatMulAttrs{}, {weights, in[2]});
  graph.set_outputs({graph.add(Op::Div, NoAttrs{}, {product, sum})}, {"y"});
  return graph;
}

}  // namespace korch
