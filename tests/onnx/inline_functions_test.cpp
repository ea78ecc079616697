// Functions that a model brings along.
#include <gtest/gtest.h>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "model_builder.h"

namespace korch {
namespace {

onnx::proto::NodeProto& add_node(onnx::proto::FunctionProto& function, const std::string& op_type,
                                 const std::vector<std::string>& inputs, const std::string& output) {
  onnx::proto::NodeProto& node = *function.add_node();
  node.set_op_type(op_type);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

onnx::proto::AttributeProto* add_attribute(onnx::proto::NodeProto& node, const std::string& name,
                                           const std::string& referred) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::FLOAT);
  attribute->set_ref_attr_name(referred);
  return attribute;
}

// scaled(x, by, slope) = LeakyRelu(x, alpha = slope) * by
onnx::proto::FunctionProto& add_scaled(ModelBuilder& b) {
  onnx::proto::FunctionProto& function = *b.model.add_functions();
  function.set_name("scaled");
  function.set_domain("local");
  function.add_input("x");
  function.add_input("by");
  function.add_output("y");
  add_attribute(add_node(function, "LeakyRelu", {"x"}, "t"), "alpha", "slope");
  add_node(function, "Mul", {"t", "by"}, "y");
  function.add_opset_import()->set_version(13);
  b.model.add_opset_import()->set_domain("local");
  return function;
}

onnx::proto::NodeProto& add_call(ModelBuilder& b, const std::vector<std::string>& inputs,
                                 const std::string& output) {
  onnx::proto::NodeProto& call = b.node("scaled", inputs, {output}, "call");
  call.set_domain("local");
  return call;
}

double run_inlined(const ModelBuilder& b, float x, float by) {
  const std::vector<HostTensor> inputs = {HostTensor::of<float>(DType::f32, {1}, {x}),
                                          HostTensor::of<float>(DType::f32, {1}, {by})};
  return element_as_double(interpret(import_onnx_bytes(b.bytes()), inputs)[0], 0);
}

ModelBuilder two_calls() {
  ModelBuilder b;
  b.input("x", {1}).input("t", {1}).output("z");  // "t" is a value of the function too
  add_scaled(b);
  auto* slope = add_call(b, {"x", "t"}, "y").add_attribute();
  slope->set_name("slope");
  slope->set_type(onnx::proto::AttributeProto::FLOAT);
  slope->set_f(0.5);
  add_call(b, {"y", "t"}, "z");
  return b;
}

TEST(Functions, CallsBecomeTheirBodies) {
  EXPECT_FLOAT_EQ(run_inlined(two_calls(), -4, 2),
                  -4 * 0.5 * 2 * 0.01 * 2);  // the second slope is LeakyRelu's default
  const Graph graph = import_onnx_bytes(two_calls().bytes());
  EXPECT_EQ(graph.node(graph.topological_order()[0]).origins[0], "call/LeakyRelu_0");
}

TEST(Functions, DefaultsOfAttributes) {
  ModelBuilder b = two_calls();
  auto* slope = b.model.mutable_functions(0)->add_attribute_proto();
  slope->set_name("slope");
  slope->set_type(onnx::proto::AttributeProto::FLOAT);
  slope->set_f(0.25);
  EXPECT_FLOAT_EQ(run_inlined(b, -4, 2), -4 * 0.5 * 2 * 0.25 * 2);
}

TEST(Functions, OutputsThatAreInputs) {
  ModelBuilder b;
  b.input("x", {1}).input("unused", {1}).output("y");
  onnx::proto::FunctionProto& function = *b.model.add_functions();
  function.set_name("same");
  function.add_input("a");
  function.add_output("a");
  b.node("same", {"x"}, {"y"});
  EXPECT_EQ(run_inlined(b, 3, 0), 3);
}

TEST(Functions, Refused) {
  ModelBuilder endless = two_calls();
  auto& inner = add_node(*endless.model.mutable_functions(0), "scaled", {"x", "by"}, "more");
  inner.set_domain("local");
  expect_refused(endless, ErrorKind::invalid, {"scaled", "calls itself"});
  ModelBuilder twice = two_calls();
  add_scaled(twice);
  expect_refused(twice, ErrorKind::invalid, {"two functions", "scaled"});
  ModelBuilder newer = two_calls();
  newer.model.mutable_functions(0)->mutable_opset_import(0)->set_version(20);
  expect_refused(newer, ErrorKind::unsupported, {"opset 20", "13"});
  ModelBuilder many = two_calls();
  many.model.mutable_graph()->mutable_node(0)->add_input("x");
  expect_refused(many, ErrorKind::invalid, {"more inputs"});
}

// Each function calls the next twice: the file is small, what it says is not.
TEST(Functions, Bombs) {
  ModelBuilder b;
  b.input("x", {1}).output("y");
  for (int i = 0; i < 40; ++i) {
    onnx::proto::FunctionProto& function = *b.model.add_functions();
    function.set_name("f" + std::to_string(i));
    function.add_input("x");
    function.add_output("y");
    const std::string next = i == 39 ? "Relu" : "f" + std::to_string(i + 1);
    add_node(function, next, {"x"}, "t");
    add_node(function, next, {"t"}, "y");
  }
  b.node("f0", {"x"}, {"y"});
  expect_refused(b, ErrorKind::resource, {"nodes"});
}

}  // namespace
}  // namespace korch
