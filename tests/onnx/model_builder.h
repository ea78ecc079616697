// Small ONNX models, right and wrong ones, built in memory.
#pragma once

#include <string>
#include <vector>

#include "korch/onnx/tensor_data.h"
#include "onnx.pb.h"

namespace korch {

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 13) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph();
  }

  // An extent below zero is a dimension without value; `names` are its names where it has one.
  ModelBuilder& input(const std::string& name, const Shape& shape, int32_t data_type = 1,
                      const std::vector<std::string>& names = {}) {
    auto* info = model.mutable_graph()->add_input();
    info->set_name(name);
    auto* type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(data_type);
    type->mutable_shape();
    for (size_t i = 0; i < shape.size(); ++i) {
      auto* dimension = type->mutable_shape()->add_dim();
      if (shape[i] >= 0) dimension->set_dim_value(shape[i]);
      if (i < names.size() && !names[i].empty()) dimension->set_dim_param(names[i]);
    }
    return *this;
  }

  ModelBuilder& output(const std::string& name) {
    model.mutable_graph()->add_output()->set_name(name);
    return *this;
  }

  onnx::proto::NodeProto& node(const std::string& op_type, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs, const std::string& name = {}) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type(op_type);
    node->set_name(name);
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    return *node;
  }

  onnx::proto::TensorProto& initializer(const std::string& name, const HostTensor& value) {
    return *model.mutable_graph()->add_initializer() = onnx::write_tensor(value, name);
  }
  void ints(const std::string& name, const std::vector<int64_t>& values) {
    initializer(name, HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values));
  }
  void floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    initializer(name, HostTensor::of<float>(DType::f32, shape, values));
  }

  std::string bytes() const { return model.SerializeAsString(); }

  onnx::proto::ModelProto model;
};

inline void set_attribute(onnx::proto::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::INT);
  attribute->set_i(value);
}
inline void set_float_attribute(onnx::proto::NodeProto& node, const std::string& name, float value) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::proto::AttributeProto::FLOAT);
  attribute.set_f(value);
}
inline void set_attribute(onnx::proto::NodeProto& node, const std::string& name, const std::string& value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::STRING);
  attribute->set_s(value);
}
inline void set_attribute(onnx::proto::NodeProto& node, const std::string& name,
                          const std::vector<int64_t>& values) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::proto::AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

}  // namespace korch
