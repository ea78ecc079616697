#include "open_maker.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "korch/interp/interpreter.h"
#include "korch/onnx/import.h"
#include "korch/onnx/model_file.h"

namespace korch::fuzz {
namespace {

constexpr int64_t kMostOpenElements = 8000;  // of a Value: the interpreter is slow
constexpr double kMostOpenNumber = 300;
constexpr int kRuns = 5;

bool is_moderate(const HostTensor& x) {
  if (!is_float(x.dtype())) return true;
  for (int64_t i = 0; i < x.elements(); ++i)
    if (!(std::fabs(element_as_double(x, i)) <= kMostOpenNumber)) return false;
  return true;
}

void set_type(onnx::proto::ValueInfoProto& info, const OpenInput& input, const Extents* extents) {
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::data_type_of(input.dtype));
  type.mutable_shape()->clear_dim();
  for (size_t axis = 0; axis < input.symbols.size(); ++axis) {
    auto& dimension = *type.mutable_shape()->add_dim();
    const std::string& symbol = input.symbols[axis];
    if (symbol.empty())
      dimension.set_dim_value(input.numbers[axis]);
    else if (extents != nullptr)
      dimension.set_dim_value(extents->at(symbol));
    else
      dimension.set_dim_param(symbol);
  }
}

}  // namespace

Graph OpenModel::of_ranges() const {
  ImportOptions options;
  for (const auto& [symbol, range] : ranges) {
    options.least_shapes[symbol] = {range.first};
    options.shapes[symbol] = {range.second};
  }
  return import_onnx_bytes(onnx::serialize(model), options);
}

Graph OpenModel::of_run(size_t run) const {
  onnx::proto::ModelProto fixed = model;
  for (size_t i = 0; i < inputs.size(); ++i)
    set_type(*fixed.mutable_graph()->mutable_input(static_cast<int>(i)), inputs[i], &runs[run]);
  return import_onnx_bytes(onnx::serialize(fixed));
}

std::vector<HostTensor> OpenModel::data(size_t run) const {
  std::vector<HostTensor> result;
  for (const OpenInput& input : inputs) {
    Shape shape = input.numbers;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (!input.symbols[axis].empty()) shape[axis] = runs[run].at(input.symbols[axis]);
    const uint64_t own = seed * 64 + run * 8 + result.size();
    if (input.dtype == DType::f32) {
      result.push_back(random_tensor({DType::f32, shape}, Contents::normal, own));
      continue;
    }
    Random random(own);
    HostTensor ids(TensorType{DType::i64, shape});
    for (int64_t i = 0; i < ids.elements(); ++i) ids.mutable_data<int64_t>()[i] = random.below(7);
    result.push_back(std::move(ids));
  }
  return result;
}

bool OpenValue::is_open(size_t axis) const {
  return least(axis) != most(axis);
}
int64_t OpenValue::extent(size_t axis) const {
  return shapes[0][axis];
}
int64_t OpenValue::least(size_t axis) const {
  int64_t result = shapes[0][axis];
  for (const Shape& shape : shapes) result = std::min(result, shape[axis]);
  return result;
}
int64_t OpenValue::most(size_t axis) const {
  int64_t result = shapes[0][axis];
  for (const Shape& shape : shapes) result = std::max(result, shape[axis]);
  return result;
}

OpenMaker::Made& OpenMaker::Made::with(const std::string& attribute, int64_t value) {
  set_attribute(*node, attribute, value);
  return *this;
}
OpenMaker::Made& OpenMaker::Made::with(const std::string& attribute, const std::vector<int64_t>& values) {
  set_attribute(*node, attribute, values);
  return *this;
}
OpenMaker::Made& OpenMaker::Made::with(const std::string& attribute, const std::string& value) {
  set_attribute(*node, attribute, value);
  return *this;
}
OpenMaker::Made& OpenMaker::Made::with_float(const std::string& attribute, float value) {
  set_float_attribute(*node, attribute, value);
  return *this;
}

OpenMaker::OpenMaker(uint64_t seed)
    : random(seed), opset_(std::vector<int64_t>{17, 18, 21}[random.below(3)]) {
  builder_ = ModelBuilder(opset_);
  auto& domain = *builder_.model.add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  made_.seed = seed;
}

OpenMaker::Made OpenMaker::add(const std::string& op_type, const Names& operands, int outputs) {
  Names results;
  for (int i = 0; i < outputs; ++i) results.push_back("v" + std::to_string(names_++));
  return {&builder_.node(op_type, operands, results), results};
}
OpenMaker::Made OpenMaker::microsoft(const std::string& op_type, const Names& operands, int outputs) {
  Made made = add(op_type, operands, outputs);
  made.node->set_domain("com.microsoft");
  return made;
}
std::string OpenMaker::constant(const HostTensor& value) {
  const std::string name = "c" + std::to_string(names_++);
  builder_.initializer(name, value);
  return name;
}
std::string OpenMaker::ints(const std::vector<int64_t>& values) {
  return constant(HostTensor::of<int64_t>(DType::i64, {static_cast<int64_t>(values.size())}, values));
}
std::string OpenMaker::integer(int64_t value) {
  return constant(HostTensor::of<int64_t>(DType::i64, {}, {value}));
}
std::string OpenMaker::number(float value) {
  return constant(HostTensor::of<float>(DType::f32, {}, {value}));
}
std::string OpenMaker::weight(const Shape& shape, Contents contents) {
  HostTensor value = random_tensor({DType::f32, shape}, contents, random.bits());
  int64_t added = 1;
  for (size_t axis = 1; axis < shape.size(); ++axis) added *= shape[axis];
  const float scale = 1 / std::sqrt(static_cast<float>(std::max<int64_t>(1, added)));
  for (int64_t i = 0; i < value.elements(); ++i) value.mutable_data<float>()[i] *= scale;
  return constant(value);
}
std::string OpenMaker::integers(DType dtype, const Shape& shape, int64_t low, int64_t high) {
  HostTensor wide(TensorType{DType::i64, shape});
  for (int64_t i = 0; i < wide.elements(); ++i) wide.mutable_data<int64_t>()[i] = random.between(low, high);
  return constant(converted(wide, dtype));
}
std::string OpenMaker::extent_of(const std::string& x, size_t axis) {
  const auto from = static_cast<int64_t>(axis);
  return add("Shape", {x}).with("start", from).with("end", from + 1);
}
std::string OpenMaker::reduced(const std::string& op_type, const std::string& x,
                               const std::vector<int64_t>& axes, bool keep) {
  const bool as_input = opset_ >= 18 || op_type == "ReduceSum";
  Made made = add(op_type, as_input ? Names{x, ints(axes)} : Names{x});
  if (!as_input) made.with("axes", axes);
  return made.with("keepdims", static_cast<int64_t>(keep));
}

void OpenMaker::make_runs() {
  for (const char* symbol : {"N", "T", "W"}) {
    const bool batch = symbol[0] == 'N';
    const int64_t least = batch ? random.of(std::vector<int64_t>{1, 1, 1, 2, 0})
                                : random.of(std::vector<int64_t>{1, 1, 2, 3, 4, 5});
    made_.ranges[symbol] = {least, least + (batch ? random.between(1, 3) : random.between(1, 9))};
  }
  for (int run = 0; run < kRuns; ++run) {
    Extents extents;
    for (const auto& [symbol, range] : made_.ranges)
      extents[symbol] = run == 0   ? range.first
                        : run == 1 ? range.second
                                   : random.between(range.first, range.second);
    made_.runs.push_back(extents);
  }
}

void OpenMaker::make_inputs() {
  const int64_t channels = random.of(std::vector<int64_t>{1, 3, 4, 6, 8, 16});
  const std::string n = random.one_in(4) ? "" : "N";
  const int64_t batch = random.between(1, 2);
  const int64_t kind = random.below(10);
  if (kind < 4)
    add_input(DType::f32, {batch, -1, channels}, {n, "T", ""});
  else if (kind < 7)
    add_input(DType::f32, {batch, std::min<int64_t>(channels, 8), -1, 5},
              {n, "", "T", random.one_in(3) ? "" : "W"});
  else if (kind < 8)
    add_input(DType::f32, {-1, channels}, {"T", ""});
  else if (kind < 9)
    add_input(DType::f32, {batch, channels, -1}, {n, "", "T"});
  else
    add_input(DType::i64, {batch, -1}, {n, "T"});
  if (random.one_in(2)) return;
  if (random.one_in(2)) {
    const OpenInput first = made_.inputs[0];
    add_input(DType::f32, first.numbers, first.symbols);
  } else {
    add_input(DType::f32, {batch, -1, 4}, {n, random.one_in(2) ? "T" : "W", ""});
  }
}

void OpenMaker::add_input(DType dtype, const Shape& numbers, const std::vector<std::string>& symbols) {
  OpenInput made{"x" + std::to_string(made_.inputs.size()), dtype, numbers, symbols};
  auto& info = *builder_.model.mutable_graph()->add_input();
  set_type(info, made, nullptr);
  info.set_name(made.name);
  made_.inputs.push_back(std::move(made));
}

void OpenMaker::remove_input() {
  builder_.model.mutable_graph()->mutable_input()->RemoveLast();
  made_.inputs.pop_back();
}

// Beside an axis of `x` that is as long as its network makes it.
OpenMaker::Names OpenMaker::derived_by_joining(const OpenValue& x) {
  const std::string symbol = "D" + std::to_string(made_.derived.size());
  std::vector<size_t> open;
  for (size_t axis = 0; axis < x.rank(); ++axis)
    if (x.is_open(axis)) open.push_back(axis);
  if (!x.is_float() || open.empty()) return {};
  const size_t axis = random.of(open);
  Shape numbers(x.rank(), 1);
  std::vector<std::string> symbols(x.rank());
  numbers[axis] = -1;
  symbols[axis] = symbol;
  for (size_t run = 0; run < made_.runs.size(); ++run) made_.runs[run][symbol] = x.shapes[run][axis];
  made_.derived.push_back(symbol);
  add_input(DType::f32, numbers, symbols);
  const std::string mask = made_.inputs.back().name;
  if (random.one_in(2)) return add(random.one_in(2) ? "Add" : "Mul", {mask, x.name}).outputs;
  return add("Where", {add("Greater", {mask, number(0)}), x.name, number(-3)}).outputs;
}

// Its name alone says what it is.
OpenMaker::Names OpenMaker::derived_by_name(const OpenValue& x) {
  if (!x.is_float()) return {};
  std::vector<std::string> ranged;
  for (const auto& [symbol, range] : made_.ranges) ranged.push_back(symbol);
  const std::string a = random.of(ranged), b = random.of(ranged);
  const int64_t times = random.between(1, 2), plus = random.between(0, 2);
  const std::string factor = times == 1 ? "" : std::to_string(times) + "*",
                    symbol = factor + a + " + " + (a == b ? std::to_string(plus + 1) : b);
  for (Extents& run : made_.runs) run[symbol] = times * run[a] + (a == b ? plus + 1 : run[b]);
  made_.derived.push_back(symbol);
  add_input(DType::f32, {-1}, {symbol});
  return add("Add", {x.name, reduced("ReduceMean", add("Tanh", {made_.inputs.back().name}), {0}, false)})
      .outputs;
}

// An input of which no option tells the shape.
void OpenMaker::add_derived() {
  auto& graph = *builder_.model.mutable_graph();
  const int nodes = graph.node_size(), initializers = graph.initializer_size();
  const std::vector<Extents> runs = made_.runs;
  const std::vector<std::string> derived = made_.derived;
  const size_t inputs = made_.inputs.size();
  const OpenValue x = random.of(values_);
  const bool by_name = random.one_in(3);
  const Names results = by_name ? derived_by_name(x) : derived_by_joining(x);
  if (!results.empty() && settle(results)) {
    made_.motifs.emplace_back(by_name ? "derived by name" : "derived by joining");
    return;
  }
  if (made_.inputs.size() > inputs) remove_input();
  made_.runs = runs;
  made_.derived = derived;
  graph.mutable_node()->DeleteSubrange(nodes, graph.node_size() - nodes);
  graph.mutable_initializer()->DeleteSubrange(initializers, graph.initializer_size() - initializers);
}

// An input of P rows, to which those of another input are joined, and what reads all. Draws of its own: the
// rest of the model is what it would be without.
void OpenMaker::add_cache() {
  Random own(made_.seed ^ 0xd1342543de82ef95);
  if (!own.one_in(4)) return;
  const OpenInput like = own.of(made_.inputs);
  if (like.dtype != DType::f32) return;
  const int64_t axis = own.below(static_cast<int64_t>(like.numbers.size()));
  OpenInput past = like;
  past.name = "past";
  past.numbers[static_cast<size_t>(axis)] = -1;
  past.symbols[static_cast<size_t>(axis)] = "P";
  set_type(*builder_.model.mutable_graph()->add_input(), past, nullptr);
  builder_.model.mutable_graph()->mutable_input(static_cast<int>(made_.inputs.size()))->set_name(past.name);
  made_.inputs.push_back(past);
  const int64_t most = own.between(1, 9);
  made_.ranges["P"] = {0, most};
  for (size_t run = 0; run < made_.runs.size(); ++run)
    made_.runs[run]["P"] = run == 0 ? 0 : run == 1 ? most : own.between(0, most);
  const std::string fresh = add(own.of(Names{"Relu", "Neg", "Tanh"}), {like.name});
  const std::string present = add("Concat", {past.name, fresh}).with("axis", axis);
  const auto rank = static_cast<int64_t>(like.numbers.size());
  std::vector<int64_t> turned;
  for (int64_t i = 0; i < rank; ++i) turned.push_back(i + 2 < rank ? i : 2 * rank - 3 - i);
  const std::string other = add("Transpose", {present}).with("perm", turned);
  const std::string product = add("MatMul", own.one_in(2) ? Names{present, other} : Names{other, present});
  builder_.output(present).output(own.one_in(2) ? product : add("Softmax", {product}).with("axis", rank - 1));
  made_.motifs.emplace_back("cache");
}

bool OpenMaker::settle(const Names& results) {
  auto& graph = *builder_.model.mutable_graph();
  graph.clear_output();
  for (const std::string& name : results) builder_.output(name);
  made_.model = builder_.model;
  std::vector<OpenValue> made(results.size());
  try {
    for (size_t run = 0; run < made_.runs.size(); ++run) {
      const Graph fixed = made_.of_run(run);
      const std::vector<HostTensor> values = interpret(fixed, made_.data(run));
      const std::vector<Shape> shapes = output_shapes(fixed, values);
      for (size_t i = 0; i < results.size(); ++i) {
        if (values[i].elements() > kMostOpenElements || !is_moderate(values[i])) return false;
        made[i].name = results[i];
        made[i].dtype = fixed.value(fixed.outputs()[i]).type.dtype;
        made[i].shapes.push_back(shapes[i]);
        if (made[i].shapes[0].size() != shapes[i].size()) return false;
      }
    }
  } catch (const Error&) {
    return false;
  }
  values_.insert(values_.end(), made.begin(), made.end());
  return true;
}

OpenModel OpenMaker::finish(int motifs) {
  make_runs();
  make_inputs();
  Names inputs;
  std::set<std::string> symbols;
  for (const OpenInput& input : made_.inputs) {
    inputs.push_back(input.name);
    symbols.insert(input.symbols.begin(), input.symbols.end());
  }
  std::erase_if(made_.ranges, [&](const auto& range) { return !symbols.contains(range.first); });
  settle(inputs);
  auto& graph = *builder_.model.mutable_graph();
  // By numbers of its own: the other models stay what they were.
  const bool derives = Random(made_.seed ^ 0x2545f4914f6cdd1d).one_in(3) && !made_.ranges.empty();
  if (derives) add_derived();
  for (int tries = 0; tries < 6 * motifs && static_cast<int>(made_.motifs.size()) < motifs; ++tries) {
    const int64_t kind = random.below(8);
    const auto& table = kind < 4 ? open_motifs() : kind < 6 ? open_image_motifs() : open_quantized_motifs();
    const OpenMotif& motif = random.of(table);
    const auto count = static_cast<int64_t>(values_.size());
    const OpenValue x = values_[random.one_in(3) ? random.below(count) : count - 1];
    const int nodes = graph.node_size(), initializers = graph.initializer_size();
    const Names results = motif.add(*this, x);
    if (!results.empty() && settle(results)) {
      made_.motifs.emplace_back(motif.name);
      continue;
    }
    graph.mutable_node()->DeleteSubrange(nodes, graph.node_size() - nodes);
    graph.mutable_initializer()->DeleteSubrange(initializers, graph.initializer_size() - initializers);
  }
  if (derives) add_derived();
  graph.clear_output();
  const auto last = static_cast<int>(values_.size());
  const int first = std::max(static_cast<int>(inputs.size()), last - static_cast<int>(random.between(1, 3)));
  for (int i = first; i < last; ++i) builder_.output(values_[i].name);
  if (graph.output_size() == 0) builder_.output(add("Identity", {inputs[0]}));
  add_cache();
  made_.model = builder_.model;
  return std::move(made_);
}

OpenModel random_open_model(uint64_t seed) {
  OpenMaker maker(seed);
  return maker.finish(static_cast<int>(maker.random.between(1, 6)));
}

}  // namespace korch::fuzz
