#include "korch/onnx/input_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "korch/base/error.h"
#include "korch/base/printable.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

// As one argument of a shell.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/=+-@%";
  return text.find_first_not_of(kPlain) == std::string::npos ? text : "'" + text + "'";
}

}  // namespace

bool is_open(const proto::TensorShapeProto::Dimension& dimension) {
  return !dimension.has_dim_value() || dimension.dim_value() < 0;
}

// The names of the options are graph inputs or symbolic dimensions of graph inputs.
InputShapes::InputShapes(const proto::GraphProto& graph, const std::set<std::string>& constants,
                         const ImportOptions& options)
    : options_(options) {
  std::set<std::string> inputs, symbols;
  for (const auto& input : graph.input()) {
    if (constants.contains(input.name())) continue;
    inputs.insert(input.name());
    for (const auto& dimension : input.type().tensor_type().shape().dim())
      if (is_open(dimension)) symbols.insert(dimension.dim_param());
  }
  for (const auto& [name, least] : options_.least_shapes)
    KORCH_ASSERT(options_.shapes.contains(name) && options_.shapes.at(name).size() == least.size(),
                 "least extents beside the largest");
  for (const auto& [name, shape] : options_.shapes) {
    const bool input = inputs.contains(name), symbol = !name.empty() && symbols.contains(name);
    if (!input && !symbol)
      throw Error(
          ErrorKind::usage,
          fmt::format("a shape is given for {}, but the model has no such input or symbolic dimension",
                      quoted_name(name)));
    if (input && symbol)
      throw Error(
          ErrorKind::usage,
          fmt::format("{} is both a graph input and a symbolic dimension: give the shapes of the inputs "
                      "that have it, by names that are inputs alone",
                      quoted_name(name)));
    if (symbol && shape.size() != 1)
      throw Error(ErrorKind::usage, fmt::format("{} is a symbolic dimension: give one extent, not {}",
                                                quoted_name(name), to_string(shape)));
  }
}

// Of an open dimension, by its symbol or the input's given shape; -1 when nothing tells.
int64_t InputShapes::given_extent(const proto::ValueInfoProto& input, int axis) {
  const auto& dimension = input.type().tensor_type().shape().dim(axis);
  const auto given = options_.shapes.find(input.name());
  const auto symbol =
      dimension.dim_param().empty() ? options_.shapes.end() : options_.shapes.find(dimension.dim_param());
  if (given == options_.shapes.end()) {
    if (is_open(dimension)) return symbol == options_.shapes.end() ? -1 : symbol->second[0];
    return dimension.dim_value();
  }
  const int64_t extent = given->second[axis];
  if (!is_open(dimension) && extent != dimension.dim_value())
    throw Error(ErrorKind::invalid,
                fmt::format("graph input {} has extent {} on axis {}, but the given shape {} says {}",
                            quoted_name(input.name()), dimension.dim_value(), axis, to_string(given->second),
                            extent));
  if (is_open(dimension) && symbol != options_.shapes.end() && symbol->second[0] != extent)
    throw Error(ErrorKind::usage, fmt::format("the shape {} given for {} contradicts {}={}",
                                              to_string(given->second), quoted_name(input.name()),
                                              quoted_name(dimension.dim_param()), symbol->second[0]));
  return extent;
}

int64_t InputShapes::least_extent(const proto::ValueInfoProto& input, int axis, int64_t most) const {
  const auto given = options_.least_shapes.find(input.name());
  if (given != options_.least_shapes.end()) return given->second[static_cast<size_t>(axis)];
  if (options_.shapes.contains(input.name()) || !is_open(input.type().tensor_type().shape().dim(axis)))
    return most;
  const auto symbol = options_.least_shapes.find(input.type().tensor_type().shape().dim(axis).dim_param());
  return symbol == options_.least_shapes.end() ? most : symbol->second[0];
}

// Axes that have a range of extents; those of one symbol are one dimension.
void InputShapes::note_open_axes(const proto::ValueInfoProto& input, int number, Shape* bounds) {
  for (int axis = 0; axis < static_cast<int>(bounds->size()); ++axis) {
    int64_t& most = (*bounds)[static_cast<size_t>(axis)];
    const int64_t least = least_extent(input, axis, most);
    if (least > most)
      throw Error(ErrorKind::usage, fmt::format("graph input {}, axis {}: {}..{} is no range",
                                                quoted_name(input.name()), axis, least, most));
    const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
    const std::string symbol = axis < declared.dim_size() ? declared.dim(axis).dim_param() : "";
    const std::string name = printable(symbol.empty() ? fmt::format("{}:{}", input.name(), axis) : symbol);
    const auto known = std::find_if(open_dimensions_.begin(), open_dimensions_.end(),
                                    [&](const OpenDimension& dimension) { return dimension.name == name; });
    const auto bound = least < most ? options_.bounds.find(name) : options_.bounds.end();
    const int64_t stated = most;
    if (bound != options_.bounds.end()) most = std::clamp(bound->second, least, most);
    if (known != open_dimensions_.end()) {
      if (known->least != least || known->most != most)
        throw Error(ErrorKind::usage,
                    fmt::format("{} is {}..{} for one input and {}..{} for {}", quoted_name(name),
                                known->least, known->most, least, stated, quoted_name(input.name())));
      known->axes.push_back({number, axis});
    } else if (least < most) {
      open_dimensions_.push_back({name, least, most, {{number, axis}}});
    }
  }
}

// Notes an input whose shape is not known, and the options that would tell it.
void InputShapes::add_open(const proto::ValueInfoProto& input, const std::string& shape) {
  open_inputs_.push_back(fmt::format("{}{}", quoted_name(input.name()), shape));
  std::vector<std::string> hints;
  std::string whole;
  bool all_named = input.type().tensor_type().has_shape();
  for (int axis = 0; axis < input.type().tensor_type().shape().dim_size(); ++axis) {
    const auto& dimension = input.type().tensor_type().shape().dim(axis);
    const int64_t known = given_extent(input, axis);
    const int64_t example = known >= 0 ? known : axis == 0 ? 1 : 128;
    whole += fmt::format("{}{}", axis == 0 ? "" : "x", example);
    if (known >= 0) continue;
    all_named = all_named && !dimension.dim_param().empty();
    hints.push_back(fmt::format("{}={}", printable(dimension.dim_param()), example));
  }
  if (!all_named)
    hints = {fmt::format("{}={}", printable(input.name()), whole.empty() ? "1x3x224x224" : whole)};
  for (const std::string& hint : hints) {
    const std::string symbol = hint.substr(0, hint.rfind('=') + 1);
    const bool known = std::any_of(hints_.begin(), hints_.end(),
                                   [&](const std::string& other) { return other.starts_with(symbol); });
    if (!known) hints_.push_back(hint);
  }
}

void InputShapes::require_known() const {
  if (open_inputs_.empty()) return;
  std::string options;
  for (const std::string& hint : hints_) options += " --shape " + shell_word(hint);
  throw Error(ErrorKind::invalid,
              fmt::format("the model leaves shapes open, of the graph input{} {}; give them, e.g.{}",
                          open_inputs_.size() == 1 ? "" : "s", fmt::join(open_inputs_, ", "), options));
}

// Noted as open, and with extents of 1, where the file and the options leave it open.
Shape InputShapes::bounds_of(const proto::ValueInfoProto& input) {
  const auto given = options_.shapes.find(input.name());
  const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
  if (!input.type().tensor_type().has_shape()) {
    if (given != options_.shapes.end()) return given->second;
    add_open(input, " of unknown rank");
    return {};
  }
  if (given != options_.shapes.end() && static_cast<int>(given->second.size()) != declared.dim_size())
    throw Error(ErrorKind::invalid,
                fmt::format("graph input {} has rank {}, but the given shape {} has rank {}",
                            quoted_name(input.name()), declared.dim_size(), to_string(given->second),
                            given->second.size()));
  Shape shape;
  std::vector<std::string> shown;
  bool open = false;
  for (int axis = 0; axis < declared.dim_size(); ++axis) {
    const std::string& symbol = declared.dim(axis).dim_param();
    const int64_t extent = given_extent(input, axis);
    const std::string unknown = symbol.empty() ? "?" : printable(symbol);
    shown.push_back(extent >= 0 ? std::to_string(extent) : unknown);
    shape.push_back(extent >= 0 || given != options_.shapes.end() ? extent : 1);
    open = open || (extent < 0 && given == options_.shapes.end());
  }
  if (open) add_open(input, fmt::format(" [{}]", fmt::join(shown, " x ")));
  return shape;
}

}  // namespace korch::onnx
