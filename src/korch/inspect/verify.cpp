#include "korch/inspect/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "korch/base/interrupt.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/special_values.h"
#include "korch/interp/interpreter.h"
#include "korch/package/loaded.h"

namespace korch {
namespace {

// Exclusive upper bound for the elements of an input that is no float: the shortest axis it indexes; 2 where
// it is a truth value or becomes one, or a float, as masks do, or where an index is computed from it; 10
// where only other integers are, small enough for sums and products, and where it counts a loop's steps.
int64_t integer_range(const Graph& graph, ValueId start) {
  constexpr int64_t kFlags = 2, kNumbers = 10;
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t range = kNone;
  bool is_flag = !is_integer(graph.value(start).type.dtype), is_number = false;
  std::set<ValueId> same{start}, computed{start};  // holding its elements; computed from it
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    const auto reads = [&](ValueId value) { return computed.count(value) != 0; };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), reads)) continue;
    const Category category = info(node.op).category;
    const bool indexes = node.op == Op::Gather && reads(node.inputs[1]);
    if (indexes && same.count(node.inputs[1]) != 0)
      range = std::min(range, graph.value(node.inputs[0]).type.shape[std::get<AxisAttrs>(node.attrs).axis]);
    if (node.op == Op::LoopBegin && same.count(node.inputs[0]) != 0) range = std::min(range, kNumbers);
    is_flag = is_flag || indexes || category == Category::opaque ||
              !is_integer(graph.value(node.outputs[0]).type.dtype);
    const bool moves = category == Category::layout || node.op == Op::Cast;
    is_number = is_number || !moves;
    if (moves && same.count(node.inputs[0]) != 0) same.insert(node.outputs[0]);
    computed.insert(node.outputs.begin(), node.outputs.end());
  }
  return range != kNone ? std::max<int64_t>(range, 1) : is_number && !is_flag ? kNumbers : kFlags;
}

// An executable of another network, or of this one with other shapes.
void require_same_types(const char* what, const std::vector<ValueId>& wanted, const Graph& graph,
                        const std::vector<PlanIo>& found) {
  if (wanted.size() != found.size())
    throw Error(
        ErrorKind::invalid,
        fmt::format("the executable was not made from this network: it has {} {}s, the network has {}",
                    found.size(), what, wanted.size()));
  for (size_t i = 0; i < found.size(); ++i)
    if (const Value& value = graph.value(wanted[i]); value.type != found[i].type)
      throw Error(ErrorKind::invalid, fmt::format("the executable was not made from this network, or with "
                                                  "other shapes: its {} '{}' is {}, the network's "
                                                  "'{}' is {}",
                                                  what, found[i].name, to_string(found[i].type), value.name,
                                                  to_string(value.type)));
}

// Of so many seeds one has open dimensions as large as they may be.
constexpr uint64_t kSeedsPerBounds = 3;

}  // namespace

std::vector<HostTensor> random_inputs(const Graph& graph, uint64_t seed, FloatInputs floats) {
  std::vector<HostTensor> inputs;
  const size_t tensors = graph.inputs().size() - graph.open_dimensions().size();
  for (size_t number = 0; number < tensors; ++number) {
    const Value& value = graph.value(graph.inputs()[number]);
    std::mt19937_64 random(seed * 1000003 + number);
    HostTensor wide(TensorType{is_float(value.type.dtype) ? DType::f64 : DType::i64, value.type.shape});
    if (is_float(value.type.dtype)) {
      std::normal_distribution<double> normal;
      std::uniform_real_distribution<double> unit;
      std::generate_n(wide.mutable_data<double>(), wide.elements(),
                      [&] { return floats == FloatInputs::unit ? unit(random) : normal(random); });
    } else {
      const auto range = static_cast<uint64_t>(integer_range(graph, graph.inputs()[number]));
      std::generate_n(wide.mutable_data<int64_t>(), wide.elements(),
                      [&] { return static_cast<int64_t>(random() % range); });
    }
    inputs.push_back(converted(wide, value.type.dtype));
  }
  for (const OpenDimension& open : graph.open_dimensions()) {
    std::mt19937_64 random(seed * 1000003 + inputs.size());
    const auto range = static_cast<uint64_t>(open.most - open.least + 1);
    const int64_t drawn = open.least + static_cast<int64_t>(random() % range);
    const bool at_bounds = seed % kSeedsPerBounds == VerifyOptions().seed;
    inputs.push_back(HostTensor::of<int64_t>(DType::i64, {}, {at_bounds ? open.most : drawn}));
  }
  return inputs;
}

namespace {

bool blows_up(const std::vector<HostTensor>& outputs) {
  constexpr double kHuge = 1e18;  // on the way there something may have left float32's range
  for (const HostTensor& output : outputs)
    for (int64_t i = 0; i < output.elements() && is_float(output.dtype()); ++i)
      if (std::abs(element_as_double(output, i)) > kHuge) return true;
  return false;
}

// Inputs and exact outputs. A network that exponentiates what it computes overflows float32 where its inputs
// are not what it is made for, and then overflow would be compared instead of the network; and a loop may not
// end: another distribution is tried.
std::pair<std::vector<HostTensor>, std::vector<HostTensor>> moderate_sample(const Graph& graph, uint64_t seed,
                                                                            InterpretOptions options) {
  options.most_steps = 1 << 14;  // of a network's loop on what it may not be made for
  std::pair<std::vector<HostTensor>, std::vector<HostTensor>> sample;
  for (const FloatInputs floats : {FloatInputs::normal, FloatInputs::unit}) {
    sample.first = random_inputs(graph, seed, floats);
    try {
      sample.second = interpret(graph, sample.first, options);
      if (!blows_up(sample.second)) break;
    } catch (const LoopWithoutEnd&) {
      if (floats == FloatInputs::unit) throw;
    }
  }
  return sample;
}

void feed_special_values(const Graph& imported, LoadedExecutable& executable, const VerifyOptions& options,
                         VerifyResult* result) {
  SpecialCheck check = check_special_values(imported, executable, random_inputs(imported, options.seed),
                                            options.seed, options.deadline);
  result->special_not_fed = std::move(check.not_fed);
  if (check.passed) return;
  result->passed = false;
  for (size_t i = 0; i < result->outputs.size(); ++i) result->outputs[i].deviation = check.deviations[i];
  result->bisection = std::move(check.bisection);
}

}  // namespace

std::string describe(const std::vector<OutputError>& outputs) {
  std::string text;
  for (const OutputError& output : outputs)
    text +=
        fmt::format("{}output {}: {}", text.empty() ? "" : "\n", output.output, to_string(output.deviation));
  return text;
}

std::string failure_text(const VerifyResult& result) {
  return "the executable differs from the network:\n" + describe(result.outputs) +
         "\nfirst wrong kernel: " + describe(result.bisection);
}

VerifyResult compare_executable(const Graph& imported, const std::string& executable,
                                const VerifyOptions& options) {
  LoadedExecutable loaded(executable);
  const std::vector<ValueId>& read = imported.inputs();  // and open extents
  require_same_types(
      "input", {read.begin(), read.end() - static_cast<std::ptrdiff_t>(imported.open_dimensions().size())},
      imported, loaded.inputs());
  const std::vector<ValueId>& all = imported.outputs();  // and extents
  require_same_types("output",
                     {all.begin(), all.end() - static_cast<std::ptrdiff_t>(imported.extents().size())},
                     imported, loaded.outputs());
  VerifyResult result;
  const auto check = [&](ValueId, const HostTensor&) { options.deadline.check(); };
  for (int sample = 0; sample < options.samples; ++sample) {
    throw_if_interrupted();
    const uint64_t seed = options.seed + sample;
    const auto [inputs, exact] = moderate_sample(imported, seed, {Precision::float64, check});
    const std::vector<Tolerance> tolerances =
        output_tolerances(imported, inputs, exact, seed, options.deadline);
    const std::vector<HostTensor> got = loaded.run(dense_inputs(imported, inputs));
    bool sample_passed = true;
    for (size_t i = 0; i < got.size(); ++i) {
      const Deviation deviation = tolerances[i].compare(got[i]);
      sample_passed = sample_passed && deviation.passed();
      if (sample == 0) {
        result.outputs.push_back({imported.output_names()[i], deviation});
      } else if (deviation.ratio > result.outputs[i].deviation.ratio) {
        result.outputs[i].deviation = deviation;
      }
    }
    if (!sample_passed && result.passed) {
      result.passed = false;
      result.bisection = bisect(imported, loaded, inputs);
    }
  }
  if (result.passed) feed_special_values(imported, loaded, options, &result);
  return result;
}

}  // namespace korch
