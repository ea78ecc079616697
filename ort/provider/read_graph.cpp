#include "read_graph.h"

#include <cstring>
#include <memory>

#include "korch/base/error.h"

namespace korch::ort {
namespace {

using ValueInfos = std::vector<const OrtValueInfo*>;

template <typename T, typename Owner>
std::vector<T> list(const Api& api, OrtStatus* (*count)(const Owner*, size_t*),
                    OrtStatus* (*get)(const Owner*, T*, size_t), const Owner* owner) {
  size_t size = 0;
  check(api, count(owner, &size));
  std::vector<T> result(size);
  check(api, get(owner, result.data(), size));
  return result;
}

ValueInfos inputs_of(const Api& api, const OrtNode* node) {
  return list(api, api.ort->Node_GetNumInputs, api.ort->Node_GetInputs, node);
}
ValueInfos outputs_of(const Api& api, const OrtNode* node) {
  return list(api, api.ort->Node_GetNumOutputs, api.ort->Node_GetOutputs, node);
}

std::string name_of(const Api& api, const OrtValueInfo* value) {
  const char* name = "";
  if (value != nullptr) check(api, api.ort->GetValueInfoName(value, &name));
  return name;
}

template <typename F, typename T>
std::string text(const Api& api, F get, const T* of) {
  const char* result = nullptr;
  check(api, get(of, &result));
  return result != nullptr ? result : "";
}

proto::TypeProto type_of(const Api& api, const OrtTensorTypeAndShapeInfo* info) {
  proto::TypeProto result;
  proto::TypeProto::Tensor& tensor = *result.mutable_tensor_type();
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api, api.ort->GetTensorElementType(info, &element));
  tensor.set_elem_type(element);  // ONNX Runtime numbers them as ONNX does
  if (!api.ort->TensorTypeAndShape_HasShape(info)) return result;
  size_t rank = 0;
  check(api, api.ort->GetDimensionsCount(info, &rank));
  std::vector<int64_t> extents(rank);
  std::vector<const char*> symbols(rank);
  check(api, api.ort->GetDimensions(info, extents.data(), rank));
  check(api, api.ort->GetSymbolicDimensions(info, symbols.data(), rank));
  tensor.mutable_shape();
  for (size_t axis = 0; axis < rank; ++axis) {
    auto* dimension = tensor.mutable_shape()->add_dim();
    if (extents[axis] >= 0)
      dimension->set_dim_value(extents[axis]);
    else if (symbols[axis] != nullptr && symbols[axis][0] != '\0')
      dimension->set_dim_param(symbols[axis]);
  }
  return result;
}

// The tensor's type without data, and its bytes; none of strings.
Constant constant_of(const Api& api, const OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(api, api.ort->GetTensorTypeAndShape(value, &info));
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, decltype(api.ort->ReleaseTensorTypeAndShapeInfo)> owner(
      info, api.ort->ReleaseTensorTypeAndShapeInfo);
  const proto::TypeProto type = type_of(api, info);
  Constant result;
  result.header.set_data_type(type.tensor_type().elem_type());
  for (const auto& dimension : type.tensor_type().shape().dim())
    result.header.add_dims(dimension.dim_value());
  if (type.tensor_type().elem_type() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return result;
  size_t size = 0;
  const void* bytes = nullptr;
  check(api, api.ort->GetTensorSizeInBytes(value, &size));
  check(api, api.ort->GetTensorData(value, &bytes));
  if (size > 0) result.bytes = {static_cast<const char*>(bytes), size};
  return result;
}

std::string attribute_bytes(const Api& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  size_t size = 0;
  OrtStatus* asked = api.ort->ReadOpAttr(attribute, type, nullptr, 0, &size);
  if (asked == nullptr) return {};
  api.ort->ReleaseStatus(asked);  // it tells the size and fails, since nothing holds it
  std::string result(size, '\0');
  check(api, api.ort->ReadOpAttr(attribute, type, result.data(), result.size(), &size));
  result.resize(size);
  return result;
}

template <typename T>
T attribute_number(const Api& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  T result{};
  size_t size = 0;
  check(api, api.ort->ReadOpAttr(attribute, type, &result, sizeof result, &size));
  return result;
}

template <typename T>
std::vector<T> attribute_numbers(const Api& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  const std::string bytes = attribute_bytes(api, attribute, type);
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
  return result;
}

// Each text is followed by a zero byte.
std::vector<std::string> attribute_texts(const Api& api, const OrtOpAttr* attribute, OrtOpAttrType type) {
  const std::string bytes = attribute_bytes(api, attribute, type);
  std::vector<std::string> result;
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = std::min(bytes.find('\0', begin), bytes.size());
    result.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

void set_tensor(const Api& api, const OrtOpAttr* attribute, proto::TensorProto& result) {
  OrtValue* value = nullptr;
  check(api, api.ort->OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
  const std::unique_ptr<OrtValue, decltype(api.ort->ReleaseValue)> owner(value, api.ort->ReleaseValue);
  const Constant constant = constant_of(api, value);
  result = constant.header;
  result.set_raw_data(constant.bytes.data(), constant.bytes.size());
}

// One whose type ONNX Runtime does not tell has none: korch refuses its node.
void set_attribute(const Api& api, const OrtOpAttr* attribute, proto::AttributeProto& result) {
  using Proto = proto::AttributeProto;
  result.set_name(text(api, api.ort->OpAttr_GetName, attribute));
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  if (OrtStatus* status = api.ort->OpAttr_GetType(attribute, &type)) {
    api.ort->ReleaseStatus(status);
    type = ORT_OP_ATTR_UNDEFINED;
  }
  switch (type) {
    case ORT_OP_ATTR_UNDEFINED:
      break;
    case ORT_OP_ATTR_INT:
      result.set_type(Proto::INT);
      result.set_i(attribute_number<int64_t>(api, attribute, type));
      break;
    case ORT_OP_ATTR_INTS:
      result.set_type(Proto::INTS);
      for (int64_t value : attribute_numbers<int64_t>(api, attribute, type)) result.add_ints(value);
      break;
    case ORT_OP_ATTR_FLOAT:
      result.set_type(Proto::FLOAT);
      result.set_f(attribute_number<float>(api, attribute, type));
      break;
    case ORT_OP_ATTR_FLOATS:
      result.set_type(Proto::FLOATS);
      for (float value : attribute_numbers<float>(api, attribute, type)) result.add_floats(value);
      break;
    case ORT_OP_ATTR_STRING: {
      const std::vector<std::string> texts = attribute_texts(api, attribute, type);
      result.set_type(Proto::STRING);
      result.set_s(texts.empty() ? "" : texts[0]);
      break;
    }
    case ORT_OP_ATTR_STRINGS:
      result.set_type(Proto::STRINGS);
      for (const std::string& value : attribute_texts(api, attribute, type)) result.add_strings(value);
      break;
    case ORT_OP_ATTR_GRAPH:
      result.set_type(Proto::GRAPH);
      break;
    case ORT_OP_ATTR_TENSOR:
      result.set_type(Proto::TENSOR);
      set_tensor(api, attribute, *result.mutable_t());
      break;
  }
}

class Reader {
 public:
  explicit Reader(const Api& api) : api_(api) {}

  ReadGraph run(const OrtGraph* graph) {
    read_opset(graph);
    result_.nodes = list(api_, api_.ort->Graph_GetNumNodes, api_.ort->Graph_GetNodes, graph);
    for (const OrtNode* node : result_.nodes) read_node(node);
    for (const OrtValueInfo* output :
         list(api_, api_.ort->Graph_GetNumOutputs, api_.ort->Graph_GetOutputs, graph)) {
      network_.outputs.push_back(name_of(api_, output));
      read_value(output);
    }
    return std::move(result_);
  }

 private:
  void read_opset(const OrtGraph* graph) {
    size_t count = 0;
    check(api_, api_.ort->Graph_GetNumOperatorSets(graph, &count));
    std::vector<const char*> domains(count);
    std::vector<int64_t> versions(count);
    check(api_, api_.ort->Graph_GetOperatorSets(graph, domains.data(), versions.data(), count));
    for (size_t i = 0; i < count; ++i)
      if (domains[i][0] == '\0' || std::strcmp(domains[i], "ai.onnx") == 0) network_.opset = versions[i];
  }

  void read_node(const OrtNode* node) {
    proto::NodeProto& proto = network_.nodes.emplace_back();
    proto.set_name(text(api_, api_.ort->Node_GetName, node));
    proto.set_op_type(text(api_, api_.ort->Node_GetOperatorType, node));
    proto.set_domain(text(api_, api_.ort->Node_GetDomain, node));
    int version = 0;
    check(api_, api_.ort->Node_GetSinceVersion(node, &version));
    network_.versions.push_back(version);
    network_.is_taken.push_back(!text(api_, api_.ort->Node_GetEpName, node).empty());
    const auto implicit =
        list(api_, api_.ort->Node_GetNumImplicitInputs, api_.ort->Node_GetImplicitInputs, node);
    for (const ValueInfos& values : {inputs_of(api_, node), implicit}) {
      for (const OrtValueInfo* value : values) {
        proto.add_input(name_of(api_, value));
        read_value(value);
      }
    }
    for (const OrtValueInfo* value : outputs_of(api_, node)) {
      proto.add_output(name_of(api_, value));
      read_value(value);
    }
    for (const OrtOpAttr* attribute :
         list(api_, api_.ort->Node_GetNumAttributes, api_.ort->Node_GetAttributes, node))
      set_attribute(api_, attribute, *proto.add_attribute());
  }

  void read_value(const OrtValueInfo* value) {
    const std::string name = name_of(api_, value);
    if (name.empty() || network_.types.contains(name) || network_.constants.contains(name)) return;
    bool is_constant = false;
    check(api_, api_.ort->ValueInfo_IsConstantInitializer(value, &is_constant));
    if (is_constant) {
      const OrtValue* tensor = nullptr;
      check(api_, api_.ort->ValueInfo_GetInitializerValue(value, &tensor));
      if (tensor == nullptr) throw Error(ErrorKind::internal, "ONNX Runtime gives no value of " + name);
      network_.constants[name] = constant_of(api_, tensor);
      return;
    }
    const OrtTypeInfo* type = nullptr;
    check(api_, api_.ort->GetValueInfoTypeInfo(value, &type));
    if (type == nullptr) return;
    ONNXType kind = ONNX_TYPE_UNKNOWN;
    check(api_, api_.ort->GetOnnxTypeFromTypeInfo(type, &kind));
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    check(api_, api_.ort->CastTypeInfoToTensorInfo(type, &tensor));
    if (kind == ONNX_TYPE_TENSOR && tensor != nullptr) network_.types[name] = type_of(api_, tensor);
  }

  const Api& api_;
  ReadGraph result_;
  Network& network_ = result_.network;
};

std::vector<std::string> names_of(const Api& api, const ValueInfos& values) {
  std::vector<std::string> result;
  for (const OrtValueInfo* value : values) result.push_back(name_of(api, value));
  return result;
}

}  // namespace

ReadGraph read_graph(const Api& api, const OrtGraph* graph) {
  return Reader(api).run(graph);
}

std::vector<std::string> input_names(const Api& api, const OrtNode* node) {
  return names_of(api, inputs_of(api, node));
}

std::vector<std::string> output_names(const Api& api, const OrtNode* node) {
  return names_of(api, outputs_of(api, node));
}

}  // namespace korch::ort
