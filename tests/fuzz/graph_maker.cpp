#include "graph_maker.h"

#include <algorithm>
#include <cmath>

#include "korch/interp/interpreter.h"

namespace korch::fuzz {
namespace {

constexpr double kLargest = 1e6;
constexpr double kLargestHalf = 2000;

}  // namespace

double Random::normal() {
  return std::sqrt(-2 * std::log(uniform() + 0x1p-54)) * std::cos(2 * M_PI * uniform());
}

HostTensor random_tensor(const TensorType& type, Contents contents, uint64_t seed) {
  Random random(seed);
  HostTensor wide(TensorType{is_float(type.dtype) ? DType::f64 : DType::i64, type.shape});
  static const std::vector<double> few = {0, 1, -1, 2, 0.5};
  for (int64_t i = 0; i < wide.elements(); ++i) {
    double x = 0;
    switch (contents) {
      case Contents::normal:
        x = random.normal();
        break;
      case Contents::positive:
        x = 0.1 + std::fabs(random.normal());
        break;
      case Contents::few:
        x = random.of(few);
        break;
      case Contents::ones:
        x = 1;
        break;
    }
    if (is_float(type.dtype)) {
      wide.mutable_data<double>()[i] = x;
    } else if (type.dtype == DType::bool_) {
      wide.mutable_data<int64_t>()[i] = x > 0.2;
    } else {
      const int64_t n = contents == Contents::positive ? 1 + random.below(7) : random.between(-6, 6);
      wide.mutable_data<int64_t>()[i] = is_signed(type.dtype) ? n : std::abs(n);
    }
  }
  return converted(wide, type.dtype);
}

int64_t GraphMaker::extent(int64_t limit) {
  static const std::vector<int64_t> usual = {1,  1,  1,  2,  2,  3,  3,  4,  5,  6,  7,  8,  8,  9,
                                             12, 15, 16, 16, 17, 24, 31, 32, 33, 40, 48, 63, 64, 65};
  if (random.one_in(150)) return 0;
  for (int i = 0; i < 20; ++i)
    if (const int64_t extent = random.of(usual); extent <= limit) return extent;
  return 1;
}

Shape GraphMaker::shape(int rank, int64_t most_elements) {
  Shape shape(static_cast<size_t>(rank), 1);
  int64_t left = most_elements;
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<int64_t>(i))]);
  for (size_t axis : order) {
    shape[axis] = extent(std::max<int64_t>(1, left));
    left /= std::max<int64_t>(1, shape[axis]);
  }
  return shape;
}

void GraphMaker::note(ValueId value, HostTensor number) {
  if (numbers_.size() <= value) numbers_.resize(value + 1);
  numbers_[value] = std::move(number);
}

ValueId GraphMaker::input(const TensorType& type) {
  const ValueId value = graph_.add_input(type, "x" + std::to_string(inputs_++));
  HostTensor number = random_tensor(type, Contents::normal, random.bits());
  if (is_integer(type.dtype)) {  // as inspect/verify.h draws them: small, never negative
    HostTensor small(TensorType{DType::i64, type.shape});
    for (int64_t i = 0; i < small.elements(); ++i) small.mutable_data<int64_t>()[i] = random.below(2);
    number = converted(small, type.dtype);
  }
  note(value, is_float(type.dtype) ? converted(number, DType::f64) : number);
  made_.push_back(value);
  return value;
}

ValueId GraphMaker::constant(HostTensor tensor) {
  const ValueId value = graph_.add_constant(tensor);
  note(value, is_float(tensor.dtype()) ? converted(tensor, DType::f64) : tensor);
  return value;
}

ValueId GraphMaker::constant(const TensorType& type, Contents contents) {
  return constant(random_tensor(type, contents, random.bits()));
}

ValueId GraphMaker::operand(const TensorType& type, Contents contents) {
  const int64_t way = random.below(10);
  if (way >= 4 && !made_.empty())
    for (int i = 0; i < 6; ++i) {
      const ValueId value = random.of(made_);
      if (this->type(value) == type) return value;
      if (this->type(value).dtype == type.dtype && i >= 3 &&
          element_count(shape_of(value)) == element_count(type.shape))
        if (const auto reshaped = add(Op::Reshape, ShapeAttrs{type.shape}, {value})) return *reshaped;
    }
  if (contents == Contents::normal && way == 3) {
    const ValueId value = graph_.add_input(type, "x" + std::to_string(inputs_++));
    const HostTensor number =
        random_tensor(type, is_integer(type.dtype) ? Contents::ones : Contents::normal, random.bits());
    note(value, is_float(type.dtype) ? converted(number, DType::f64) : number);
    return value;
  }
  return constant(type, contents == Contents::normal && random.one_in(6) ? Contents::few : contents);
}

std::optional<ValueId> GraphMaker::pick(const std::vector<DType>& types, int least_rank, int most_rank) {
  std::vector<ValueId> fitting;
  for (ValueId value : made_) {
    const auto rank = static_cast<int>(shape_of(value).size());
    if (rank >= least_rank && rank <= most_rank &&
        std::count(types.begin(), types.end(), type(value).dtype) != 0)
      fitting.push_back(value);
  }
  if (fitting.empty()) return std::nullopt;
  const auto count = static_cast<int64_t>(fitting.size());
  return fitting[count - 1 - random.below(random.one_in(3) ? count : std::min<int64_t>(count, 2))];
}

ValueId GraphMaker::pick_float(int least_rank, int most_rank) {
  if (!random.one_in(25))
    if (const auto value = pick({float_type}, least_rank, most_rank)) return *value;
  const int rank = static_cast<int>(random.between(least_rank, std::min(most_rank, std::max(least_rank, 4))));
  return input({float_type, shape(rank, 2000)});
}

std::optional<ValueId> GraphMaker::add(Op op, Attrs attrs, std::vector<ValueId> inputs) {
  Node node;
  node.op = op;
  node.attrs = attrs;
  node.inputs = inputs;
  std::vector<HostTensor> numbers;
  std::vector<TensorType> types;
  std::vector<const HostTensor*> constants;
  for (ValueId value : inputs) {
    numbers.push_back(numbers_[value]);
    types.push_back(type(value));
    constants.push_back(graph_.constant(value));
  }
  std::vector<HostTensor> results;
  try {
    const std::vector<TensorType> wanted = infer_types(op, attrs, types, constants);
    for (const TensorType& each : wanted)
      if (each.elements() > most_elements_ || each.shape.size() > 6) return std::nullopt;
    node.outputs.resize(wanted.size());
    results = evaluate_node(node, numbers, wanted, Precision::float64);
    for (size_t i = 0; i < results.size(); ++i) {
      const double limit = wanted[i].dtype == DType::f16 ? kLargestHalf : kLargest;
      if (!is_float(wanted[i].dtype)) continue;
      for (int64_t k = 0; k < results[i].elements(); ++k)
        if (!(std::fabs(element_as_double(results[i], k)) < limit)) return std::nullopt;
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
    return std::nullopt;
  }
  const NodeId id = graph_.add_node(op, std::move(attrs), std::move(inputs));
  ++computing_nodes_;
  const std::vector<ValueId> outputs = graph_.node(id).outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    note(outputs[i], results[i]);
    made_.push_back(outputs[i]);
  }
  return outputs[0];
}

ValueId GraphMaker::must(Op op, Attrs attrs, std::vector<ValueId> inputs) {
  const auto value = add(op, std::move(attrs), std::move(inputs));
  if (!value) throw GaveUp{};
  return *value;
}

std::vector<ValueId> GraphMaker::must_all(Op op, Attrs attrs, std::vector<ValueId> inputs) {
  const ValueId first = must(op, std::move(attrs), std::move(inputs));
  return graph_.node(graph_.value(first).producers[0]).outputs;
}

std::optional<ValueId> GraphMaker::loop(int64_t count, const std::vector<ValueId>& states, size_t rows,
                                        const Step& step) {
  const size_t before = made_.size();
  std::vector<ValueId> results;
  ++open_loops_;
  try {
    const auto number = [&](int64_t value) {
      return constant(HostTensor::of<int64_t>(DType::i64, {}, {value}));
    };
    LoopAttrs attrs{loops_++, static_cast<int64_t>(states.size())};
    const ValueId most = number(count);
    std::vector<ValueId> given = {most, constant(HostTensor::of<bool>(DType::bool_, {}, {true}))};
    given.insert(given.end(), states.begin(), states.end());
    // Rows are of the first states' types.
    for (size_t i = 0; i < rows; ++i) {
      Shape shape = shape_of(states[i]);
      shape.insert(shape.begin(), std::max<int64_t>(count, 1));
      given.push_back(constant({type(states[i]).dtype, shape}));
    }
    const std::vector<ValueId> begun = must_all(Op::LoopBegin, attrs, given);
    const auto stacks = begun.begin() + 2 + static_cast<std::ptrdiff_t>(states.size());
    const std::vector<ValueId> made = step(begun[0], {begun.begin() + 2, stacks});
    const auto made_rows = made.begin() + 1 + static_cast<std::ptrdiff_t>(states.size());
    std::vector<ValueId> ends = {begun[0], most, made[0]};
    ends.insert(ends.end(), made.begin() + 1, made_rows);
    ends.insert(ends.end(), stacks, begun.end());
    ends.insert(ends.end(), made_rows, made.end());
    results = must_all(Op::LoopEnd, attrs, ends);
  } catch (const GaveUp&) {
  }
  --open_loops_;
  made_.resize(before);
  if (results.empty()) return std::nullopt;
  made_.insert(made_.end(), results.begin(), results.end());
  if (open_loops_ > 0) return results[2];  // known when the loop around it is
  // What the loop makes, and not what its end makes of one step.
  Graph alone = graph_;
  alone.set_outputs(results, std::vector<std::string>(results.size()));
  std::vector<HostTensor> inputs;
  for (ValueId input : graph_.inputs()) inputs.push_back(numbers_[input]);
  const std::vector<HostTensor> numbers = interpret(alone, inputs, {});
  for (size_t i = 0; i < results.size(); ++i) numbers_[results[i]] = numbers[i];
  return results[2];
}

Graph GraphMaker::finish() {
  std::vector<ValueId> outputs;
  const auto offer = [&](ValueId value) {
    if (std::find(outputs.begin(), outputs.end(), value) == outputs.end() || random.one_in(10))
      outputs.push_back(value);
  };
  for (ValueId value : made_)
    if (!graph_.is_input(value) && graph_.value(value).users.empty() && !random.one_in(12)) offer(value);
  while (random.one_in(3) && !made_.empty()) offer(random.of(made_));
  if (outputs.empty() && !made_.empty()) offer(made_.back());
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) names.push_back("y" + std::to_string(i));
  graph_.set_outputs(outputs, names);
  graph_.remove_dead_nodes();
  return graph_.compact();
}

}  // namespace korch::fuzz
