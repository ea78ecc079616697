#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "korch/base/text_cursor.h"
#include "korch/ir/attr_fields.h"
#include "korch/ir/text.h"

namespace korch {
namespace {

// Makes the I-th alternative of Attrs.
template <size_t I = 0>
Attrs make_attrs(size_t index) {
  if constexpr (I + 1 < std::variant_size_v<Attrs>) {
    if (index != I) return make_attrs<I + 1>(index);
  }
  return Attrs(std::in_place_index<I>);
}

// A text of a few words must not ask for all memory.
constexpr int64_t kMostSplatBytes = int64_t{1} << 30;

void store_element(HostTensor& tensor, int64_t i, const std::string& text) {
  const DType type = tensor.dtype();
  const double real = std::strtod(text.c_str(), nullptr);
  if (type == DType::f64) {
    tensor.mutable_data<double>()[i] = real;
  } else if (type == DType::f32) {
    tensor.mutable_data<float>()[i] = std::strtof(text.c_str(), nullptr);
  } else if (type == DType::f16) {
    tensor.mutable_data<uint16_t>()[i] = float_to_half(static_cast<float>(real));
  } else if (type == DType::bf16) {
    tensor.mutable_data<uint16_t>()[i] = float_to_bfloat16(static_cast<float>(real));
  } else if (is_storage(type)) {
    tensor.mutable_data<uint8_t>()[i] = stored_byte(type, real);
  } else {
    const auto integer = type == DType::u64 ? std::strtoull(text.c_str(), nullptr, 10)
                                            : static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, 10));
    const size_t bytes = size_bytes(type);  // the lowest ones
    std::memcpy(tensor.mutable_data<std::byte>() + static_cast<size_t>(i) * bytes, &integer, bytes);
  }
}

void repeat_first(HostTensor& tensor) {
  auto* bytes = static_cast<std::byte*>(tensor.mutable_raw());
  const auto all = static_cast<size_t>(tensor.bytes());
  for (size_t done = size_bytes(tensor.dtype()); done < all; done *= 2)
    std::memcpy(bytes + done, bytes, std::min(done, all - done));
}

class Parser : TextCursor {
 public:
  Parser(std::string_view text, const std::map<std::string, HostTensor>& constants)
      : TextCursor(text), constants_(constants) {}

  Graph parse() {
    expect("graph");
    expect("{");
    while (!accept("}")) statement();
    if (!at_end()) fail("text after the graph");
    graph_.set_outputs(outputs_, output_names_, extents_);
    graph_.set_open_dimensions(open_);
    graph_.set_states(states_);
    return std::move(graph_);
  }

 private:
  // What stands between braces for a Constant, kept until the type is known.
  struct ConstantText {
    std::string kind;  // "value", "splat" or "hash"
    std::vector<std::string> elements;
  };

  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_./-+", c);
  }

  std::string word() {
    skip_space();
    return word_here();
  }

  // A Value's name may begin with what begins a comment elsewhere.
  std::string word_here() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\0' && is_word(text_[at_])) ++at_;
    if (begin == at_) fail("expected a word");
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted() {
    expect("\"");
    std::string result;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        result += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        result += text_[at_];
      }
      ++at_;
    }
    if (at_ == text_.size()) fail("unterminated string");
    ++at_;
    return result;
  }

  std::vector<std::string> word_list() {
    expect("[");
    std::vector<std::string> result;
    if (accept("]")) return result;
    do result.push_back(word());
    while (accept(","));
    expect("]");
    return result;
  }

  int64_t integer(const std::string& text) const {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (*end != '\0' || text.empty()) fail(fmt::format("'{}' is not an integer", text));
    return value;
  }

  double real(const std::string& text) const {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (*end != '\0' || text.empty()) fail(fmt::format("'{}' is not a number", text));
    return value;
  }

  DType dtype(const std::string& text) const {
    DType result;
    if (!parse_dtype(text, &result)) fail(fmt::format("unknown element type '{}'", text));
    return result;
  }

  TensorType tensor_type() {
    TensorType type;
    type.dtype = dtype(word());
    expect("[");
    if (accept("]")) return type;
    const std::string extents = word();
    for (size_t begin = 0; begin <= extents.size();) {
      const size_t end = std::min(extents.find('x', begin), extents.size());
      type.shape.push_back(integer(extents.substr(begin, end - begin)));
      begin = end + 1;
    }
    expect("]");
    return type;
  }

  void parse_field(bool& field) {
    const std::string text = word();
    if (text != "true" && text != "false") fail("expected true or false");
    field = text == "true";
  }
  void parse_field(int64_t& field) { field = integer(word()); }
  void parse_field(double& field) { field = real(word()); }
  void parse_field(std::string& field) { field = quoted(); }
  void parse_field(DType& field) { field = dtype(word()); }
  void parse_field(PadMode& field) {
    const std::string text = word();
    const auto* const known = std::find(std::begin(kPadModes), std::end(kPadModes), text);
    if (known == std::end(kPadModes)) fail(fmt::format("unknown pad mode '{}'", text));
    field = static_cast<PadMode>(known - std::begin(kPadModes));
  }
  void parse_field(std::vector<int64_t>& field) {
    field.clear();
    for (const std::string& text : word_list()) field.push_back(integer(text));
  }
  void parse_field(std::vector<double>& field) {
    field.clear();
    for (const std::string& text : word_list()) field.push_back(real(text));
  }
  void parse_field(HostTensor&) {}  // constants have their own syntax

  Attrs attributes(Op op) {
    Attrs attrs = default_attrs(op);
    if (!accept("{")) return attrs;
    do {
      const std::string key = word();
      expect("=");
      bool found = false;
      std::visit(
          [&](auto& fields) {
            visit_fields(fields, [&](const char* name, auto& field) {
              if (found || key != name) return;
              found = true;
              parse_field(field);
            });
          },
          attrs);
      if (!found) fail(fmt::format("{} has no attribute '{}'", name(op), key));
    } while (accept(","));
    expect("}");
    return attrs;
  }

  ConstantText constant_text() {
    ConstantText result;
    expect("{");
    result.kind = word();
    expect("=");
    if (result.kind == "value")
      result.elements = word_list();
    else if (result.kind == "splat")
      result.elements = {word()};
    else if (result.kind == "hash")
      result.elements = {quoted()};
    else
      fail("expected value=, splat= or hash=");
    expect("}");
    return result;
  }

  HostTensor constant_value(const ConstantText& text, const TensorType& type) {
    if (text.kind == "hash") {
      const auto found = constants_.find(text.elements[0]);
      if (found == constants_.end())
        fail(fmt::format("no constant with hash {} is at hand", text.elements[0]));
      if (found->second.type() != type) fail("the constant has another type");
      return found->second;
    }
    const bool splat = text.kind == "splat";
    if (!splat && static_cast<int64_t>(text.elements.size()) != type.elements())
      fail(fmt::format("{} values for {}", text.elements.size(), to_string(type)));
    if (splat && (splat_bytes_ += type.bytes()) > kMostSplatBytes)
      fail(fmt::format("splat constants of more than {} bytes together", kMostSplatBytes));
    HostTensor value(type);
    if (value.elements() == 0) return value;
    for (size_t i = 0; i < text.elements.size(); ++i) {
      real(text.elements[i]);
      store_element(value, static_cast<int64_t>(i), text.elements[i]);
    }
    if (splat) repeat_first(value);
    return value;
  }

  std::string value_name() {
    expect("%");
    return word_here();
  }

  ValueId existing(const std::string& name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) fail(fmt::format("%{} is not defined before its use", name));
    return found->second;
  }

  void define(const std::string& name, ValueId id) {
    if (!by_name_.emplace(name, id).second) fail(fmt::format("%{} is defined twice", name));
  }

  OpenDimension open_dimension(const std::string& name) {
    OpenDimension result{name, integer(word()), integer(word()), {}};
    expect("of");
    do {
      const int64_t input = integer(word()), axis = integer(word());
      result.axes.push_back({static_cast<int>(input), static_cast<int>(axis)});
    } while (accept(","));
    if (accept("sum ")) {
      result.sum.emplace().plus = integer(word());
      do {
        const int64_t dimension = integer(word());
        result.sum->terms.push_back({static_cast<int>(dimension), integer(word())});
      } while (accept(","));
    }
    if (accept("fits ")) do {
        const int64_t first = integer(word()), last = integer(word());
        result.fitting.push_back({first, last, integer(word())});
      } while (accept(","));
    return result;
  }

  void statement() {
    if (accept("input ")) {
      const std::string name = value_name();
      expect(":");
      TensorType type = tensor_type();
      std::string title = quoted();
      if (accept("open "))
        open_.push_back(open_dimension(title));
      else if (!open_.empty())
        fail("extents are the last inputs");
      define(name, graph_.add_input(std::move(type), std::move(title)));
    } else if (accept("output ")) {
      outputs_.push_back(existing(value_name()));
      output_names_.push_back(quoted());
      if (accept("extent ")) {
        const int64_t output = integer(word()), axis = integer(word());
        extents_.push_back({static_cast<int>(output), static_cast<int>(axis)});
      } else if (!extents_.empty()) {
        fail("extents are the last outputs");
      }
      if (accept("state ")) {
        const int64_t input = integer(word()), axis = integer(word());
        states_.push_back(
            {static_cast<int>(input), static_cast<int>(outputs_.size()) - 1, static_cast<int>(axis)});
      }
    } else {
      node();
    }
  }

  void node() {
    skip_space();
    statement_at_ = at_;
    std::vector<std::string> names;
    do names.push_back(value_name());
    while (accept(","));
    const bool alternative = accept("|=");
    if (!alternative) expect("=");
    const std::string op_name = word();
    const std::optional<Op> op = parse_op(op_name);
    if (!op) fail(fmt::format("unknown operator '{}'", op_name));
    std::vector<ValueId> inputs;
    expect("(");
    if (!accept(")")) {
      do inputs.push_back(existing(value_name()));
      while (accept(","));
      expect(")");
    }
    ConstantText constant;
    Attrs attrs = *op == Op::Constant ? Attrs(ConstantAttrs{}) : attributes(*op);
    if (static_cast<int>(names.size()) != output_count(*op, attrs, inputs.size()))
      fail(fmt::format("{} has other outputs", op_name));
    if (*op == Op::Constant) constant = constant_text();
    std::vector<TensorType> types;
    if (accept(":")) {
      do types.push_back(tensor_type());
      while (accept(","));
    }
    if (*op == Op::Constant) {
      if (types.empty() && alternative) types = {graph_.value(existing(names[0])).type};
      if (types.size() != 1) fail("a constant needs its type");
      attrs = ConstantAttrs{constant_value(constant, types[0])};
    }
    std::vector<std::string> origins;
    if (accept("@")) {
      do origins.push_back(quoted());
      while (accept(","));
    }
    add(*op, std::move(attrs), std::move(inputs), names, alternative, types, std::move(origins));
  }

  void add(Op op, Attrs attrs, std::vector<ValueId> inputs, const std::vector<std::string>& names,
           bool alternative, const std::vector<TensorType>& types, std::vector<std::string> origins) {
    std::vector<ValueId> outputs;
    for (const std::string& name : names)
      outputs.push_back(alternative && by_name_.contains(name) ? by_name_[name] : kNoId);
    NodeId id = 0;
    try {
      id = graph_.add_alternative(op, std::move(attrs), std::move(inputs), outputs, std::move(origins));
    } catch (const Error& error) {
      at_ = statement_at_;
      fail(error.what());
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const ValueId made = graph_.node(id).outputs[i];
      if (!types.empty() && (types.size() != names.size() || types[i] != graph_.value(made).type))
        fail(fmt::format("%{} has type {}", names[i], to_string(graph_.value(made).type)));
      if (outputs[i] != kNoId) continue;
      define(names[i], made);
      graph_.rename(made, names[i]);
    }
  }

  const std::map<std::string, HostTensor>& constants_;
  size_t statement_at_ = 0;
  Graph graph_;
  int64_t splat_bytes_ = 0;
  std::unordered_map<std::string, ValueId> by_name_;
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_names_;
  std::vector<OutputExtent> extents_;
  std::vector<OpenDimension> open_;
  std::vector<StatePair> states_;
};

}  // namespace

Attrs default_attrs(Op op) {
  return make_attrs(info(op).attrs_index);
}

Graph parse_graph(std::string_view text, const std::map<std::string, HostTensor>& constants_by_hash) {
  return Parser(text, constants_by_hash).parse();
}

}  // namespace korch
