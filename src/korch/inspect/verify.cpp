#include "korch/inspect/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "korch/base/interrupt.h"
#include "korch/base/stop_check.h"
#include "korch/inspect/input_ranges.h"
#include "korch/inspect/open_shapes.h"
#include "korch/inspect/output_error.h"
#include "korch/inspect/special_values.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/known_values.h"
#include "korch/package/loaded.h"
#include "korch/plan/plan_json.h"

namespace korch {
namespace {

// An executable of another network, or of this one with other shapes.
void require_same_types(const char* what, const std::vector<ValueId>& wanted, const Graph& graph,
                        const std::vector<PlanIo>& found) {
  if (wanted.size() != found.size())
    throw Error(
        ErrorKind::invalid,
        fmt::format("the executable was not made from this network: its {}s are {}, the network's are {}",
                    what, found.size(), wanted.size()));
  for (size_t i = 0; i < found.size(); ++i)
    if (const Value& value = graph.value(wanted[i]); value.type != found[i].type)
      throw Error(ErrorKind::invalid, fmt::format("the executable was not made from this network, or with "
                                                  "other shapes: its {} '{}' is {}, the network's "
                                                  "'{}' is {}",
                                                  what, found[i].name, to_string(found[i].type), value.name,
                                                  to_string(value.type)));
}

// What is known to be wrong is not left unexplained for want of a moment.
Deadline bisection_deadline(const Deadline& deadline) {
  constexpr double kLeast_s = 2;
  return deadline.earlier_by(std::min(0.0, deadline.left_s() - kLeast_s));
}

// Of so many seeds one has open dimensions as large as they may be.
constexpr uint64_t kSeedsPerBounds = 3;

// Whether a run with these extents ends with an error, whatever its data are.
bool are_refused(const Graph& graph, const std::vector<int64_t>& extents) {
  std::map<ValueId, int64_t> known;
  for (size_t d = 0; d < extents.size(); ++d)
    known.emplace(graph.inputs()[graph.inputs().size() - extents.size() + d], extents[d]);
  return !extents.empty() && KnownValues(graph, known).are_refused();
}

// Within the dimensions' bounds, with which the network fits together.
std::vector<int64_t> drawn_extents(const Graph& graph, uint64_t seed, bool at_bounds) {
  const size_t tensors = graph.inputs().size() - graph.open_dimensions().size();
  std::vector<int64_t> drawn;
  for (const OpenDimension& open : graph.open_dimensions()) {
    std::mt19937_64 random(seed * 1000003 + tensors + drawn.size());
    const auto range = static_cast<uint64_t>(open.most - open.least + 1);
    const int64_t extent = open.least + static_cast<int64_t>(random() % range);
    drawn.push_back(at_bounds ? open.most : extent);
  }
  return fitting_extents(graph.open_dimensions(), drawn);
}

std::vector<int64_t> random_extents(const Graph& graph, uint64_t seed) {
  constexpr uint64_t kMostDraws = 100, kNextDraw = 7919;  // a prime
  std::vector<int64_t> extents = drawn_extents(graph, seed, seed % kSeedsPerBounds == VerifyOptions().seed);
  for (uint64_t draw = 1; draw <= kMostDraws && are_refused(graph, extents); ++draw)
    extents = drawn_extents(graph, seed + draw * kNextDraw, false);
  return extents;
}

}  // namespace

std::vector<HostTensor> random_inputs(const Graph& graph, uint64_t seed, FloatInputs floats,
                                      const Deadline& deadline) {
  StopCheck stop(deadline);
  std::vector<HostTensor> inputs;
  const std::vector<int64_t> extents = random_extents(graph, seed);
  const std::vector<InputRange> ranges = input_ranges(graph, extents);
  const size_t tensors = graph.inputs().size() - extents.size();
  for (size_t number = 0; number < tensors; ++number) {
    const Value& value = graph.value(graph.inputs()[number]);
    std::mt19937_64 random(seed * 1000003 + number);
    HostTensor wide(TensorType{is_float(value.type.dtype) ? DType::f64 : DType::i64, value.type.shape});
    if (is_float(value.type.dtype)) {
      std::normal_distribution<double> normal;
      std::uniform_real_distribution<double> unit;
      std::generate_n(wide.mutable_data<double>(), wide.elements(), [&] {
        stop.after(1);
        return floats == FloatInputs::unit ? unit(random) : normal(random);
      });
    } else {
      const InputRange range = ranges[number];
      const auto count = static_cast<uint64_t>(range.most - range.least + 1);
      std::generate_n(wide.mutable_data<int64_t>(), wide.elements(), [&] {
        stop.after(1);
        return range.least + static_cast<int64_t>(random() % count);
      });
    }
    inputs.push_back(converted(wide, value.type.dtype));
  }
  for (int64_t extent : extents) inputs.push_back(HostTensor::of<int64_t>(DType::i64, {}, {extent}));
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
// end: another distribution is tried. A network may be one for some inputs alone (an extent of 1 takes a
// branch that does not fit): where it refuses some, others are drawn.
std::pair<std::vector<HostTensor>, std::vector<HostTensor>> moderate_sample(const Graph& graph, uint64_t seed,
                                                                            InterpretOptions options) {
  options.most_steps = 1 << 14;  // of a network's loop on what it may not be made for
  std::pair<std::vector<HostTensor>, std::vector<HostTensor>> sample;
  constexpr uint64_t kDraws = 8, kBetweenDraws = 7919;
  FloatInputs floats = FloatInputs::normal;
  for (uint64_t draw = 0;;) {
    sample.first = random_inputs(graph, seed + draw * kBetweenDraws, floats, options.deadline);
    try {
      sample.second = interpret(graph, sample.first, options);
      if (floats == FloatInputs::unit || !blows_up(sample.second)) return sample;
    } catch (const LoopWithoutEnd&) {
      if (floats == FloatInputs::unit) throw;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid || ++draw == kDraws) throw;
      continue;
    }
    floats = FloatInputs::unit;
  }
}

void feed_special_values(const Graph& imported, LoadedExecutable& executable, const VerifyOptions& options,
                         VerifyResult* result) {
  constexpr int kRuns = 2;
  if (options.deadline.left_s() < kRuns * options.run_s) {
    result->special_not_fed = "the budget was spent";
    return;
  }
  SpecialCheck check = check_special_values(imported, executable, random_inputs(imported, options.seed),
                                            options.seed, options.deadline, options.import_within);
  result->special_not_fed = std::move(check.not_fed);
  if (check.passed) return;
  result->passed = false;
  for (size_t i = 0; i < result->outputs.size(); ++i) result->outputs[i].deviation = check.deviations[i];
  result->bisection = std::move(check.bisection);
}

}  // namespace

std::string describe(const std::vector<OutputError>& outputs) {
  std::string text;
  for (const OutputError& output : outputs) {
    text +=
        fmt::format("{}output {}: {}", text.empty() ? "" : "\n", output.output, to_string(output.deviation));
    if (output.relative > 0) text += fmt::format("; relative error {:.3g}", output.relative);
  }
  return text;
}

std::string failure_text(const VerifyResult& result) {
  return "the executable differs from the network:\n" + describe(result.outputs) +
         (result.allowed_error > 0 ? fmt::format("\nallowed: relative error {:g}", result.allowed_error)
                                   : "") +
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
  const Plan plan = plan_from_json(loaded.info().plan_json);
  const ProductType products = products_of(plan);
  VerifyResult result;
  result.allowed_error = allowed_output_error(plan);
  InterpretOptions interpreting;
  interpreting.deadline = options.deadline;
  for (int sample = 0; sample < options.samples; ++sample) {
    throw_if_interrupted();
    const uint64_t seed = options.seed + sample;
    const auto [inputs, exact] = moderate_sample(imported, seed, interpreting);
    if (options.deadline.left_s() < options.run_s) throw BudgetSpent{};
    const std::vector<HostTensor> got = loaded.run(dense_inputs(imported, inputs));
    const std::vector<Deviation> deviations =
        output_deviations(imported, inputs, exact, got, seed, options.deadline, products);
    bool sample_passed = result.allowed_error == 0 || relative_error(got, exact) <= result.allowed_error;
    for (size_t i = 0; i < got.size(); ++i) {
      const Deviation& deviation = deviations[i];
      sample_passed = sample_passed && deviation.passed();
      if (sample == 0) {
        result.outputs.push_back({imported.output_names()[i], deviation});
      } else if (deviation.ratio > result.outputs[i].deviation.ratio) {
        result.outputs[i].deviation = deviation;
      }
      if (result.allowed_error > 0)
        result.outputs[i].relative = std::max(result.outputs[i].relative, relative_error(got[i], exact[i]));
    }
    if (!sample_passed && result.passed) {
      result.bisection =
          bisect(imported, loaded, inputs, bisection_deadline(options.deadline), options.import_within);
      const bool undecided = std::any_of(deviations.begin(), deviations.end(),
                                         [](const Deviation& deviation) { return deviation.undecided; });
      if (undecided && result.bisection.wrong.empty()) throw Undecided{{}, describe(result.outputs)};
      result.passed = false;
    }
  }
  if (result.passed) feed_special_values(imported, loaded, options, &result);
  return result;
}

}  // namespace korch
