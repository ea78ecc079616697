#include "korch/onnx/node_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "korch/base/printable.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {

NodeImport::NodeImport(const proto::NodeProto& node, std::string origin, int64_t opset,
                       std::vector<Operand> inputs, std::vector<bool> used_outputs, GraphBuilder& builder,
                       ExternalData& external, ImportBody import_body)
    : node_(node),
      origin_(std::move(origin)),
      opset_(opset),
      inputs_(std::move(inputs)),
      used_outputs_(std::move(used_outputs)),
      builder_(builder),
      external_(external),
      import_body_(std::move(import_body)) {}

const Operand& NodeImport::any_input(size_t i) const {
  if (!has_input(i)) invalid(fmt::format("input {} is missing", i));
  return inputs_[i];
}

const Operand& NodeImport::input(size_t i) const {
  const Operand& operand = any_input(i);
  if (operand->sequence) unsupported(fmt::format("input {} is a sequence", i));
  return operand;
}

const std::vector<Operand>& NodeImport::sequence_input(size_t i) const {
  const Operand& operand = any_input(i);
  if (!operand->sequence) invalid(fmt::format("input {} is no sequence", i));
  return *operand->sequence;
}

std::vector<Operand> NodeImport::all_inputs() const {
  std::vector<Operand> result;
  for (size_t i = 0; i < inputs_.size(); ++i) result.push_back(input(i));
  if (result.empty()) invalid("it has no inputs");
  return result;
}

std::string NodeImport::bound_advice(size_t i) const {
  return fmt::format("; give the most that they may be, --bound {}=N: a run with more is an error then",
                     printable(node_.input(static_cast<int>(i))));
}

const HostTensor& NodeImport::constant_input(size_t i, const char* what) const {
  const Operand& operand = input(i);
  if (!operand->constant || is_bounded(operand))
    unsupported(fmt::format(
        "its {} ({}) depend on the data; they must be constant: export the model with static shapes, "
        "or fix its dynamic dimensions with --shape",
        what, quoted_name(node_.input(static_cast<int>(i)))));
  return *operand->constant;
}

std::vector<int64_t> NodeImport::ints_input(size_t i, const char* what) const {
  const HostTensor& tensor = constant_input(i, what);
  if (!is_integer(tensor.dtype())) invalid(fmt::format("its {} must be integers", what));
  if (tensor.shape().size() > 1) invalid(fmt::format("its {} must have rank 1", what));
  return as_int_vector(tensor);
}

std::vector<Operand> NodeImport::elements_input(size_t i, const char* what) const {
  const Operand& operand = input(i);
  if (!is_integer(operand->dtype())) invalid(fmt::format("its {} must be integers", what));
  if (operand->rank() > 1) invalid(fmt::format("its {} must have rank 1", what));
  const auto elements = elements_of(builder_, operand, origin_);
  if (elements) return *elements;
  std::vector<Operand> result;
  for (int64_t value : ints_input(i, what))
    result.push_back(builder_.constant(HostTensor::of<int64_t>(DType::i64, {}, {value}), {origin_}));
  return result;
}

std::vector<Extent> NodeImport::extents_input(size_t i, const char* what) const {
  std::vector<Extent> result;
  for (const Operand& element : elements_input(i, what)) {
    if (element->constant)
      result.push_back({element_as_int(*element->constant, 0), nullptr});
    else if (element->upper)
      result.push_back({*element->upper, element});
    else
      unsupported(fmt::format("its {} depend on the data, and no bound is known{}", what, bound_advice(i)));
  }
  return result;
}

int64_t NodeImport::int_input(size_t i, const char* what) const {
  const HostTensor& tensor = constant_input(i, what);
  if (!is_integer(tensor.dtype()) || tensor.elements() != 1)
    invalid(fmt::format("its {} must be one integer", what));
  return element_as_int(tensor, 0);
}

double NodeImport::scalar_input(size_t i, const char* what) const {
  const HostTensor& value = constant_input(i, what);
  if (value.elements() != 1) invalid(fmt::format("its {} must be a scalar", what));
  return element_as_double(value, 0);
}

const proto::AttributeProto* NodeImport::find(const char* name) {
  read_.insert(name);
  for (const auto& attribute : node_.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

const proto::AttributeProto* NodeImport::find(const char* name, proto::AttributeProto::Type type) {
  const proto::AttributeProto* attribute = find(name);
  if (attribute == nullptr) return nullptr;
  if (attribute->has_ref_attr_name())
    invalid(fmt::format("attribute {} refers to a function's attribute", name));
  if (attribute->type() != type) invalid(fmt::format("attribute {} has the wrong type", name));
  return attribute;
}

bool NodeImport::has(const char* name) const {
  return std::any_of(node_.attribute().begin(), node_.attribute().end(),
                     [&](const proto::AttributeProto& a) { return a.name() == name; });
}

int64_t NodeImport::int_attr(const char* name, int64_t fallback) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::INT);
  return attribute != nullptr ? attribute->i() : fallback;
}

int64_t NodeImport::int_attr(const char* name) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::INT);
  if (attribute == nullptr) invalid(fmt::format("attribute {} is missing", name));
  return attribute->i();
}

bool NodeImport::flag(const char* name, bool fallback) {
  const int64_t value = int_attr(name, fallback ? 1 : 0);
  if (value != 0 && value != 1) invalid(fmt::format("attribute {} is {}, neither 0 nor 1", name, value));
  return value == 1;
}

double NodeImport::float_attr(const char* name, double fallback) {
  const double value = element_attr(name, fallback);
  if (std::isnan(value)) invalid(fmt::format("attribute {} is NaN", name));
  return value;
}

double NodeImport::element_attr(const char* name, double fallback) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::FLOAT);
  return attribute != nullptr ? attribute->f() : fallback;
}

std::string NodeImport::string_attr(const char* name, const std::string& fallback) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::STRING);
  return attribute != nullptr ? attribute->s() : fallback;
}

std::string NodeImport::word_attr(const char* name, const std::vector<std::string>& words) {
  const std::string word = string_attr(name, words[0]);
  if (std::find(words.begin(), words.end(), word) == words.end())
    invalid(fmt::format("{} {}", name, quoted_name(word)));
  return word;
}

std::vector<int64_t> NodeImport::ints_attr(const char* name, std::vector<int64_t> fallback) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::INTS);
  if (attribute == nullptr) return fallback;
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<double> NodeImport::floats_attr(const char* name) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::FLOATS);
  if (attribute == nullptr) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> NodeImport::strings_attr(const char* name, std::vector<std::string> fallback) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::STRINGS);
  if (attribute == nullptr) return fallback;
  return {attribute->strings().begin(), attribute->strings().end()};
}

HostTensor NodeImport::tensor_attr(const char* name) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::TENSOR);
  if (attribute == nullptr) invalid(fmt::format("attribute {} is missing", name));
  return read_tensor(attribute->t(), external_, fmt::format("attribute {}", name));
}

const proto::GraphProto& NodeImport::graph_attr(const char* name) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::GRAPH);
  if (attribute == nullptr) invalid(fmt::format("attribute {} is missing", name));
  return attribute->g();
}

DType NodeImport::dtype_attr(const char* name, DType fallback) {
  const proto::AttributeProto* attribute = find(name, proto::AttributeProto::INT);
  if (attribute == nullptr) return fallback;
  const auto data_type = static_cast<int32_t>(std::clamp<int64_t>(attribute->i(), -1, 1 << 20));
  const std::optional<DType> dtype = dtype_of(data_type);
  if (!dtype) unsupported("element type " + data_type_name(data_type));
  return *dtype;
}

Results NodeImport::by(Results (*rule)(NodeImport&), int64_t opset, std::vector<Operand> inputs) {
  NodeImport other(node_, origin_, opset, std::move(inputs), used_outputs_, builder_, external_,
                   import_body_);
  Results results = rule(other);
  read_.insert(other.read_.begin(), other.read_.end());
  return results;
}

void NodeImport::require_all_read() const {
  std::set<std::string> seen;
  for (const auto& attribute : node_.attribute()) {
    if (!seen.insert(attribute.name()).second)
      invalid(fmt::format("attribute {} is given twice", quoted_name(attribute.name())));
    if (!read_.contains(attribute.name()))
      invalid(fmt::format("attribute {} is unknown in opset {}", quoted_name(attribute.name()), opset_));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] != nullptr && !asked_inputs_.contains(i))
      invalid(fmt::format("input {} ({}) is unknown in opset {}", i,
                          quoted_name(node_.input(static_cast<int>(i))), opset_));
  }
}

int64_t NodeImport::axis(int64_t value, int64_t rank) const {
  if (value < -rank || value >= rank)
    invalid(fmt::format("axis {} is outside of [-{}, {})", value, rank, rank));
  return value < 0 ? value + rank : value;
}

std::vector<int64_t> NodeImport::axes(const std::vector<int64_t>& values, int64_t rank) const {
  std::vector<int64_t> result;
  for (int64_t value : values) result.push_back(axis(value, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) invalid("an axis is named twice");
  return result;
}

void NodeImport::require_shape(const Operand& operand, const char* what, const Shape& shape) const {
  if (operand->shape() != shape)
    invalid(fmt::format("the {} are {}, not [{}]", what, to_string(operand->type), to_string(shape)));
}

void NodeImport::require_known(const Operand& operand, int64_t axis, const char* what) const {
  if (extent_of(operand, axis) == nullptr) return;
  unsupported(fmt::format(
      "{} is {}: korch needs to know it; fix it with --shape", what,
      depends_on_data(builder_, extent_of(operand, axis)) ? "as long as the data say" : "a range"));
}

void NodeImport::require_known(const Operand& operand, const char* what) const {
  for (int64_t axis = 0; axis < operand->rank(); ++axis) require_known(operand, axis, what);
}

int64_t NodeImport::least(const Operand& operand, int64_t axis) {
  const Operand extent = extent_of(operand, axis);
  return extent == nullptr ? operand->shape()[static_cast<size_t>(axis)]
                           : static_cast<int64_t>(std::max(builder_.range(extent, 0).low, 0.0));
}

const std::vector<int64_t>& NodeImport::bounded(const char* what, const std::vector<int64_t>& values,
                                                int64_t low, int64_t high) const {
  for (int64_t value : values) {
    if (value < low || value > high)
      invalid(fmt::format("{} {} is outside of [{}, {}]", what, value, low, high));
  }
  return values;
}

Operand NodeImport::emit(Op op, Attrs attrs, const std::vector<Operand>& inputs) {
  return emit_all(op, std::move(attrs), inputs).front();
}

std::vector<Operand> NodeImport::emit_all(Op op, Attrs attrs, const std::vector<Operand>& inputs) {
  return builder_.emit(op, std::move(attrs), inputs, origin_);
}

Operand NodeImport::scalar(DType dtype, double value) {
  return constant(converted(HostTensor::of<double>(DType::f64, {}, {value}), dtype));
}

Operand NodeImport::integer(int64_t value) {
  return constant(HostTensor::of<int64_t>(DType::i64, {}, {value}));
}

Operand NodeImport::length(const Operand& operand, int64_t axis) {
  const Operand extent = extent_of(operand, axis);
  return extent != nullptr ? extent : integer(operand->shape()[axis]);
}

Operand NodeImport::ints(const std::vector<int64_t>& values) {
  return constant(HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values));
}

Operand NodeImport::reshape(const Operand& operand, const Shape& shape) {
  return operand->shape() == shape ? operand : emit(Op::Reshape, ShapeAttrs{shape}, {operand});
}

Operand NodeImport::cast(const Operand& operand, DType dtype) {
  return operand->dtype() == dtype ? operand : emit(Op::Cast, CastAttrs{dtype}, {operand});
}

Operand NodeImport::bounded(const Operand& operand, std::vector<Operand> extents) {
  const bool any = std::any_of(extents.begin(), extents.end(), [](const Operand& e) { return e != nullptr; });
  if (!any && !is_bounded(operand)) return operand;
  const Operand result = std::make_shared<OperandState>(*operand);
  if (operand->id == kNoId) result->id = builder_.value(operand);
  result->extents = any ? std::move(extents) : std::vector<Operand>{};
  return result;
}

void NodeImport::invalid(const std::string& message) const {
  throw Error(ErrorKind::invalid, message);
}

void NodeImport::unsupported(const std::string& message) const {
  throw Error(ErrorKind::unsupported, message);
}

}  // namespace korch::onnx
