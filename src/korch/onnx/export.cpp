#include "korch/onnx/export.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "korch/base/files.h"
#include "korch/ir/narrow.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/tensor_data.h"

namespace korch {
namespace onnx {
namespace {

constexpr int64_t kOpset = 14;     // HardSwish, small integers in arithmetic, Reshape to zero extents
constexpr int64_t kIrVersion = 7;  // of the same release

proto::AttributeProto* add_attribute(proto::NodeProto* node, const char* name,
                                     proto::AttributeProto::Type type) {
  proto::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

void set_attribute(proto::NodeProto* node, const char* name, int64_t value) {
  add_attribute(node, name, proto::AttributeProto::INT)->set_i(value);
}

void set_attribute(proto::NodeProto* node, const char* name, double value) {
  add_attribute(node, name, proto::AttributeProto::FLOAT)->set_f(static_cast<float>(value));
}

void set_attribute(proto::NodeProto* node, const char* name, const char* value) {
  add_attribute(node, name, proto::AttributeProto::STRING)->set_s(value);
}

void set_attribute(proto::NodeProto* node, const char* name, const std::vector<int64_t>& values) {
  proto::AttributeProto* attribute = add_attribute(node, name, proto::AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

std::vector<int64_t> joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Of a convolution or of pooling.
template <typename Windows>
void set_windows(proto::NodeProto* out, const Windows& windows) {
  set_attribute(out, "strides", windows.strides);
  set_attribute(out, "dilations", windows.dilations);
  set_attribute(out, "pads", joined(windows.pads_before, windows.pads_after));
}

class Exporter {
 public:
  explicit Exporter(const Graph& graph) : graph_(graph) {
    model_.set_ir_version(kIrVersion);
    model_.set_producer_name("korch");
    model_.add_opset_import()->set_version(kOpset);
    out_ = model_.mutable_graph();
    out_->set_name("korch");
  }

  proto::ModelProto run() {
    name_values();
    for (ValueId input : graph_.inputs()) describe_value(out_->add_input(), names_[input], input);
    const std::vector<NodeId> order = graph_.topological_order();
    std::unordered_set<ValueId> made;
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      bool fresh = false;
      for (ValueId output : node.outputs) fresh |= made.insert(output).second;
      if (fresh) add_primitive(node);
    }
    origins_ = nullptr;
    add_outputs();
    return std::move(model_);
  }

 private:
  // Inputs and outputs first: their names are the model's interface.
  void name_values() {
    names_.resize(graph_.value_count());
    for (ValueId input : graph_.inputs()) names_[input] = unique(graph_.value(input).name);
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId output = graph_.outputs()[i];
      const std::string& name = graph_.output_names()[i];
      const bool first = names_[output].empty();
      if (taken_.insert(name).second && first) names_[output] = name;
    }
    for (ValueId value = 0; value < graph_.value_count(); ++value) {
      if (names_[value].empty()) names_[value] = unique(graph_.value(value).name);
    }
  }

  std::string unique(const std::string& wish) {
    std::string name = wish.empty() ? "v" : wish;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}.{}", wish, i);
    return name;
  }

  void describe_value(proto::ValueInfoProto* info, const std::string& name, ValueId value) const {
    const TensorType& type = graph_.value(value).type;
    info->set_name(name);
    auto* tensor_type = info->mutable_type()->mutable_tensor_type();
    tensor_type->set_elem_type(data_type_of(type.dtype));
    auto* shape = tensor_type->mutable_shape();
    for (int64_t extent : type.shape) shape->add_dim()->set_dim_value(extent);
  }

  // A Value that is a graph input, or an output under another name too, is copied to its output name.
  void add_outputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ValueId output = graph_.outputs()[i];
      const std::string& name = graph_.output_names()[i];
      if (names_[output] != name) add("Identity", {names_[output]}, {name});
      describe_value(out_->add_output(), name, output);
    }
  }

  // Operators with a way of their own; the others follow from their attributes.
  void add_primitive(const Node& node) {
    static const std::unordered_map<Op, void (Exporter::*)(const Node&)> own_ways = {
        {Op::Constant, &Exporter::add_constant},
        {Op::Cast, &Exporter::add_cast},
        {Op::Fmod, &Exporter::add_fmod},
        {Op::TanhSoftplus, &Exporter::add_tanh_softplus},
        {Op::WindowSum, &Exporter::add_window_sum},
        {Op::WindowMax, &Exporter::add_window_max},
        {Op::WindowDot, &Exporter::add_window_dot},
        {Op::MaxPoolIndices, &Exporter::add_max_pool_indices},
        {Op::Transpose, &Exporter::add_transpose},
        {Op::Reshape, &Exporter::add_reshape},
        {Op::Expand, &Exporter::add_expand},
        {Op::Slice, &Exporter::add_slice},
        {Op::Pad, &Exporter::add_pad},
        {Op::MatMul, &Exporter::add_matmul},
        {Op::NarrowMatMul, &Exporter::add_narrow_matmul},
        {Op::Conv, &Exporter::add_conv},
        {Op::ConvTranspose, &Exporter::add_conv},
        {Op::GatherND, &Exporter::add_gather_nd},
        {Op::CumSum, &Exporter::add_cum_sum},
        {Op::TopK, &Exporter::add_top_k},
        {Op::Append, &Exporter::add_append},
    };
    if (std::holds_alternative<WinogradAttrs>(node.attrs))
      throw Error(
          ErrorKind::unsupported,
          fmt::format("ONNX has no operator for {}, which computes %{}; it is an alternative to other "
                      "primitives",
                      name(node.op), names_[node.outputs[0]]));
    if (node.op == Op::Recurrence)
      throw Error(
          ErrorKind::unsupported,
          fmt::format("Recurrence, which computes %{}, is not exported: its product with the data is a "
                      "primitive of its own, which ONNX's LSTM, GRU and RNN have inside",
                      names_[node.outputs[0]]));
    if (is_loop_end(node.op))
      throw Error(ErrorKind::unsupported,
                  fmt::format("{}, which computes %{}, is not exported: its body is not a graph "
                              "of its own",
                              name(node.op), names_[node.outputs[0]]));
    if (node.op == Op::NonMaxSuppression)
      throw Error(
          ErrorKind::unsupported,
          fmt::format("NonMaxSuppression, which computes %{}, is not exported: ONNX's tells the boxes of all "
                      "classes in one list",
                      names_[node.outputs[0]]));
    if (!is_primitive(node.op))
      throw Error(ErrorKind::unsupported, fmt::format("only primitive graphs are exported, but %{} is a {}",
                                                      names_[node.outputs[0]], name(node.op)));
    origins_ = &node.origins;
    const auto own = own_ways.find(node.op);
    if (own != own_ways.end()) return (this->*own->second)(node);
    if (info(node.op).category == Category::reduce) return add_reduce(node);
    if (std::holds_alternative<ScalarAttrs>(node.attrs)) return add_with_scalars(node);
    if (std::holds_alternative<AxisAttrs>(node.attrs)) return add_along_axis(node);
    add_plain(node);
  }

  void add_constant(const Node& node) {
    *out_->add_initializer() =
        write_tensor(std::get<ConstantAttrs>(node.attrs).value, names_[node.outputs[0]]);
  }

  void add_plain(const Node& node) { add(node, name(node.op), all_inputs(node)); }

  void add_cast(const Node& node) {
    set_attribute(add(node, "Cast", {input(node, 0)}), "to",
                  int64_t{data_type_of(std::get<CastAttrs>(node.attrs).to)});
  }

  void add_tanh_softplus(const Node& node) {
    const std::string inner = unique("softplus");
    add("Softplus", {input(node, 0)}, {inner});
    add(node, "Tanh", {inner});
  }

  void add_fmod(const Node& node) {
    set_attribute(add(node, "Mod", {input(node, 0), input(node, 1)}), "fmod", int64_t{1});
  }

  void add_with_scalars(const Node& node) {
    const ScalarAttrs& scalars = std::get<ScalarAttrs>(node.attrs);
    proto::NodeProto* out = add(node, name(node.op), {input(node, 0)});
    if (node.op == Op::IsInf) {
      set_attribute(out, "detect_negative", int64_t{scalars.alpha > 0});
      set_attribute(out, "detect_positive", int64_t{scalars.beta > 0});
      return;
    }
    set_attribute(out, node.op == Op::Shrink ? "lambd" : "alpha", scalars.alpha);
    if (node.op == Op::Selu) set_attribute(out, "gamma", scalars.beta);
    if (node.op == Op::HardSigmoid) set_attribute(out, "beta", scalars.beta);
    if (node.op == Op::Shrink) set_attribute(out, "bias", scalars.beta);
  }

  void add_reduce(const Node& node) {
    if (const auto* arg = std::get_if<ArgReduceAttrs>(&node.attrs)) {
      proto::NodeProto* out = add(node, name(node.op), {input(node, 0)});
      set_attribute(out, "axis", arg->axis);
      set_attribute(out, "keepdims", int64_t{arg->keepdims});
      set_attribute(out, "select_last_index", int64_t{arg->select_last});
      return;
    }
    const ReduceAttrs& reduce = std::get<ReduceAttrs>(node.attrs);
    if (reduce.axes.empty()) {  // without axes ONNX would reduce over all
      add(node, "Identity", {input(node, 0)});
      return;
    }
    const bool axes_are_input = node.op == Op::ReduceSum;
    std::vector<std::string> inputs = {input(node, 0)};
    if (axes_are_input) inputs.push_back(ints(reduce.axes, "axes"));
    proto::NodeProto* out = add(node, name(node.op), std::move(inputs));
    if (!axes_are_input) set_attribute(out, "axes", reduce.axes);
    set_attribute(out, "keepdims", int64_t{reduce.keepdims});
  }

  void add_window_sum(const Node& node) {
    const PoolAttrs& pool = std::get<PoolAttrs>(node.attrs);
    const TensorType& type = input_type(node, 0);
    if (!is_float(type.dtype))
      throw Error(ErrorKind::unsupported,
                  fmt::format("ONNX has no operator for WindowSum of {}", to_string(type)));
    const int64_t channels = type.shape[1];
    const HostTensor one = HostTensor::of<double>(
        DType::f64, joined({channels, 1}, pool.kernel),
        std::vector<double>(static_cast<size_t>(channels * element_count(pool.kernel)), 1.0));
    proto::NodeProto* out = add(node, "Conv", {input(node, 0), tensor(converted(one, type.dtype), "ones")});
    set_attribute(out, "group", channels);
    set_windows(out, pool);
  }

  void add_window_dot(const Node& node) {
    const PoolAttrs& pool = std::get<PoolAttrs>(node.attrs);
    const Shape& weights = input_type(node, 1).shape;
    const auto rank = static_cast<int64_t>(weights.size());
    std::vector<int64_t> perm = {rank - 1};
    for (int64_t axis = 0; axis + 1 < rank; ++axis) perm.push_back(axis);
    const std::string name = names_[node.outputs[0]];
    const std::string turned = unique(name + ".turned"), kernels = unique(name + ".kernels");
    set_attribute(add("Transpose", {input(node, 1)}, {turned}), "perm", perm);
    add("Reshape", {turned, ints(joined({weights.back(), 1}, pool.kernel), "shape")}, {kernels});
    proto::NodeProto* out = add(node, "Conv", {input(node, 0), kernels});
    set_attribute(out, "group", weights.back());
    set_windows(out, pool);
  }

  void add_window_max(const Node& node) {
    const PoolAttrs& pool = std::get<PoolAttrs>(node.attrs);
    proto::NodeProto* out = add(node, "MaxPool", {input(node, 0)});
    set_attribute(out, "kernel_shape", pool.kernel);
    set_windows(out, pool);
  }

  // The second output of a MaxPool whose first nobody reads.
  void add_max_pool_indices(const Node& node) {
    const PoolAttrs& pool = std::get<PoolAttrs>(node.attrs);
    const std::string& indices = names_[node.outputs[0]];
    proto::NodeProto* out = add("MaxPool", {input(node, 0)}, {unique(indices + ".maxima"), indices});
    set_attribute(out, "kernel_shape", pool.kernel);
    set_windows(out, pool);
  }

  void add_transpose(const Node& node) {
    set_attribute(add(node, "Transpose", {input(node, 0)}), "perm", std::get<PermAttrs>(node.attrs).perm);
  }

  void add_reshape(const Node& node) {
    const std::string shape = ints(std::get<ShapeAttrs>(node.attrs).shape, "shape");
    set_attribute(add(node, "Reshape", {input(node, 0), shape}), "allowzero", int64_t{1});
  }

  void add_expand(const Node& node) {
    add(node, "Expand", {input(node, 0), ints(std::get<ShapeAttrs>(node.attrs).shape, "shape")});
  }

  void add_slice(const Node& node) {
    const SliceAttrs& slice = std::get<SliceAttrs>(node.attrs);
    std::vector<int64_t> ends, axes(slice.starts.size());
    std::iota(axes.begin(), axes.end(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t end = slice.starts[i] + slice.sizes[i] * slice.steps[i];
      // A negative end would count from the back; this one means before the first element.
      ends.push_back(end < 0 ? std::numeric_limits<int64_t>::min() : end);
    }
    add(node, "Slice",
        {input(node, 0), ints(slice.starts, "starts"), ints(ends, "ends"), ints(axes, "axes"),
         ints(slice.steps, "steps")});
  }

  void add_pad(const Node& node) {
    const PadAttrs& pad = std::get<PadAttrs>(node.attrs);
    const HostTensor value =
        converted(HostTensor::of<double>(DType::f64, {}, {pad.value}), input_type(node, 0).dtype);
    std::vector<std::string> inputs = {input(node, 0), ints(joined(pad.before, pad.after), "pads")};
    if (pad.mode == PadMode::constant) inputs.push_back(tensor(value, "pad_value"));
    proto::NodeProto* out = add(node, "Pad", std::move(inputs));
    set_attribute(out, "mode", kPadModes[static_cast<size_t>(pad.mode)]);
  }

  // Of int16 and bytes, which ONNX does not multiply, in int32, as their product is.
  void add_matmul(const Node& node) {
    const MatMulAttrs& attrs = std::get<MatMulAttrs>(node.attrs);
    const auto operand = [&](size_t i, bool transposed) {
      std::string value = input(node, i);
      if (size_bytes(input_type(node, i).dtype) < 4 && is_integer(input_type(node, i).dtype))
        value = cast(value, DType::i32);
      if (!transposed) return value;
      std::vector<int64_t> perm(input_type(node, i).shape.size());
      std::iota(perm.begin(), perm.end(), 0);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      const std::string name = unique(input(node, i) + ".transposed");
      set_attribute(add("Transpose", {value}, {name}), "perm", perm);
      return name;
    };
    const std::string a = operand(0, attrs.transpose_a), b = operand(1, attrs.transpose_b);
    add(node, "MatMul", {a, b});
  }

  // With the weights as floats.
  void add_narrow_matmul(const Node& node) {
    std::vector<HostTensor> operands(1);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const HostTensor* constant = graph_.constant(node.inputs[i]);
      if (constant == nullptr)
        throw Error(ErrorKind::unsupported, "NarrowMatMul of weights that are computed");
      operands.push_back(*constant);
    }
    const HostTensor weights = widened_weights(std::get<NarrowAttrs>(node.attrs), operands);
    add(node, "MatMul", {input(node, 0), tensor(weights, "weights")});
  }

  // Of int16 and bytes in float64, where sums of their products are exact.
  void add_conv(const Node& node) {
    const ConvAttrs& conv = std::get<ConvAttrs>(node.attrs);
    const DType type = input_type(node, 0).dtype;
    if (type == DType::i32)
      throw Error(ErrorKind::unsupported, fmt::format("ONNX has no convolution of int32, which computes %{}",
                                                      names_[node.outputs[0]]));
    proto::NodeProto* out = nullptr;
    if (is_integer(type)) {
      const std::string sum = unique("sum");
      out = add("Conv", {cast(input(node, 0), DType::f64), cast(input(node, 1), DType::f64)}, {sum});
      set_attribute(add(node, "Cast", {cast(sum, DType::i64)}), "to", int64_t{data_type_of(DType::i32)});
    } else {
      out = add(node, name(node.op), all_inputs(node));
    }
    set_attribute(out, "group", conv.group);
    set_windows(out, conv);
    if (node.op == Op::ConvTranspose) set_attribute(out, "output_padding", conv.output_padding);
  }

  void add_along_axis(const Node& node) {
    set_attribute(add(node, name(node.op), all_inputs(node)), "axis", std::get<AxisAttrs>(node.attrs).axis);
  }

  void add_gather_nd(const Node& node) {
    set_attribute(add(node, "GatherND", all_inputs(node)), "batch_dims",
                  std::get<AxisAttrs>(node.attrs).axis);
  }

  void add_cum_sum(const Node& node) {
    const ScanAttrs& scan = std::get<ScanAttrs>(node.attrs);
    const HostTensor axis = HostTensor::of<int64_t>(DType::i64, {}, {scan.axis});
    proto::NodeProto* out = add(node, "CumSum", {input(node, 0), tensor(axis, "axis")});
    set_attribute(out, "exclusive", int64_t{scan.exclusive});
    set_attribute(out, "reverse", int64_t{scan.reverse});
  }

  void add_top_k(const Node& node) {
    const TopKAttrs& top = std::get<TopKAttrs>(node.attrs);
    proto::NodeProto* out = add(node, "TopK", {input(node, 0), ints({top.k}, "k")});
    set_attribute(out, "axis", top.axis);
    set_attribute(out, "largest", int64_t{top.largest});
    set_attribute(out, "sorted", int64_t{top.sorted});
  }

  // The old rows and zeros behind them; the new ones between what is before their place and what is behind.
  void add_append(const Node& node) {
    const AppendAttrs& append = std::get<AppendAttrs>(node.attrs);
    const TensorType& type = graph_.value(node.outputs[0]).type;
    const HostTensor zero = converted(HostTensor::of<double>(DType::f64, {}, {0}), type.dtype);
    const std::string axis = ints({append.axis}, "axis"), begin = ints({0}, "begin"), one = ints({1}, "one"),
                      end = ints({append.capacity}, "capacity"), zeros = unique("zeros");
    const auto number = [&](size_t operand) {
      const std::string name = unique("number");
      add("Reshape", {input(node, operand), one}, {name});
      return name;
    };
    const auto part = [&](const std::string& of, const std::string& from, const std::string& to) {
      const std::string name = unique("rows");
      add("Slice", {of, from, to, axis}, {name});
      return name;
    };
    const auto joined = [&](const std::vector<std::string>& parts) {
      const std::string name = unique("all");
      set_attribute(add("Concat", parts, {name}), "axis", append.axis);
      return name;
    };
    add("Expand", {tensor(zero, "zero"), ints(type.shape, "shape")}, {zeros});
    const std::string count = number(3), place = number(4), behind = unique("behind"),
                      old = joined({part(input(node, 0), begin, number(2)), zeros});
    add("Add", {place, count}, {behind});
    set_attribute(add(node, "Concat",
                      {part(old, begin, place), part(input(node, 1), begin, count), part(old, behind, end)}),
                  "axis", append.axis);
  }

  // Nodes. Outputs default to those of the Node.
  proto::NodeProto* add(const char* op_type, std::vector<std::string> inputs,
                        std::vector<std::string> outputs) {
    proto::NodeProto* node = out_->add_node();
    node->set_op_type(op_type);
    for (std::string& name : inputs) node->add_input(std::move(name));
    for (std::string& name : outputs) node->add_output(std::move(name));
    const bool known = origins_ != nullptr && !origins_->empty();
    node->set_name(
        fmt::format("{}{}_{}", known ? origins_->front() + "/" : "", op_type, out_->node_size() - 1));
    return node;
  }

  proto::NodeProto* add(const Node& node, const char* op_type, std::vector<std::string> inputs) {
    std::vector<std::string> outputs;
    for (ValueId output : node.outputs) outputs.push_back(names_[output]);
    return add(op_type, std::move(inputs), std::move(outputs));
  }

  std::string tensor(const HostTensor& value, const std::string& wish) {
    std::string name = unique(wish);
    *out_->add_initializer() = write_tensor(value, name);
    return name;
  }

  std::string ints(const std::vector<int64_t>& values, const std::string& wish) {
    return tensor(HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values), wish);
  }

  std::string input(const Node& node, size_t i) const { return names_[node.inputs[i]]; }

  std::string cast(const std::string& value, DType to) {
    const std::string name = unique(value + "." + korch::name(to));
    set_attribute(add("Cast", {value}, {name}), "to", int64_t{data_type_of(to)});
    return name;
  }

  std::vector<std::string> all_inputs(const Node& node) const {
    std::vector<std::string> result;
    for (ValueId input : node.inputs) result.push_back(names_[input]);
    return result;
  }
  const TensorType& input_type(const Node& node, size_t i) const { return graph_.value(node.inputs[i]).type; }

  const Graph& graph_;
  proto::ModelProto model_;
  proto::GraphProto* out_;
  std::vector<std::string> names_;  // by ValueId
  std::unordered_set<std::string> taken_;
  const std::vector<std::string>* origins_ = nullptr;  // of the primitive that is being exported
};

}  // namespace
}  // namespace onnx

std::string export_onnx_bytes(const Graph& graph) {
  return onnx::serialize(onnx::Exporter(graph).run());
}

void export_onnx(const Graph& graph, const std::string& path) {
  write_file(path, export_onnx_bytes(graph));
}

}  // namespace korch
