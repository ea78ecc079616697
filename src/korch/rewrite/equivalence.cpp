#include "korch/rewrite/equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/base/interrupt.h"
#include "korch/interp/interpreter.h"
#include "korch/rewrite/failure_bound.h"
#include "korch/rewrite/field_evaluate.h"

namespace korch {
namespace {

constexpr double kRounding = 1e-9;   // in standard deviations: what float64 may add up to in a network
constexpr double kDifferent = 1e-3;  // what no rounding of constants explains

bool has_exponentials(const Graph& graph) {
  for (NodeId id : graph.topological_order()) {
    const Op op = graph.node(id).op;
    if (info(op).category != Category::elementwise) continue;
    for (const ScalarExpr::Term& term : scalar_semantics(op).terms)
      if (term.fn == ScalarFn::exp || term.fn == ScalarFn::expm1) return true;
  }
  return false;
}

// Floats become random elements, the same for every graph; what is not a float stays.
template <typename Field>
std::vector<HostTensor> random_elements(const std::vector<HostTensor>& inputs, uint64_t seed) {
  std::vector<HostTensor> result;
  for (size_t number = 0; number < inputs.size(); ++number) {
    if (!is_float(inputs[number].dtype())) {
      result.push_back(inputs[number]);
      continue;
    }
    HostTensor out(TensorType{DType::i64, inputs[number].shape()});
    const uint64_t start = field::mix(seed + field::mix(number + 1));
    for (int64_t i = 0; i < out.elements(); ++i)
      out.mutable_data<uint64_t>()[i] = Field::random(start + static_cast<uint64_t>(i));
    result.push_back(std::move(out));
  }
  return result;
}

// The first element where outputs differ.
template <typename Field>
std::string difference(const Graph& graph, const std::vector<HostTensor>& a,
                       const std::vector<HostTensor>& b) {
  for (size_t o = 0; o < a.size(); ++o) {
    const bool floats = is_float(graph.value(graph.outputs()[o]).type.dtype);
    for (int64_t i = 0; i < a[o].elements(); ++i) {
      const bool same =
          floats ? Field::equal(a[o].template data<uint64_t>()[i], b[o].template data<uint64_t>()[i])
                 : element_as_int(a[o], i) == element_as_int(b[o], i);
      if (!same) return fmt::format("output '{}' differs at element {}", graph.output_names()[o], i);
    }
  }
  return "";
}

template <typename Field>
void run_tests(const Graph& a, const Graph& b, const EquivalenceOptions& options, FieldResult& result) {
  result.says = FieldResult::Says::same;
  for (int test = 0; test < options.tests; ++test) {
    throw_if_interrupted();
    const uint64_t seed = field::mix(options.seed * 1000003 + static_cast<uint64_t>(test));
    const Field field(field::mix(seed + 1));
    const std::vector<HostTensor> inputs = random_elements<Field>(options.inputs(a, seed), seed);
    ++result.tests;
    result.why = difference<Field>(a, field::evaluate(a, inputs, field), field::evaluate(b, inputs, field));
    if (result.why.empty()) continue;
    result.says = FieldResult::Says::different;
    return;
  }
  result.error_bound = std::pow(field::failure_bound(a, b, Field::kHasExp), options.tests);
}

double standard_deviation(const HostTensor& tensor) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = element_as_double(tensor, i);
    sum += value;
    squares += value * value;
  }
  const auto n = static_cast<double>(std::max<int64_t>(1, tensor.elements()));
  // Of a constant output: its size.
  const double variance = squares / n - sum / n * (sum / n);
  return variance > 1e-20 * squares / n ? std::sqrt(variance) : std::sqrt(squares / n);
}

}  // namespace

double largest_difference(const HostTensor& a, const HostTensor& b) {
  const double scale = std::max(standard_deviation(a), 1e-300);
  double largest = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = element_as_double(a, i), y = element_as_double(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::fabs(x - y) / (std::isfinite(scale) ? scale : 1);
    largest =
        std::max(largest, std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  }
  return largest;
}

Verdict verdict_of(const FieldResult& field, double float64_difference) {
  if (float64_difference > kDifferent) return Verdict::different;
  return float64_difference <= kRounding && field.says == FieldResult::Says::same ? Verdict::equal
                                                                                  : Verdict::undecided;
}

namespace {

std::string listed(const Graph& graph, const std::vector<ValueId>& values,
                   const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", names[i], to_string(graph.value(values[i]).type));
  return text;
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId input : graph.inputs()) names.push_back(graph.value(input).name);
  return names;
}

// Inputs and outputs of `b` in the order of those of `a`.
void match_inputs(const Graph& a, Graph& b) {
  const std::vector<std::string> in_a = input_names(a), in_b = input_names(b);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < in_a.size(); ++i) {
    const size_t at = std::find(in_b.begin(), in_b.end(), in_a[i]) - in_b.begin();
    if (at == in_b.size() || a.value(a.inputs()[i]).type != b.value(b.inputs()[at]).type) break;
    inputs.push_back(b.inputs()[at]);
  }
  if (inputs.size() != in_a.size() || in_a.size() != in_b.size())
    throw Error(ErrorKind::invalid, fmt::format("the inputs differ: {}; and {}", listed(a, a.inputs(), in_a),
                                                listed(b, b.inputs(), in_b)));
  b.set_input_order(std::move(inputs));
}

void match_outputs(const Graph& a, Graph& b) {
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < a.output_names().size(); ++i) {
    const auto& names = b.output_names();
    const size_t at = std::find(names.begin(), names.end(), a.output_names()[i]) - names.begin();
    if (a.outputs().size() != b.outputs().size() || at == names.size() ||
        a.value(a.outputs()[i]).type != b.value(b.outputs()[at]).type)
      throw Error(ErrorKind::invalid,
                  fmt::format("the outputs differ: {}; and {}", listed(a, a.outputs(), a.output_names()),
                              listed(b, b.outputs(), b.output_names())));
    outputs.push_back(b.outputs()[at]);
  }
  b.set_outputs(std::move(outputs), a.output_names());
}

}  // namespace

FieldResult compare_over_field(const Graph& a, const Graph& b, const EquivalenceOptions& options) {
  FieldResult result;
  try {
    if (has_exponentials(a) || has_exponentials(b)) {
      result.modulus = fmt::format("{} and {}", field::WithExp::kModulus, field::WithExp::kExponents);
      run_tests<field::WithExp>(a, b, options, result);
    } else {
      result.modulus = "2^61 - 1";
      run_tests<field::Plain>(a, b, options, result);
    }
  } catch (const field::Undecidable& undecidable) {
    result.says = FieldResult::Says::nothing;
    result.why = "no counterpart in a finite field: " + undecidable.what;
  }
  return result;
}

const char* name(Verdict verdict) {
  constexpr const char* kNames[] = {"equal", "different", "undecided"};
  static_assert(std::size(kNames) == static_cast<size_t>(Verdict::undecided) + 1);
  return kNames[static_cast<size_t>(verdict)];
}

Equivalence check_equivalence(const Graph& a, const Graph& b, const EquivalenceOptions& options) {
  Graph matched = b;
  match_outputs(a, matched);
  match_inputs(a, matched);

  Equivalence result;
  const std::vector<HostTensor> inputs = options.inputs(a, options.seed);
  const std::vector<HostTensor> of_a = interpret(a, inputs), of_b = interpret(matched, inputs);
  for (size_t o = 0; o < of_a.size(); ++o) {
    const double difference = largest_difference(of_a[o], of_b[o]);
    if (o != 0 && difference <= result.float64_difference) continue;
    result.float64_difference = difference;
    result.worst_output = a.output_names()[o];
  }
  result.field = compare_over_field(a, matched, options);
  result.verdict = verdict_of(result.field, result.float64_difference);
  return result;
}

}  // namespace korch
