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

// Its name, "" where it has none. What exporters write for a dimension that they know nothing of names
// nothing: two such axes need not be of one extent.
std::string symbol_of(const proto::TensorShapeProto::Dimension& dimension) {
  static constexpr std::string_view kNameless[] = {"?", "None", "none", "-1", "*", "unknown"};
  const std::string& name = dimension.dim_param();
  return std::find(std::begin(kNameless), std::end(kNameless), name) == std::end(kNameless) ? name : "";
}

// How a dimension is called, also without a name.
std::string dimension_name(const proto::ValueInfoProto& input, int axis) {
  const proto::TensorShapeProto& shape = input.type().tensor_type().shape();
  const std::string symbol = axis < shape.dim_size() ? symbol_of(shape.dim(axis)) : "";
  return symbol.empty() ? fmt::format("{}:{}", input.name(), axis) : symbol;
}

// Whether one extent can only mean the dimension: the input has more axes, or just that one, or one that the
// file or another option tells.
bool is_told_apart(const proto::TensorShapeProto* input, const std::string& symbol,
                   const std::map<std::string, Shape>& shapes) {
  if (input == nullptr) return false;
  if (input->dim_size() != 1 || !is_open(input->dim(0))) return true;
  const std::string own = symbol_of(input->dim(0));
  return own == symbol || (!own.empty() && shapes.contains(own));
}

// "1..4", "4".
std::string extents_text(int64_t least, int64_t most) {
  return least == most ? std::to_string(most) : fmt::format("{}..{}", least, most);
}

// "; its symbolic dimensions are n and m": what one extent may have been meant for.
std::string named_dimensions(const proto::TensorShapeProto& shape) {
  std::vector<std::string> names;
  for (const auto& dimension : shape.dim())
    if (is_open(dimension) && !symbol_of(dimension).empty())
      names.push_back(quoted_name(symbol_of(dimension)));
  if (names.empty()) return "";
  return fmt::format("; its symbolic dimension{} {}", names.size() == 1 ? " is" : "s are",
                     fmt::join(names, ", "));
}

// "it has the inputs a, b and the symbolic dimension n": what can be given a shape. Not more than a screen.
std::string shaped_names(const std::vector<std::string>& inputs, std::set<std::string> symbols) {
  symbols.erase("");  // of dimensions without a name
  constexpr size_t kMostNames = 20;
  const auto list = [](const char* what, const auto& names) {
    std::string text = fmt::format("{}{}", what, names.size() == 1 ? "" : "s");
    size_t count = 0;
    for (const std::string& name : names) {
      if (++count > kMostNames) return fmt::format("{} and {} more", text, names.size() - kMostNames);
      text += fmt::format("{}{}", count == 1 ? " " : ", ", quoted_name(name));
    }
    return text;
  };
  std::string text = inputs.empty() ? "it has no input" : "it has the " + list("input", inputs);
  if (!symbols.empty()) text += " and the " + list("symbolic dimension", symbols);
  return text;
}

}  // namespace

bool is_open(const proto::TensorShapeProto::Dimension& dimension) {
  return !dimension.has_dim_value() || dimension.dim_value() < 0;
}

// The names of the options are graph inputs or symbolic dimensions of graph inputs.
InputShapes::InputShapes(const proto::GraphProto& graph, const std::set<std::string>& constants,
                         const ImportOptions& options)
    : options_(options) {
  std::map<std::string, const proto::TensorShapeProto*> inputs;
  std::set<std::string> symbols;
  for (const auto& input : graph.input()) {
    if (constants.contains(input.name())) continue;
    const proto::TensorShapeProto& shape = input.type().tensor_type().shape();
    inputs.emplace(input.name(), input.type().tensor_type().has_shape() ? &shape : nullptr);
    for (const auto& dimension : shape.dim())
      if (is_open(dimension)) symbols.insert(symbol_of(dimension));
  }
  for (const auto& [name, most] : options_.shapes) {
    const auto ranged = options_.least_shapes.find(name);
    const Given given{most, ranged != options_.least_shapes.end() ? ranged->second : most};
    KORCH_ASSERT(given.least.size() == most.size(), "least extents beside the largest");
    const auto input = inputs.find(name);
    const bool is_input = input != inputs.end(), is_symbol = !name.empty() && symbols.contains(name);
    if (!is_input && !is_symbol) {
      std::vector<std::string> names;
      for (const auto& [known, shape] : inputs) names.push_back(known);
      throw Error(
          ErrorKind::usage,
          fmt::format("a shape is given for {}, but the model has no such input or symbolic dimension; {}",
                      quoted_name(name), shaped_names(names, symbols)));
    }
    if (is_input && is_symbol && most.size() == 1 && !is_told_apart(input->second, name, options_.shapes))
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "{} is both a graph input of one axis and another symbolic dimension: give the shapes of the "
              "inputs that have it, by names that are inputs alone",
              quoted_name(name)));
    const bool means_symbol = is_symbol && (!is_input || most.size() == 1);
    if (means_symbol && most.size() != 1)
      throw Error(ErrorKind::usage, fmt::format("{} is a symbolic dimension: give one extent, not {}",
                                                quoted_name(name), to_string(most)));
    (means_symbol ? symbols_ : inputs_).emplace(name, given);
  }
}

const InputShapes::Given* InputShapes::given(const proto::ValueInfoProto& input) const {
  const auto found = inputs_.find(input.name());
  return found != inputs_.end() ? &found->second : nullptr;
}

const InputShapes::Given* InputShapes::given(const proto::TensorShapeProto::Dimension& dimension) const {
  const auto found = symbols_.find(symbol_of(dimension));
  return is_open(dimension) && found != symbols_.end() ? &found->second : nullptr;
}

const DerivedDimension* InputShapes::derived(const proto::ValueInfoProto& input, int axis) const {
  if (!options_.derived || !is_open(input.type().tensor_type().shape().dim(axis))) return nullptr;
  const auto found = options_.derived->find(printable(dimension_name(input, axis)));
  return found != options_.derived->end() ? &found->second : nullptr;
}

// Of an open dimension, by its symbol, the input's given shape or others; -1 when nothing tells.
int64_t InputShapes::given_extent(const proto::ValueInfoProto& input, int axis) {
  const auto& dimension = input.type().tensor_type().shape().dim(axis);
  const Given *own = given(input), *symbol = given(dimension);
  if (own == nullptr) {
    if (!is_open(dimension)) return dimension.dim_value();
    if (symbol != nullptr) return symbol->most[0];
    const DerivedDimension* following = derived(input, axis);
    return following != nullptr ? following->most : -1;
  }
  const int64_t extent = own->most[static_cast<size_t>(axis)], least = own->least[static_cast<size_t>(axis)];
  if (!is_open(dimension) && extent != dimension.dim_value())
    throw Error(
        ErrorKind::invalid,
        fmt::format("graph input {} has extent {} on axis {}, but the given shape {} says {}",
                    quoted_name(input.name()), dimension.dim_value(), axis, to_string(own->most), extent));
  if (symbol != nullptr && (symbol->most[0] != extent || symbol->least[0] != least))
    throw Error(
        ErrorKind::usage,
        fmt::format("the shape given for {} has the extent {} on axis {}, which contradicts {}={}",
                    quoted_name(input.name()), extents_text(least, extent), axis,
                    quoted_name(symbol_of(dimension)), extents_text(symbol->least[0], symbol->most[0])));
  return extent;
}

int64_t InputShapes::least_extent(const proto::ValueInfoProto& input, int axis, int64_t most) const {
  if (const Given* own = given(input)) return own->least[static_cast<size_t>(axis)];
  if (axis >= input.type().tensor_type().shape().dim_size()) return most;
  if (const Given* symbol = given(input.type().tensor_type().shape().dim(axis))) return symbol->least[0];
  const DerivedDimension* following = derived(input, axis);
  return following != nullptr && following->most >= 0 ? following->least : most;
}

// Axes that have a range of extents; those of one symbol are one dimension.
void InputShapes::note_open_axes(const proto::ValueInfoProto& input, int number, Shape* bounds) {
  for (int axis = 0; axis < static_cast<int>(bounds->size()); ++axis) {
    int64_t& most = (*bounds)[static_cast<size_t>(axis)];
    const int64_t least = least_extent(input, axis, most);
    if (least > most)
      throw Error(ErrorKind::usage, fmt::format("graph input {}, axis {}: {}..{} is no range",
                                                quoted_name(input.name()), axis, least, most));
    const std::string name = printable(dimension_name(input, axis));
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
    // One of a batch, and of the axis between two others: a state's batch, a step of time.
    const bool is_one = axis == 0 || (axis == 1 && input.type().tensor_type().shape().dim_size() == 3);
    const int64_t example = known >= 0 ? known : is_one ? 1 : 128;
    whole += fmt::format("{}{}", axis == 0 ? "" : "x", example);
    if (known >= 0 || derived(input, axis) != nullptr) continue;
    all_named = all_named && !symbol_of(dimension).empty();
    hints.push_back(fmt::format("{}={}", printable(symbol_of(dimension)), example));
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

std::vector<OpenDimension> InputShapes::open_dimensions() const {
  std::vector<OpenDimension> result = open_dimensions_;
  if (!options_.derived) return result;
  for (const auto& [name, following] : *options_.derived) {
    ExtentSum sum{following.plus, {}};
    size_t missing = following.terms.size();  // of the terms
    for (size_t d = 0; d < result.size(); ++d)
      for (const auto& [term, factor] : following.terms)
        if (result[d].name == term) {
          sum.terms.push_back({static_cast<int>(d), factor});
          --missing;
        }
    for (OpenDimension& dimension : result)
      if (dimension.name == name && missing == 0 && !sum.terms.empty()) dimension.sum = sum;
  }
  return result;
}

// Noted as open, and with extents of 1, where the file and the options leave it open.
Shape InputShapes::bounds_of(const proto::ValueInfoProto& input) {
  const Given* own = given(input);
  const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
  if (!input.type().tensor_type().has_shape()) {
    if (own != nullptr) return own->most;
    add_open(input, " of unknown rank");
    return {};
  }
  if (own != nullptr && static_cast<int>(own->most.size()) != declared.dim_size())
    throw Error(ErrorKind::invalid,
                fmt::format("graph input {} has rank {}, but the given shape {} has rank {}{}",
                            quoted_name(input.name()), declared.dim_size(), to_string(own->most),
                            own->most.size(), own->most.size() == 1 ? named_dimensions(declared) : ""));
  Shape shape;
  std::vector<std::string> shown;
  bool open = false;
  for (int axis = 0; axis < declared.dim_size(); ++axis) {
    const std::string symbol = symbol_of(declared.dim(axis));
    const int64_t extent = given_extent(input, axis);
    const std::string unknown = symbol.empty() ? "?" : printable(symbol);
    if (extent < 0 && own == nullptr)
      unknown_.push_back(printable(dimension_name(input, axis)));
    else if (is_open(declared.dim(axis)))
      known_[printable(dimension_name(input, axis))] = {least_extent(input, axis, extent), extent};
    shown.push_back(extent >= 0 ? std::to_string(extent) : unknown);
    shape.push_back(extent >= 0 || own != nullptr ? extent : 1);
    open = open || (extent < 0 && own == nullptr && derived(input, axis) == nullptr);
  }
  if (open) add_open(input, fmt::format(" [{}]", fmt::join(shown, " x ")));
  return shape;
}

}  // namespace korch::onnx
