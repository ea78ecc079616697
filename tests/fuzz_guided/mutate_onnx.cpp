// Mutations of ONNX models that libFuzzer's own, which knows bytes alone, hardly ever finds: one number, name
// or operator of a model that still parses.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "korch/onnx/rules.h"
#include "onnx.pb.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace korch::fuzz {
namespace {

namespace proto = onnx::proto;

class Mutation {
 public:
  Mutation(proto::ModelProto& model, uint32_t seed)
      : graph_(*model.mutable_graph()), model_(model), random_(seed) {}

  void apply() {
    switch (below(8)) {
      case 0:
        return change_operator();
      case 1:
        return change_attribute();
      case 2:
        return change_initializer();
      case 3:
        return change_operand();
      case 4:
        return append_node();
      case 5:
        return change_input_shape();
      case 6:
        return change_output();
      default:
        if (model_.opset_import_size() > 0)
          model_.mutable_opset_import(0)->set_version(6 + static_cast<int64_t>(below(17)));
    }
  }

 private:
  size_t below(size_t count) { return count == 0 ? 0 : random_() % count; }

  int64_t number() {
    constexpr int64_t kEdges[] = {0, 1, -1, 2, -2, 3, 4, 5, 7, 8, 64, 255, 256, 65536};
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const int64_t large[] = {kMost,    -kMost - 1, int64_t{1} << 31, int64_t{1} << 40, int64_t{1} << 20,
                             kMost / 2};
    return below(4) == 0 ? large[below(std::size(large))] : kEdges[below(std::size(kEdges))];
  }

  proto::NodeProto* some_node() {
    return graph_.node_size() == 0 ? nullptr
                                   : graph_.mutable_node(static_cast<int>(below(graph_.node_size())));
  }

  std::string some_value() {
    std::vector<std::string> names = {""};
    for (const auto& input : graph_.input()) names.push_back(input.name());
    for (const auto& tensor : graph_.initializer()) names.push_back(tensor.name());
    for (const auto& node : graph_.node())
      for (const std::string& output : node.output()) names.push_back(output);
    return names[below(names.size())];
  }

  static const std::vector<std::string>& operators() {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> result;
      for (const auto& rows : {onnx::elementwise_rules(), onnx::shape_rules(), onnx::layout_rules(),
                               onnx::indexing_rules(), onnx::reduction_rules(), onnx::linear_rules(),
                               onnx::pooling_rules(), onnx::normalization_rules(), onnx::resize_rules()})
        for (const onnx::RuleRow& row : rows) result.push_back(row.op_type);
      return result;
    }();
    return names;
  }

  void change_operator() {
    if (proto::NodeProto* node = some_node()) node->set_op_type(operators()[below(operators().size())]);
  }

  void change_attribute() {
    proto::NodeProto* node = some_node();
    if (node == nullptr || node->attribute_size() == 0) return;
    proto::AttributeProto& attribute =
        *node->mutable_attribute(static_cast<int>(below(node->attribute_size())));
    if (attribute.type() == proto::AttributeProto::INT) attribute.set_i(number());
    if (attribute.type() == proto::AttributeProto::FLOAT) attribute.set_f(static_cast<float>(number()));
    if (attribute.type() == proto::AttributeProto::INTS) {
      if (attribute.ints_size() == 0 || below(4) == 0)
        attribute.add_ints(number());
      else
        attribute.set_ints(static_cast<int>(below(attribute.ints_size())), number());
    }
  }

  void change_initializer() {
    if (graph_.initializer_size() == 0) return;
    proto::TensorProto& tensor =
        *graph_.mutable_initializer(static_cast<int>(below(graph_.initializer_size())));
    if (below(3) == 0 && tensor.dims_size() > 0) {
      tensor.set_dims(static_cast<int>(below(tensor.dims_size())), number());
      return;
    }
    const int64_t value = number();
    std::string& raw = *tensor.mutable_raw_data();
    if (raw.size() >= sizeof value) {
      const size_t at = below(raw.size() / sizeof value) * sizeof value;
      raw.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
    } else if (tensor.int64_data_size() > 0) {
      tensor.set_int64_data(static_cast<int>(below(tensor.int64_data_size())), value);
    }
  }

  void change_operand() {
    proto::NodeProto* node = some_node();
    if (node == nullptr) return;
    if (node->input_size() == 0 || below(4) == 0)
      node->add_input(some_value());
    else
      node->set_input(static_cast<int>(below(node->input_size())), some_value());
  }

  void append_node() {
    proto::NodeProto& node = *graph_.add_node();
    node.set_op_type(operators()[below(operators().size())]);
    for (size_t i = below(3) + 1; i-- > 0;) node.add_input(some_value());
    const std::string result = "m" + std::to_string(random_());
    node.add_output(result);
    if (graph_.output_size() > 0) graph_.mutable_output(0)->set_name(result);
    if (graph_.output_size() > 0) graph_.mutable_output(0)->clear_type();
  }

  void change_input_shape() {
    if (graph_.input_size() == 0) return;
    auto& type = *graph_.mutable_input(static_cast<int>(below(graph_.input_size())))
                      ->mutable_type()
                      ->mutable_tensor_type();
    if (below(4) == 0) type.set_elem_type(static_cast<int>(below(17)));
    auto& shape = *type.mutable_shape();
    if (shape.dim_size() == 0 || below(4) == 0)
      shape.add_dim()->set_dim_value(number());
    else
      shape.mutable_dim(static_cast<int>(below(shape.dim_size())))->set_dim_value(number());
  }

  void change_output() {
    if (graph_.output_size() == 0) graph_.add_output();
    graph_.mutable_output(0)->set_name(some_value());
    graph_.mutable_output(0)->clear_type();
  }

  proto::GraphProto& graph_;
  proto::ModelProto& model_;
  std::minstd_rand random_;
};

}  // namespace
}  // namespace korch::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  korch::onnx::proto::ModelProto model;
  if (seed % 4 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  korch::fuzz::Mutation(model, seed).apply();
  const std::string changed = model.SerializeAsString();
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
