#include "korch/onnx/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <unordered_map>
#include <utility>

#include "korch/base/interrupt.h"
#include "korch/base/printable.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/checks_in_runs.h"
#include "korch/onnx/derived_extents.h"
#include "korch/onnx/extent_equations.h"
#include "korch/onnx/inline_functions.h"
#include "korch/onnx/input_shapes.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/model_index.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/states.h"
#include "korch/onnx/tensor_data.h"
#include "korch/onnx/widened.h"

namespace korch {
namespace onnx {
namespace {

constexpr int64_t kMinOpset = 6;    // what came before had other attributes throughout
constexpr size_t kMaxListed = 8;    // unsupported places that a message lists one by one
constexpr size_t kMaxCounted = 24;  // operators whose unsupported nodes it counts

// What an operator reads and writes has to be in memory at once, and so do the graph's inputs and outputs.
void require_operators_fit_memory(const Graph& graph) {
  const auto types = [&](const std::vector<ValueId>& some, const std::vector<ValueId>& others) {
    std::set<ValueId> values(some.begin(), some.end());
    values.insert(others.begin(), others.end());
    std::vector<TensorType> result;
    for (ValueId value : values) result.push_back(graph.value(value).type);
    return result;
  };
  require_fits_memory(types(graph.inputs(), graph.outputs()), "the graph, for its inputs and outputs,");
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const std::string label = node.origins.empty() ? "" : node.origins[0] + " ";
    require_fits_memory(types(node.inputs, node.outputs), fmt::format("node {}({})", label, name(node.op)));
  }
}

bool has_bounded(const Operand& operand) {
  return operand != nullptr &&
         (is_bounded(operand) || (operand->sequence && std::any_of(operand->sequence->begin(),
                                                                   operand->sequence->end(), has_bounded)));
}

class Importer {
 public:
  Importer(proto::ModelProto model, const std::string& folder, const ImportOptions& options)
      : model_(std::move(model)),
        external_(folder, options.on_external_file),
        options_(options),
        builder_(options.max_folding_growth_bytes, options.max_folding_work, options.seed) {}

  Graph run() {
    read();
    const std::vector<MeetingExtents> meeting = needed(builder_.graph(), builder_.meeting());
    for (const std::string& text : builder_.warnings()) warn(text);
    FittingDimensions fitting = fitting_dimensions(builder_.graph(), meeting);
    for (const std::string& text : fitting.warnings) warn(text);
    if (!fitting.unchecked.empty()) check_in_runs(builder_, fitting.unchecked);
    builder_.graph().set_open_dimensions(std::move(fitting.dimensions));
    builder_.graph().remove_dead_nodes();  // rules make every output
    if (const std::string note = widened_weights_note(builder_, builder_.graph()); !note.empty()) warn(note);
    Graph result = builder_.graph().compact();
    result.set_states(find_states(result, options_.states, recurrent_states(model_.graph())));
    verify(result, GraphForm::imported);
    require_operators_fit_memory(result);
    return result;
  }

  // Of a model that is read with presumed extents of these dimensions: what they must be, and others.
  std::vector<OpenDimension> solve_for(const std::set<std::string>& sought) {
    read();
    const Graph& graph = builder_.graph();
    std::vector<bool> is_sought;
    for (const OpenDimension& dimension : graph.open_dimensions())
      is_sought.push_back(sought.contains(dimension.name));
    ExtentEquations equations(graph, is_sought);
    for (const MeetingExtents& pair : needed(graph, builder_.meeting()))
      if (pair.in_every_run && are_one(pair.relation)) equations.add(pair.a, pair.b);
    for (const auto& [a, b] : builder_.usual()) equations.add_sought(a, b);
    std::vector<std::string> of_presumed_ranges;
    return equations.take(&of_presumed_ranges);
  }

 private:
  void read() {
    inline_functions(model_);
    read_opsets();
    read_initializers();
    read_inputs();
    if (model_.graph().output_size() == 0) throw Error(ErrorKind::invalid, "the graph has no outputs");
    import_nodes();
    throw_unsupported();
    require_bounds_used();
    set_outputs();
  }

  void read_opsets() {
    for (const auto& entry : model_.opset_import()) {
      const std::string domain = is_onnx_domain(entry.domain()) ? "" : entry.domain();
      const auto [known, fresh] = opsets_.emplace(domain, entry.version());
      if (!fresh && known->second != entry.version() && domain.empty())
        throw Error(ErrorKind::invalid, "the model names two opsets of ONNX's own operators");
    }
    if (opsets_.empty()) throw Error(ErrorKind::invalid, "the model does not say which ONNX opset it uses");
    const auto own = opsets_.find("");
    if (own == opsets_.end()) return;
    if (own->second < kMinOpset)
      throw Error(ErrorKind::unsupported,
                  fmt::format("opset {}; korch reads {} to {}: export the model again with one of them",
                              own->second, kMinOpset, kLatestOpset));
    if (own->second > kLatestOpset)
      warn(
          fmt::format("the model uses opset {}, which korch does not know: its operators are read as "
                      "those of opset {}",
                      own->second, kLatestOpset));
  }

  int64_t opset_of(const proto::NodeProto& node, const std::string& description) const {
    const auto found = opsets_.find(is_onnx_domain(node.domain()) ? "" : node.domain());
    if (found == opsets_.end())
      throw Error(ErrorKind::invalid,
                  fmt::format("{}: the model does not say which opset of its domain it uses", description));
    return found->second;
  }

  void read_initializers() {
    proto::GraphProto& graph = *model_.mutable_graph();
    for (proto::TensorProto& tensor : *graph.mutable_initializer()) {
      throw_if_interrupted();
      const std::string what = "initializer " + quoted_name(tensor.name());
      if (!dtype_of(tensor.data_type())) {
        add_unknown("initializer", tensor.name(),
                    fmt::format("{}: element type {}", what, data_type_name(tensor.data_type())));
        continue;
      }
      add_source(tensor.name(), builder_.constant(read_tensor(tensor, external_, what)), "an initializer");
      std::string().swap(*tensor.mutable_raw_data());  // large weights are not kept twice
    }
    for (const auto& sparse : graph.sparse_initializer()) {
      add_unknown("sparse initializer", sparse.values().name(),
                  "sparse initializer " + quoted_name(sparse.values().name()));
    }
  }

  void read_inputs() {
    const std::set<std::string> constants(scope_->sources.begin(), scope_->sources.end());
    std::set<std::string> names;
    std::vector<Operand> operands;
    InputShapes shapes(model_.graph(), constants, options_);
    for (const auto& input : model_.graph().input()) {
      if (!names.insert(input.name()).second)
        throw Error(ErrorKind::invalid,
                    fmt::format("two graph inputs are called {}", quoted_name(input.name())));
      if (constants.contains(input.name())) continue;  // a default value: constant for us
      const auto& type = input.type().tensor_type();
      const std::optional<DType> dtype = dtype_of(type.elem_type());
      if (!input.type().has_tensor_type() || !dtype) {
        add_unknown(
            "graph input", input.name(),
            fmt::format("graph input {}: {}", quoted_name(input.name()),
                        input.type().has_tensor_type() ? "element type " + data_type_name(type.elem_type())
                                                       : "not a tensor"));
        continue;
      }
      const TensorType tensor_type{*dtype, shapes.of(input, static_cast<int>(operands.size()))};
      try {
        require_fits_memory(tensor_type);
      } catch (const Error& error) {
        throw Error(error.kind(), fmt::format("graph input {}: {}", quoted_name(input.name()), error.what()));
      }
      operands.push_back(builder_.input(tensor_type, printable(input.name())));
      const auto most = options_.value_bounds.find(input.name());
      add_source(input.name(),
                 most == options_.value_bounds.end() ? operands.back() : with_bound(operands.back(), *most),
                 "a graph input");
    }
    shapes.require_known();
    for (const std::string& name : growing_inputs(model_.graph(), options_.states)) {
      const Operand& input = scope_->operands.at(name);
      const auto capacity = options_.states.capacities.find(printable(name));
      if (input != nullptr && input->id != kNoId)
        builder_.let_grow(input, capacity == options_.states.capacities.end() ? 0 : capacity->second);
    }
    add_extents(shapes.open_dimensions(), operands);
  }

  // Inputs behind the others; operands know them as the extents of their axes.
  void add_extents(const std::vector<OpenDimension>& dimensions, const std::vector<Operand>& inputs) {
    for (const OpenDimension& dimension : dimensions) {
      const Operand extent = builder_.input({DType::i64, {}}, dimension.name);
      extent->upper = dimension.most;
      for (const auto& [input, axis] : dimension.axes) {
        const Operand& operand = inputs[static_cast<size_t>(input)];
        operand->extents.resize(operand->shape().size());
        operand->extents[static_cast<size_t>(axis)] = extent;
      }
    }
    builder_.graph().set_open_dimensions(dimensions);
  }

  void add_source(const std::string& name, Operand operand, const char* what) {
    if (name.empty()) throw Error(ErrorKind::invalid, fmt::format("{} without a name", what));
    if (!scope_->operands.emplace(name, operand).second)
      throw Error(ErrorKind::invalid,
                  fmt::format("two initializers or graph inputs are called {}", quoted_name(name)));
    if (operand != nullptr && scope_ == &main_) builder_.name(operand, printable(name));
    scope_->sources.push_back(name);
  }

  // What has a type that korch does not know: refused where something reads it, else left out.
  void add_unknown(const char* kind, const std::string& name, const std::string& message) {
    add_source(name, nullptr, kind);
    unknown_.push_back({kind, message, name});
  }

  void refuse_unknown() {
    for (const auto& [kind, message, name] : unknown_)
      if (used(name))
        refuse(kind, message);
      else
        warn(message + ": nothing reads it, so it is left out");
  }

  void warn(const std::string& text) const {
    if (options_.on_warning) options_.on_warning(text);
  }

  void import_nodes() {
    scope_->index = index_model(scope_->graph, scope_->sources);
    if (scope_ == &main_) refuse_unknown();
    std::erase_if(scope_->operands, [&](const auto& entry) { return !used(entry.first); });
    for (int node : scope_->index.order) import_node(node);
  }

  void import_node(int number) {
    throw_if_interrupted();
    const proto::NodeProto& proto = scope_->graph.node(number);
    const std::string label = scope_->label + scope_->index.labels[number];
    const std::string description = describe(proto, label);
    std::vector<Operand> outputs;
    const std::string kind = operator_name(proto);
    const RuleRow* row = find_rule(proto.domain(), proto.op_type());
    if (row == nullptr) refuse(kind, description);
    const int64_t opset = row == nullptr ? 0 : opset_of(proto, description);
    if (row != nullptr && (opset < row->since || opset > row->until))
      throw Error(
          ErrorKind::invalid,
          fmt::format("{}: opset {}, which the model uses, has no such operator; opsets {} to {} have",
                      description, opset, row->since, std::min(row->until, kLatestOpset)));
    const auto inputs = node_inputs(proto);
    if (row != nullptr && inputs && !takes_bounded(proto.op_type()) &&
        std::any_of(inputs->begin(), inputs->end(), has_bounded)) {
      refuse(kind,
             description +
                 ": an extent of what it reads is a range, or depends on the data; fix it with --shape");
    } else if (row != nullptr && inputs) {
      std::vector<bool> used_outputs;
      for (const std::string& name : proto.output()) used_outputs.push_back(used(name));
      NodeImport node(proto, label, opset, *inputs, used_outputs, builder_, external_,
                      [&](const proto::GraphProto& body, std::vector<Operand> given, const std::string& step,
                          std::string* refusal, const Captured& captured) {
                        const std::string inner = fmt::format("{}/{}/", label, step);
                        return refusal == nullptr
                                   ? import_body(body, std::move(given), inner, captured)
                                   : try_body(body, std::move(given), inner, *refusal, captured);
                      });
      outputs = apply_rule(row->rule, node, kind, description);
    }
    const bool imported = !outputs.empty();
    outputs.resize(proto.output_size());  // those of a refused node are null
    for (int i = 0; i < proto.output_size(); ++i) {
      const std::string& name = proto.output(i);
      if (!used(name)) continue;
      if (imported && outputs[i] == nullptr)
        throw Error(ErrorKind::invalid,
                    fmt::format("{} has no output {} in opset {}", description, i, opset));
      if (imported && scope_ == &main_)
        if (const auto most = options_.value_bounds.find(name); most != options_.value_bounds.end())
          outputs[i] = with_bound(outputs[i], *most);
      scope_->operands[name] = outputs[i];
      if (imported && scope_ == &main_) builder_.name(outputs[i], printable(name));
    }
    release_inputs(proto);
  }

  Operand with_bound(const Operand& operand, const std::pair<const std::string, int64_t>& bound) {
    const auto& [name, most] = bound;
    bounded_.insert(name);
    if (operand->sequence || !is_integer(operand->dtype()))
      throw Error(ErrorKind::usage,
                  fmt::format("a bound is given for {}, which is no integer or tensor of integers",
                              quoted_name(name)));
    return at_most(builder_, operand, most, printable(name));
  }

  void require_bounds_used() const {
    for (const auto& [name, most] : options_.value_bounds)
      if (!bounded_.contains(name))
        throw Error(
            ErrorKind::usage,
            fmt::format("a bound is given for {}, but no node that an output needs makes such a value",
                        quoted_name(name)));
  }

  // Reads what it captures of the scope that is open, of which it then is a part.
  std::vector<Operand> import_body(const proto::GraphProto& body, std::vector<Operand> inputs,
                                   const std::string& label, const Captured& captured) {
    Scope scope{body, label};
    const Scope& around = *scope_;
    const Opened opened(scope_, scope);
    const GraphBuilder::Body in_body(builder_);
    for (const proto::TensorProto& tensor : body.initializer()) {
      Operand& constant = body_constants_[&tensor];
      if (constant == nullptr)
        constant =
            builder_.constant(read_tensor(tensor, external_, "initializer " + quoted_name(tensor.name())));
      add_source(tensor.name(), constant, "an initializer");
    }
    if (body.input_size() != static_cast<int>(inputs.size()))
      throw Error(ErrorKind::invalid,
                  fmt::format("its subgraph has {} inputs, not {}", body.input_size(), inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      add_source(body.input(static_cast<int>(i)).name(), inputs[i], "a subgraph's input");
    for (const std::string& name : captures(body))
      if (const auto found = around.operands.find(name); found != around.operands.end())
        add_source(name, captured && found->second != nullptr ? captured(found->second) : found->second,
                   "a value of the graph around");
    import_nodes();
    std::vector<Operand> outputs;
    for (const auto& output : body.output()) outputs.push_back(scope.operands.at(output.name()));
    if (std::count(outputs.begin(), outputs.end(), nullptr) != 0) throw BodyRefused{};
    return outputs;
  }

  // No outputs where something in it is unsupported, which `refusal` says then.
  std::vector<Operand> try_body(const proto::GraphProto& body, std::vector<Operand> inputs,
                                const std::string& label, std::string& refusal, const Captured& captured) {
    const size_t refused = unsupported_.size();
    try {
      return import_body(body, std::move(inputs), label, captured);
    } catch (const BodyRefused&) {
      if (unsupported_.size() > refused) refusal = unsupported_[refused].message;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      refusal = error.what();
    }
    unsupported_.resize(refused);
    return {};
  }

  // The outputs, or nothing when the node is not supported.
  std::vector<Operand> apply_rule(Rule rule, NodeImport& node, const std::string& kind,
                                  const std::string& description) {
    try {
      std::vector<Operand> outputs = rule(node);
      node.require_all_read();
      return outputs;
    } catch (const Error& error) {
      const std::string message = fmt::format("{}: {}", description, error.what());
      if (error.kind() != ErrorKind::unsupported) throw Error(error.kind(), message);
      refuse(kind, message);
      return {};
    } catch (const BodyRefused&) {
      return {};
    } catch (const std::bad_alloc&) {
      throw Error(ErrorKind::resource, description + ": out of memory");
    }
  }

  // None when one of them could not be imported.
  std::optional<std::vector<Operand>> node_inputs(const proto::NodeProto& node) const {
    std::vector<Operand> inputs;
    for (const std::string& name : node.input()) {
      const Operand operand = name.empty() ? nullptr : scope_->operands.at(name);
      if (!name.empty() && operand == nullptr) return std::nullopt;
      inputs.push_back(operand);
    }
    return inputs;
  }

  void release_inputs(const proto::NodeProto& node) {
    for (const std::string& name : reads(node))
      if (--scope_->index.uses.at(name) == 0) scope_->operands.erase(name);
  }

  void set_outputs() {
    std::vector<ValueId> values;
    std::vector<std::string> names;
    std::vector<Operand> outputs;
    for (const auto& output : model_.graph().output()) {
      const Operand& operand = main_.operands.at(output.name());
      if (operand == nullptr || operand->sequence)
        throw Error(ErrorKind::unsupported, fmt::format("graph output {} has a type korch does not know",
                                                        quoted_name(output.name())));
      check_declared(output, operand);
      names.push_back(printable(output.name()));
      if (operand->appended != nullptr) builder_.name(operand->appended, names.back());
      outputs.push_back(operand->appended != nullptr ? operand->appended : operand);
      values.push_back(builder_.value(outputs.back()));
    }
    std::vector<OutputExtent> extents;
    for (size_t i = 0; i < outputs.size(); ++i)
      for (int axis = 0; axis < static_cast<int>(outputs[i]->rank()); ++axis) {
        const Operand extent = extent_of(outputs[i], axis);
        if (extent == nullptr) continue;
        extents.push_back({static_cast<int>(i), axis});
        values.push_back(builder_.value(extent));
        names.push_back(fmt::format("{}:extent {}", names[i], axis));
      }
    builder_.graph().set_outputs(std::move(values), std::move(names), std::move(extents));
  }

  // An element type that the file says of an output must be the computed one: whoever reads the file relies
  // on it. Shapes are often those of a model that the file was made from.
  void check_declared(const proto::ValueInfoProto& output, const Operand& operand) const {
    const TensorType& computed = operand->type;
    const auto& declared = output.type().tensor_type();
    if (declared.elem_type() != 0 && dtype_of(declared.elem_type()) != computed.dtype)
      throw Error(
          ErrorKind::invalid,
          fmt::format("graph output {} is declared as {}, but its node computes {}",
                      quoted_name(output.name()), data_type_name(declared.elem_type()), to_string(computed)));
    if (!declared.has_shape()) return;
    bool agrees = declared.shape().dim_size() == static_cast<int>(computed.shape.size());
    std::vector<std::string> shown;
    for (int axis = 0; axis < declared.shape().dim_size(); ++axis) {
      const auto& dimension = declared.shape().dim(axis);
      shown.push_back(is_open(dimension) ? "?" : std::to_string(dimension.dim_value()));
      agrees = agrees && (is_open(dimension) || dimension.dim_value() == computed.shape[axis] ||
                          extent_of(operand, axis) != nullptr);
    }
    if (!agrees)
      warn(fmt::format("graph output {} is declared with shape [{}], but its node computes {}, which counts",
                       quoted_name(output.name()), fmt::join(shown, "x"), to_string(computed)));
  }

  void refuse(const std::string& kind, const std::string& message) {
    unsupported_.push_back({kind, message});
  }

  // A few places one by one; of many first how often which operator is refused, then an example of each.
  void throw_unsupported() const {
    if (unsupported_.empty()) return;
    std::map<std::string, int64_t> counts;
    std::vector<std::string> examples;
    for (const auto& [kind, message] : unsupported_) {
      const bool first = ++counts[kind] == 1;
      if ((first || unsupported_.size() <= kMaxListed) && examples.size() < kMaxListed)
        examples.push_back(message);
    }
    std::string text = "the model uses what korch does not support:";
    if (unsupported_.size() > kMaxListed) {
      std::vector<std::pair<int64_t, std::string>> kinds;
      for (const auto& [kind, count] : counts) kinds.emplace_back(-count, kind);
      std::sort(kinds.begin(), kinds.end());
      for (size_t i = 0; i < std::min(kinds.size(), kMaxCounted); ++i)
        text += fmt::format("\n  {} times {}", -kinds[i].first, kinds[i].second);
      if (kinds.size() > kMaxCounted) text += fmt::format("\n  and {} others", kinds.size() - kMaxCounted);
      text += "\nfor example:";
    }
    throw Error(ErrorKind::unsupported, fmt::format("{}\n  {}", text, fmt::join(examples, "\n  ")));
  }

  bool used(const std::string& name) const { return !name.empty() && scope_->index.uses.contains(name); }

  proto::ModelProto model_;
  ExternalData external_;
  const ImportOptions& options_;
  std::map<std::string, int64_t> opsets_;  // by domain, ONNX's own as ""
  GraphBuilder builder_;
  // The model's graph, or the subgraph of a node while that is imported.
  struct Scope {
    const proto::GraphProto& graph;
    std::string label;  // what the names of its nodes begin with
    ModelIndex index = {};
    std::vector<std::string> sources = {};
    // By ONNX value name; without those nobody reads any more.
    std::unordered_map<std::string, Operand> operands = {};
  };
  Scope main_{model_.graph(), ""};
  Scope* scope_ = &main_;
  struct Opened {  // a scope, as long as this lives
    Opened(Scope*& open, Scope& scope) : open_(open), around_(std::exchange(open, &scope)) {}
    ~Opened() { open_ = around_; }
    Scope*& open_;
    Scope* const around_;
  };
  struct BodyRefused {};  // a node in it was
  std::map<const proto::TensorProto*, Operand> body_constants_;
  struct Unsupported {
    std::string kind, message;
  };
  std::vector<Unsupported> unsupported_;
  struct Unknown {
    std::string kind, message, name;
  };
  std::set<std::string> bounded_;  // of the options' value_bounds, those that were met
  std::vector<Unknown> unknown_;   // initializers and inputs
};

}  // namespace
}  // namespace onnx

namespace {

using LoadModel = std::function<onnx::proto::ModelProto()>;

DerivedDimensions derived_of(const onnx::proto::GraphProto& graph, const LoadModel& load,
                             const std::string& folder, const ImportOptions& options) {
  return onnx::derived_dimensions(graph, options,
                                  [&](const ImportOptions& presumed, const std::set<std::string>& sought) {
                                    return onnx::Importer(load(), folder, presumed).solve_for(sought);
                                  });
}

Graph import_model(const LoadModel& load, const std::string& folder, const ImportOptions& options) {
  onnx::proto::ModelProto model = load();
  ImportOptions complete = options;
  if (!complete.derived) complete.derived = derived_of(model.graph(), load, folder, options);
  return onnx::Importer(std::move(model), folder, complete).run();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

DerivedDimensions derived_dimensions(const std::string& path, const ImportOptions& options) {
  const LoadModel load = [&] { return onnx::load_model_file(path); };
  return derived_of(load().graph(), load, folder_of(path), options);
}

Graph import_onnx(const std::string& path, const ImportOptions& options) {
  return import_model([&] { return onnx::load_model_file(path); }, folder_of(path), options);
}

Graph import_onnx_bytes(std::string_view bytes, const ImportOptions& options) {
  return import_model([&] { return onnx::parse_model(bytes, "the model"); }, "", options);
}

}  // namespace korch
