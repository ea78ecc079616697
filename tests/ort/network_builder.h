// Small Networks, as read from ONNX Runtime.
#pragma once

#include <deque>

#include "korch/onnx/tensor_data.h"
#include "network.h"

namespace korch::ort {

// f32 unless said otherwise. An extent below zero is open, and called like the entry of `names`.
inline proto::TypeProto tensor_type(const Shape& shape, const std::vector<std::string>& names = {},
                                    int32_t data_type = 1) {
  proto::TypeProto result;
  result.mutable_tensor_type()->set_elem_type(data_type);
  auto* dims = result.mutable_tensor_type()->mutable_shape();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    auto* dimension = dims->add_dim();
    if (shape[axis] >= 0)
      dimension->set_dim_value(shape[axis]);
    else if (axis < names.size())
      dimension->set_dim_param(names[axis]);
  }
  return result;
}

class NetworkBuilder {
 public:
  explicit NetworkBuilder(int64_t opset = 17) { network.opset = opset; }

  NetworkBuilder& value(const std::string& name, const Shape& shape,
                        const std::vector<std::string>& names = {}, int32_t data_type = 1) {
    network.types[name] = tensor_type(shape, names, data_type);
    return *this;
  }
  NetworkBuilder& constant(const std::string& name, const HostTensor& value) {
    held_.push_back(value);
    proto::TensorProto header = onnx::write_tensor(value, name);
    header.clear_raw_data();
    network.constants[name] = {
        header, {static_cast<const char*>(held_.back().raw()), static_cast<size_t>(value.bytes())}};
    return *this;
  }
  NetworkBuilder& weights(const std::string& name, const Shape& shape, float value = 0.125f) {
    return constant(
        name, HostTensor::of<float>(DType::f32, shape, std::vector<float>(element_count(shape), value)));
  }
  NetworkBuilder& output(const std::string& name) {
    network.outputs.push_back(name);
    return *this;
  }
  // `shape` is that of all outputs.
  proto::NodeProto& node(const std::string& op_type, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const Shape& shape, int32_t data_type = 1) {
    proto::NodeProto& node = network.nodes.emplace_back();
    node.set_op_type(op_type);
    node.set_name("the_" + outputs[0]);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) {
      node.add_output(output);
      value(output, shape, {}, data_type);
    }
    network.versions.push_back(1);
    network.is_taken.push_back(false);
    return node;
  }

  Network network;

 private:
  std::deque<HostTensor> held_;
};

}  // namespace korch::ort
