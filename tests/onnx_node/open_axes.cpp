#include "open_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "korch/base/hash.h"
#include "korch/onnx/import.h"
#include "korch/onnx/model_file.h"

namespace korch {
namespace {

namespace proto = onnx::proto;

struct Place {
  int input = 0, axis = 0;
};

// `x` with other extents: repeated where they are larger. What is not below `count` is garbage.
HostTensor refilled(const HostTensor& x, const Shape& extents, const Shape& count) {
  HostTensor result(TensorType{x.dtype(), extents});
  const size_t width = size_bytes(x.dtype());
  const int garbage = is_float(x.dtype()) ? 0xff : x.dtype() == DType::bool_ ? 1 : 0x7e;
  const Shape strides = row_major_strides(x.shape());
  for (int64_t i = 0; i < result.elements(); ++i) {
    int64_t rest = i, from = 0;
    bool counts = true;
    for (size_t axis = extents.size(); axis-- > 0; rest /= extents[axis]) {
      const int64_t at = rest % extents[axis];
      counts = counts && at < count[axis];
      from += at % x.shape()[axis] * strides[axis];
    }
    auto* to = static_cast<char*>(result.mutable_raw()) + static_cast<size_t>(i) * width;
    if (counts)
      std::memcpy(to, static_cast<const char*>(x.raw()) + static_cast<size_t>(from) * width, width);
    else
      std::memset(to, garbage, width);
  }
  return result;
}

std::vector<HostTensor> evaluate(const Graph& graph, const std::vector<HostTensor>& inputs) {
  static const Engine& interpreter = engines().front();
  return interpreter.run(graph, inputs);
}

// A data set with some inputs as constants, and some axes of the others with a common extent to be opened.
struct Opened {
  proto::ModelProto model;  // with what is bound as initializers
  std::vector<HostTensor> inputs;
  std::vector<Place> places;

  int64_t extent() const { return inputs[places[0].input].shape()[places[0].axis]; }
  Shape shape(size_t input, int64_t extent) const {
    Shape result = inputs[input].shape();
    for (const Place& place : places)
      if (place.input == static_cast<int>(input)) result[place.axis] = extent;
    return result;
  }

  // The network of one extent and what it computes; nothing where there is no such network.
  std::optional<std::vector<HostTensor>> of_one_extent(int64_t extent) const {
    proto::ModelProto fixed = model;
    std::vector<HostTensor> data;
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto& shape_proto = *fixed.mutable_graph()
                               ->mutable_input(static_cast<int>(i))
                               ->mutable_type()
                               ->mutable_tensor_type()
                               ->mutable_shape();
      const Shape shape_at = shape(i, extent);
      for (size_t axis = 0; axis < shape_at.size(); ++axis)
        shape_proto.mutable_dim(static_cast<int>(axis))->set_dim_value(shape_at[axis]);
      data.push_back(refilled(inputs[i], shape_at, shape_at));
    }
    for (auto& output : *fixed.mutable_graph()->mutable_output())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
    try {
      return evaluate(import_onnx_bytes(onnx::serialize(fixed)), data);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  Graph of_range(int64_t least, int64_t most) const {
    proto::ModelProto open = model;
    for (const Place& place : places)
      open.mutable_graph()
          ->mutable_input(place.input)
          ->mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(place.axis)
          ->set_dim_param("korch_open");
    for (auto& output : *open.mutable_graph()->mutable_output())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
    ImportOptions options;
    options.shapes = {{"korch_open", {most}}};
    options.least_shapes = {{"korch_open", {least}}};
    return import_onnx_bytes(onnx::serialize(open), options);
  }

  std::vector<HostTensor> run(const Graph& graph, int64_t most, int64_t extent) const {
    std::vector<HostTensor> data;
    for (size_t i = 0; i < inputs.size(); ++i)
      data.push_back(refilled(inputs[i], shape(i, most), shape(i, extent)));
    data.push_back(HostTensor::of<int64_t>(DType::i64, {}, {extent}));
    return evaluate(graph, data);
  }

  std::vector<HostTensor> run(const Graph& graph, const Engine& engine, int64_t extent) const {
    std::vector<HostTensor> data;
    for (size_t i = 0; i < inputs.size(); ++i)
      data.push_back(refilled(inputs[i], shape(i, extent), shape(i, extent)));
    return engine.run(graph, data);
  }

  // What differs from the networks of single extents, or nothing.
  std::string check(const OnnxDataSet& set, int64_t least, const Engine* engine) const {
    const int64_t most = 2 * extent();
    const Graph graph = of_range(least, most);
    std::set<int64_t> extents{1, extent() - 1, extent(), extent() + 1, most};
    for (int64_t at : extents) {
      const auto expected = at == extent() ? std::optional(set.expected)
                            : at >= least  ? of_one_extent(at)
                                           : std::nullopt;
      if (!expected) continue;
      std::string what;
      try {
        what = difference(run(graph, most, at), *expected);
        if (what.empty() && engine != nullptr) what = difference(run(graph, *engine, at), *expected);
      } catch (const Error& error) {
        what = error.what();
      }
      if (!what.empty()) return fmt::format("with extent {}: {}", at, what);
    }
    return {};
  }

  bool is_of_one_extent() const {
    for (int64_t at : {int64_t{1}, extent() - 1, extent() + 1, 2 * extent()})
      if (at > 0 && at != extent() && of_one_extent(at)) return false;
    return true;
  }
};

std::vector<Place> all_of_extent(const std::vector<HostTensor>& inputs, int64_t extent) {
  std::vector<Place> places;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t axis = 0; axis < inputs[i].shape().size(); ++axis)
      if (inputs[i].shape()[axis] == extent) places.push_back({static_cast<int>(i), static_cast<int>(axis)});
  return places;
}

// Why it is refused, or else what differs, if anything.
std::optional<std::string> refusal(const Opened& opened, const OnnxDataSet& set, const Engine* engine,
                                   std::string* differs) {
  std::string why;
  for (int64_t least : {int64_t{1}, opened.extent()}) {
    try {
      *differs = opened.check(set, least, engine);
      return std::nullopt;
    } catch (const Error& error) {
      why = error.what();
      if (why.find("give a range of extents that begins higher") == std::string::npos) break;
    }
  }
  return why;
}

// The first binding with which the model of the data's own extents is one.
std::optional<Opened> bound(const OnnxDataSet& set) {
  for (const Binding binding : kBindings) {
    Opened opened{set.model, {}, {}};
    opened.inputs = bind_inputs(opened.model, binding, set.inputs);
    if (opened.inputs.empty()) return std::nullopt;
    try {
      import_onnx_bytes(onnx::serialize(opened.model));
      return opened;
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

}  // namespace

void open_axes(const OnnxCase& c, OpenAxesScore& score, const Engine* engine, int one_in) {
  for (const OnnxDataSet& set : load_data_sets(c)) {
    const std::optional<Opened> base = bound(set);
    if (!base) continue;
    for (size_t input = 0; input < base->inputs.size(); ++input)
      for (size_t axis = 0; axis < base->inputs[input].shape().size(); ++axis) {
        const int64_t extent = base->inputs[input].shape()[axis];
        if (extent == 0) continue;
        Opened opened = *base;
        opened.places = {{static_cast<int>(input), static_cast<int>(axis)}};
        const std::string what = fmt::format("{} input {} axis {}", c.name, input, axis);
        const bool runs = hash_text(what).low % static_cast<uint64_t>(one_in) == 0;
        const Engine* const also = runs ? engine : nullptr;
        std::string differs;
        std::optional<std::string> why = refusal(opened, set, also, &differs);
        const bool one_extent = why && opened.is_of_one_extent();
        if (why) {
          Opened together = *base;
          together.places = all_of_extent(base->inputs, extent);
          if (together.places.size() > 1 && !refusal(together, set, also, &differs)) why.reset();
        }
        if (!differs.empty())
          score.wrong.push_back(what + ": " + differs);
        else if (!why)
          ++score.right;
        else if (one_extent)
          ++score.one_only;
        else
          score.refused.push_back(what + ": " + *why);
      }
  }
}

}  // namespace korch
