#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "korch/base/hash.h"
#include "korch/ir/attr_fields.h"
#include "korch/ir/text.h"

namespace korch {

std::string constant_hash(const HostTensor& tensor) {
  const Hash bytes = hash_bytes(tensor.raw(), static_cast<size_t>(tensor.bytes()));
  return hash_text(to_string(tensor.type()) + bytes.hex()).hex();
}

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string element_text(const HostTensor& tensor, int64_t i) {
  const DType type = tensor.dtype();
  if (type == DType::f64 || is_storage(type)) return fmt::format("{}", element_as_double(tensor, i));
  if (is_float(type)) return fmt::format("{}", static_cast<float>(element_as_double(tensor, i)));
  if (type == DType::u64) return fmt::format("{}", tensor.data<uint64_t>()[i]);
  return fmt::format("{}", element_as_int(tensor, i));
}

bool is_splat(const HostTensor& tensor) {
  const auto* bytes = static_cast<const char*>(tensor.raw());
  const auto rest = static_cast<size_t>(tensor.bytes()) - size_bytes(tensor.dtype());
  return std::memcmp(bytes, bytes + size_bytes(tensor.dtype()), rest) == 0;
}

// "value=[...]", "splat=..." or "hash=...".
std::string constant_text(const HostTensor& tensor) {
  if (tensor.elements() > kInlineConstantElements)
    return is_splat(tensor) ? "splat=" + element_text(tensor, 0) : "hash=" + quoted(constant_hash(tensor));
  std::vector<std::string> elements;
  for (int64_t i = 0; i < tensor.elements(); ++i) elements.push_back(element_text(tensor, i));
  return fmt::format("value=[{}]", fmt::join(elements, ","));
}

std::string field_text(bool value) {
  return value ? "true" : "false";
}
std::string field_text(int64_t value) {
  return fmt::format("{}", value);
}
std::string field_text(double value) {
  return fmt::format("{}", value);
}
std::string field_text(const std::string& value) {
  return quoted(value);
}
std::string field_text(DType value) {
  return name(value);
}
std::string field_text(PadMode value) {
  return kPadModes[static_cast<size_t>(value)];
}
template <typename T>
std::string field_text(const std::vector<T>& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

template <typename Struct>
std::string struct_text(Struct attrs) {
  std::vector<std::string> shown, defaults;
  Struct fallback;
  visit_fields(fallback, [&](const char*, const auto& field) { defaults.push_back(field_text(field)); });
  size_t i = 0;
  visit_fields(attrs, [&](const char* name, const auto& field) {
    const std::string text = field_text(field);
    if (text != defaults[i++]) shown.push_back(fmt::format("{}={}", name, text));
  });
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::string struct_text(const ConstantAttrs& attrs) {
  return constant_text(attrs.value);
}

// Unique printable names of all Values.
class Names {
 public:
  explicit Names(const Graph& graph) : graph_(graph) {}

  const std::string& of(ValueId id) {
    std::string& text = names_[id];
    if (!text.empty()) return text;
    std::string base;
    for (char c : graph_.value(id).name) {
      const bool plain =
          std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
      base += plain ? c : '_';
    }
    if (base.empty()) base = fmt::format("v{}", id);
    text = base;
    for (int suffix = 1; !taken_.insert(text).second; ++suffix) text = fmt::format("{}.{}", base, suffix);
    return text;
  }

 private:
  const Graph& graph_;
  std::unordered_map<ValueId, std::string> names_;
  std::unordered_set<std::string> taken_;
};

std::string node_text(const Graph& graph, const Node& node, Names& names, bool alternative) {
  std::vector<std::string> inputs, outputs, types, origins;
  for (ValueId id : node.outputs) {
    outputs.push_back("%" + names.of(id));
    types.push_back(to_string(graph.value(id).type));
  }
  for (ValueId id : node.inputs) inputs.push_back("%" + names.of(id));
  for (const std::string& origin : node.origins) origins.push_back(quoted(origin));
  std::string text = fmt::format("{} {} {}({})", fmt::join(outputs, ", "), alternative ? "|=" : "=",
                                 name(node.op), fmt::join(inputs, ", "));
  const std::string attrs = print_attrs(node.attrs);
  if (!attrs.empty()) text += " {" + attrs + "}";
  if (!alternative) text += fmt::format(" : {}", fmt::join(types, ", "));
  if (!origins.empty()) text += fmt::format(" @ {}", fmt::join(origins, ", "));
  return text;
}

std::string open_text(const OpenDimension& dimension) {
  std::string text = fmt::format(" open {} {} of", dimension.least, dimension.most);
  for (const auto& [input, axis] : dimension.axes) text += fmt::format(" {} {},", input, axis);
  text.pop_back();
  if (dimension.sum) {
    text += fmt::format(" sum {}", dimension.sum->plus);
    for (const auto& [term, factor] : dimension.sum->terms) text += fmt::format(" {} {},", term, factor);
    text.pop_back();
  }
  if (dimension.fitting.empty()) return text;
  text += " fits";
  for (const auto& [first, last, step] : dimension.fitting)
    text += fmt::format(" {} {} {},", first, last, step);
  text.pop_back();
  return text;
}

}  // namespace

std::string print_attrs(const Attrs& attrs) {
  return std::visit([](const auto& a) { return struct_text(a); }, attrs);
}

std::string print(const Graph& graph, NodeId node) {
  Names names(graph);
  return node_text(graph, graph.node(node), names, false);
}

std::string print(const Graph& graph) {
  Names names(graph);
  std::string text = "graph {\n";
  const size_t tensors_read = graph.inputs().size() - graph.open_dimensions().size();
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& value = graph.value(graph.inputs()[i]);
    text += fmt::format("  input %{} : {} {}", names.of(graph.inputs()[i]), to_string(value.type),
                        quoted(value.name));
    if (i >= tensors_read) text += open_text(graph.open_dimensions()[i - tensors_read]);
    text += "\n";
  }
  std::vector<bool> made(graph.value_count(), false);
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    bool alternative = false;
    for (ValueId output : node.outputs) alternative = alternative || made[output];
    for (ValueId output : node.outputs) made[output] = true;
    text += "  " + node_text(graph, node, names, alternative) + "\n";
  }
  const size_t tensors = graph.outputs().size() - graph.extents().size();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    text += fmt::format("  output %{} {}", names.of(graph.outputs()[i]), quoted(graph.output_names()[i]));
    if (i >= tensors)
      text += fmt::format(" extent {} {}", graph.extents()[i - tensors].output,
                          graph.extents()[i - tensors].axis);
    for (const StatePair& state : graph.states())
      if (state.output == static_cast<int>(i)) text += fmt::format(" state {} {}", state.input, state.axis);
    text += "\n";
  }
  return text + "}\n";
}

std::map<std::string, HostTensor> large_constants(const Graph& graph) {
  std::map<std::string, HostTensor> result;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (graph.node(id).dead || graph.node(id).op != Op::Constant) continue;
    const HostTensor& value = std::get<ConstantAttrs>(graph.node(id).attrs).value;
    if (value.elements() > kInlineConstantElements && !is_splat(value))
      result.emplace(constant_hash(value), value);
  }
  return result;
}

}  // namespace korch
