// Models of one node, and what they compute.
#pragma once

#include <gtest/gtest.h>

#include "expect_error.h"
#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "model_builder.h"

namespace korch {

using Values = std::vector<double>;

// A model of one node of the domain, over float inputs x0, x1, ... of these shapes; an empty name is left
// out.
struct OneNode {
  ModelBuilder model{28};
  std::vector<HostTensor> inputs;

  OneNode(const std::string& op_type, const std::vector<HostTensor>& given,
          const std::string& domain = "com.microsoft") {
    model.model.add_opset_import()->set_domain("com.microsoft");
    model.model.mutable_opset_import(1)->set_version(1);
    std::vector<std::string> names;
    for (const HostTensor& tensor : given) {
      names.push_back(tensor.type() == TensorType{} ? "" : "x" + std::to_string(names.size()));
      if (names.back().empty()) continue;
      model.input(names.back(), tensor.shape(), onnx::data_type_of(tensor.dtype()));
      inputs.push_back(tensor);
    }
    model.node(op_type, names, {"y"}).set_domain(domain);
    model.output("y");
  }

  onnx::proto::NodeProto& node() { return *model.model.mutable_graph()->mutable_node(0); }

  Values run() {
    const HostTensor result = interpret(import_onnx_bytes(model.bytes()), inputs)[0];
    Values values;
    for (int64_t i = 0; i < result.elements(); ++i) values.push_back(element_as_double(result, i));
    return values;
  }
};

inline HostTensor f32(const Shape& shape, const std::vector<float>& values) {
  return HostTensor::of<float>(DType::f32, shape, values);
}
inline HostTensor i64(const Shape& shape, const std::vector<int64_t>& values) {
  return HostTensor::of<int64_t>(DType::i64, shape, values);
}

inline void set_float(onnx::proto::NodeProto& node, const std::string& name, float value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::FLOAT);
  attribute->set_f(value);
}

inline void expect_near(const Values& actual, const Values& expected, double tolerance = 1e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

}  // namespace korch
