// The graph that a plan carries: all that its steps exchange, without the network's weights, and back again.
#include "korch/inspect/plan_graph.h"

#include <gtest/gtest.h>

#include <cstring>

#include "korch/base/error.h"
#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"

namespace korch {
namespace {

HostTensor numbers(Shape shape, int64_t modulus, float step) {
  HostTensor tensor(TensorType{DType::f32, std::move(shape)});
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 2654435761U) % modulus) * step - 1;
  return tensor;
}

// A factor that goes into weights, and a product of bytes by whole weights with a zero point.
Graph network() {
  Graph g;
  const auto number = [&](float value) {
    return g.add_constant(HostTensor::of<float>(DType::f32, {}, {value}));
  };
  ValueId y = g.add_input({DType::f32, {6, 20}}, "x");
  y = g.add(Op::Mul, NoAttrs{}, {y, g.add_constant(numbers({20}, 97, 0.03F))});
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(numbers({20, 24}, 1000, 0.002F))});
  y = g.add(Op::Max, NoAttrs{}, {g.add(Op::Round, NoAttrs{}, {y}), number(-128)});
  y = g.add(Op::Min, NoAttrs{}, {y, number(127)});
  y = g.add(Op::MatMul, MatMulAttrs{}, {y, g.add_constant(numbers({24, 18}, 100, 1))});
  g.set_outputs({g.add(Op::Mul, NoAttrs{}, {y, g.add_constant(numbers({18}, 89, 0.03F))})}, {"y"});
  return g;
}

// A step per node that computes, so that all Values are exchanged.
Plan plan_of_all(const Graph& graph) {
  Plan plan;
  const auto tensor = [&](ValueId value) {
    PlanTensor result;
    result.value = value;
    result.type = graph.value(value).type;
    plan.tensors.push_back(result);
    return static_cast<int>(plan.tensors.size()) - 1;
  };
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (node.op == Op::Constant) continue;
    PlanStep step;
    for (ValueId input : node.inputs)
      if (graph.constant(input) == nullptr) step.inputs.push_back(tensor(input));
    for (ValueId output : node.outputs) step.outputs.push_back(tensor(output));
    plan.steps.push_back(step);
  }
  return plan;
}

std::map<ValueId, HostTensor> values_of(Graph graph, const std::vector<ValueId>& outputs) {
  graph.set_outputs(outputs, std::vector<std::string>(outputs.size()));
  const std::vector<HostTensor> tensors = interpret(graph, {numbers({6, 20}, 1009, 0.01F)});
  std::map<ValueId, HostTensor> result;
  for (size_t i = 0; i < outputs.size(); ++i) result.emplace(outputs[i], tensors[i]);
  return result;
}

class PlanGraphTest : public testing::Test {
 protected:
  void write(bool strict, bool bytes) {
    imported_ = network();
    const Graph primitive = fission(imported_);
    rewritten_ = add_alternatives(primitive, {.strict = strict, .bytes = bytes});
    plan_ = plan_of_all(rewritten_.graph);
    plan_.graph = plan_graph(primitive, rewritten_, plan_);
  }

  // Every Value is there, and every bit of what it is.
  void expect_same() const {
    const PlanPrimitives read = read_plan_graph(plan_.graph, imported_);
    std::vector<ValueId> theirs, ours;
    for (const PlanTensor& tensor : plan_.tensors) {
      const auto found = read.ids.find(tensor.value);
      ASSERT_NE(found, read.ids.end()) << tensor.value;
      EXPECT_EQ(read.graph.value(found->second).type, tensor.type);
      theirs.push_back(static_cast<ValueId>(tensor.value));
      ours.push_back(found->second);
    }
    const std::map<ValueId, HostTensor> wanted = values_of(rewritten_.graph, theirs),
                                        got = values_of(read.graph, ours);
    for (size_t i = 0; i < theirs.size(); ++i) {
      const HostTensor &a = wanted.at(theirs[i]), &b = got.at(ours[i]);
      ASSERT_EQ(a.type(), b.type());
      EXPECT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())), 0) << "v" << theirs[i];
    }
  }

  Graph imported_;
  Rewritten rewritten_;
  Plan plan_;
};

TEST_F(PlanGraphTest, HoldsWhatStepsExchange) {
  for (const bool strict : {false, true})
    for (const bool bytes : {false, true}) {
      SCOPED_TRACE(std::string(strict ? "strict" : "standard") + (bytes ? ", bytes" : ""));
      write(strict, bytes);
      EXPECT_FALSE(plan_.graph.folded.empty());
      expect_same();
    }
}

// Weights, and what follows from them, are not stored.
TEST_F(PlanGraphTest, HoldsFewElements) {
  write(false, true);
  int64_t elements = 0;
  for (const auto& [hash, tensor] : plan_.graph.constants) elements += tensor.elements();
  EXPECT_LE(elements, 2 * 18);  // sums of weights, one per feature
}

TEST_F(PlanGraphTest, OfAnotherNetworkIsRefused) {
  write(false, false);
  Graph other;
  other.set_outputs({other.add_input({DType::f32, {6, 20}}, "x")}, {"y"});
  try {
    read_plan_graph(plan_.graph, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_NE(std::string(error.what()).find("no constant with hash"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace korch
