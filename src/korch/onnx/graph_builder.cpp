#include "korch/onnx/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "korch/interp/interpreter.h"
#include "korch/interp/work.h"
#include "korch/ir/refusal.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/equal_bounds.h"
#include "korch/onnx/tensor_data.h"

namespace korch::onnx {
namespace {

constexpr int64_t kAlwaysFoldedBytes = 64 << 10;  // shape arithmetic, however much there was before
constexpr int64_t kMostAlwaysFolded = 256 << 20;  // bytes of all of it: loops that are written out have much
constexpr double kAlwaysFoldedWork = 0x1p16;

struct InputTypes {
  explicit InputTypes(const std::vector<Operand>& inputs) {
    for (const Operand& input : inputs) {
      types.push_back(input->type);
      constants.push_back(input->constant ? &*input->constant : nullptr);
    }
  }
  std::vector<TensorType> types;
  std::vector<const HostTensor*> constants;
};

}  // namespace

Operand GraphBuilder::input(TensorType type, const std::string& name) {
  auto operand = std::make_shared<OperandState>();
  operand->id = graph_.add_input(type, name);
  operand->type = std::move(type);
  operand->name = name;
  return operand;
}

Operand GraphBuilder::constant(HostTensor value, std::vector<std::string> origins) {
  auto operand = std::make_shared<OperandState>();
  operand->type = value.type();
  operand->constant = std::move(value);
  operand->counted_bytes = operand->type.bytes();
  operand->origins = std::move(origins);
  return operand;
}

Operand GraphBuilder::known_by(const TensorType& type, std::function<HostTensor()> make,
                               std::vector<std::string> origins) {
  auto operand = std::make_shared<OperandState>();
  operand->type = type;
  operand->constant = KnownTensor(std::move(make));
  operand->counted_bytes = type.bytes();
  operand->origins = std::move(origins);
  return operand;
}

void GraphBuilder::require_moderate(const TensorType& type) const {
  require_fits_memory(type);
  if (type.bytes() > max_growth_bytes_)
    throw Error(ErrorKind::resource,
                fmt::format("the constant {} would have {} bytes, more than the {} korch computes while "
                            "it imports: store it in the model",
                            to_string(type), type.bytes(), max_growth_bytes_));
}

Operand GraphBuilder::positions(DType dtype, int64_t count, int64_t axis, int64_t rank,
                                const std::string& origin) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = count;
  require_moderate({DType::i64, shape});
  std::vector<int64_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return constant(converted(HostTensor::of<int64_t>(DType::i64, shape, values), dtype), {origin});
}

// An input that several results are folded from, or one of them twice, pays once: where it lives on, each of
// the others is new memory.
bool GraphBuilder::may_grow(const std::vector<TensorType>& results, const std::vector<Operand>& inputs) {
  int64_t growth = 0;
  for (const TensorType& type : results) growth += type.bytes();
  const bool is_small = growth <= kAlwaysFoldedBytes && small_bytes_ <= kMostAlwaysFolded;
  std::set<OperandState*> distinct;
  for (const Operand& input : inputs)
    if (distinct.insert(input.get()).second) growth -= input->counted_bytes;
  growth = std::max<int64_t>(growth, 0);
  if (!is_small && growth > max_growth_bytes_ - growth_bytes_) return false;
  (is_small ? small_bytes_ : growth_bytes_) += growth;
  for (OperandState* input : distinct) input->counted_bytes = 0;
  return true;
}

bool GraphBuilder::may_work(double work) {
  if (work <= kAlwaysFoldedWork) return true;
  if (work > max_work_ - work_) return false;
  work_ += work;
  return true;
}

std::vector<Operand> GraphBuilder::emit(Op op, Attrs attrs, const std::vector<Operand>& inputs,
                                        const std::string& origin) {
  // A state grows in plans for one length of it, too.
  const bool grows = op == Op::Concat && !inputs.empty() && capacity_of(inputs[0]).value_or(0) > 0;
  if (grows || std::any_of(inputs.begin(), inputs.end(), is_bounded)) {
    const std::vector<Operand> operands = with_equal_bounds(*this, op, attrs, inputs, origin);
    const InputTypes bounds(operands);
    if (info(op).category !=
        Category::elementwise)  // whose extents may be less than their bounds where they meet
      infer_types(op, attrs, bounds.types, bounds.constants);  // throws what it would without bounds
    const size_t noted = meeting_.size();
    std::vector<Operand> outputs = emit_bounded(*this, op, attrs, operands, origin);
    for (size_t i = noted; i < meeting_.size(); ++i)
      if (meeting_[i].results.empty())
        for (const Operand& output : outputs) meeting_[i].results.push_back(value(output));
    return outputs;
  }
  const std::vector<Operand> outputs = emit_at_bounds(op, attrs, inputs, origin);
  follow_elements(*this, op, attrs, inputs, outputs, origin);
  return outputs;
}

std::vector<Operand> GraphBuilder::emit_at_bounds(Op op, Attrs attrs, const std::vector<Operand>& inputs,
                                                  const std::string& origin) {
  const auto [input_types, constants] = InputTypes(inputs);
  const std::vector<TensorType> types = infer_types(op, attrs, input_types, constants);
  for (const TensorType& type : types) require_fits_memory(type);

  std::vector<Operand> outputs;
  const bool constant_inputs =
      !is_loop_end(op) && std::count(constants.begin(), constants.end(), nullptr) == 0;
  const double work = evaluation_work(op, attrs, input_types, types);
  if (constant_inputs && may_work(work) && may_grow(types, inputs)) {
    std::vector<HostTensor> values;
    for (const HostTensor* constant : constants) values.push_back(*constant);
    Node node;
    node.op = op;
    node.attrs = std::move(attrs);
    for (HostTensor& result : evaluate_node(node, values, types, Precision::native))
      outputs.push_back(constant(std::move(result), {origin}));
    return outputs;
  }
  emitted_work_ += work;
  std::vector<ValueId> ids;
  for (const Operand& input : inputs) ids.push_back(value(input));
  const NodeId node = graph_.add_node(op, std::move(attrs), std::move(ids), {origin});
  for (ValueId id : graph_.node(node).outputs) {
    auto operand = std::make_shared<OperandState>();
    operand->type = graph_.value(id).type;
    operand->id = id;
    outputs.push_back(std::move(operand));
  }
  return outputs;
}

Operand GraphBuilder::required(const Operand& condition, const std::string& what_is_wrong,
                               const std::string& origin) {
  const auto number = [&](int64_t value) {
    return constant(HostTensor::of<int64_t>(DType::i64, {}, {value}), {origin});
  };
  // The first place of a table of two, or one behind it: runs check indices.
  const Operand place = emit(Op::Where, NoAttrs{}, {condition, number(0), number(2)}, origin)[0],
                table = constant(HostTensor::of<int64_t>(DType::i64, {2}, {1, 0}), {origin});
  return emit(Op::Gather, AxisAttrs{0}, {table, place}, refusal_origin(what_is_wrong))[0];
}

Range GraphBuilder::range(const Operand& operand, int64_t index) {
  Range range = ranges_.of({value(operand), index});
  if (operand->upper)
    range = {std::max(range.low, 0.0), std::min(range.high, static_cast<double>(*operand->upper))};
  return range;
}

std::optional<int64_t> GraphBuilder::difference(const Operand& a, int64_t index, const Operand& b,
                                                int64_t other_index) {
  const auto [of, offset] = ranges_.origin({value(a), index});
  const auto [other, other_offset] = ranges_.origin({value(b), other_index});
  return of == other ? std::optional(offset - other_offset) : std::nullopt;
}

Operand GraphBuilder::simplified(const Operand& operand, const std::string& origin) {
  if (operand->constant || operand->type != TensorType{DType::i64, {}}) return operand;
  const Terms sum = sums_.of(value(operand));
  const auto number = [&](int64_t x) {
    return constant(HostTensor::of<int64_t>(DType::i64, {}, {x}), {origin});
  };
  if (sum.terms.empty()) return number(sum.number);
  const auto [only, times] = sum.terms[0];
  if (sum.terms.size() != 1 || sum.number != 0 || graph_.value(only).type != operand->type) return operand;
  const std::vector<NodeId>& producers = graph_.value(operand->id).producers;
  if (times != 1 && !producers.empty() && graph_.node(producers[0]).op == Op::Mul) return operand;
  auto term = std::make_shared<OperandState>(*operand);
  term->id = only;
  if (times == 1) return term;
  const Operand product = emit_at_bounds(Op::Mul, NoAttrs{}, {term, number(times)}, origin)[0];
  product->upper = operand->upper;
  product->from_data = operand->from_data;
  return product;
}

Operand GraphBuilder::whole(const Operand& a, const Operand& b) {
  const auto found = ranges_.whole({value(b), 0}, {value(a), 0});
  if (!found || graph_.value(found->value).type != TensorType{DType::i64, {}}) return nullptr;
  auto operand = std::make_shared<OperandState>();
  operand->id = found->value;
  operand->type = graph_.value(found->value).type;
  return operand;
}

std::pair<Operand, int64_t> GraphBuilder::origin(const Operand& operand, int64_t index) {
  const auto [from, offset] = ranges_.origin({value(operand), index});
  const TensorType& type = graph_.value(from.value).type;
  if (offset != 0 || type.shape.size() > 1 || from.value == operand->id) return {operand, index};
  auto source = std::make_shared<OperandState>();
  source->id = from.value;
  source->type = type;
  return {source, from.index};
}

std::optional<int64_t> GraphBuilder::growth(const Operand& extent, const Operand& than) {
  constexpr double kMost = 0x1p40;  // more is no extent
  const double growth = ranges_.growth({value(extent), 0}, {value(than), 0});
  return growth <= kMost ? std::optional(static_cast<int64_t>(std::max(growth, -kMost))) : std::nullopt;
}

ValueId GraphBuilder::value(const Operand& operand) {
  if (operand->id == kNoId)
    operand->id = graph_.add_constant(*operand->constant, operand->name, operand->origins);
  return operand->id;
}

void GraphBuilder::name(const Operand& operand, const std::string& name) {
  if (!operand->name.empty()) return;
  operand->name = name;
  if (operand->id != kNoId) graph_.rename(operand->id, name);
}

}  // namespace korch::onnx
