#include "korch/kernel/tile_equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "korch/base/interrupt.h"
#include "korch/kernel/field_math.h"

namespace korch::tile {
namespace {

using Says = FieldResult::Says;
using Field = FieldMath::Field;

bool is_argument(const Buffer& buffer) {
  return buffer.role == BufferRole::input || buffer.role == BufferRole::constant;
}

std::vector<const Buffer*> buffers_of(const TileGraph& graph, bool arguments) {
  std::vector<const Buffer*> found;
  for (const Buffer& buffer : graph.buffers)
    if (arguments ? is_argument(buffer) : buffer.role == BufferRole::output) found.push_back(&buffer);
  return found;
}

void require_alike(const TileGraph& a, const TileGraph& b, bool arguments) {
  const auto in_a = buffers_of(a, arguments), in_b = buffers_of(b, arguments);
  const bool alike = std::ranges::equal(in_a, in_b, [](const Buffer* x, const Buffer* y) {
    return x->type == y->type && x->elements == y->elements && x->role == y->role;
  });
  if (!alike)
    throw Error(ErrorKind::invalid,
                fmt::format("the kernels have other {}", arguments ? "arguments" : "results"));
}

std::vector<HostTensor> random_arguments(const TileGraph& graph, uint64_t seed) {
  std::vector<HostTensor> arguments;
  uint64_t draws = field::mix(seed);
  for (const Buffer* buffer : buffers_of(graph, true)) {
    HostTensor tensor(TensorType{DType::i64, {buffer->elements}});
    for (int64_t i = 0; i < buffer->elements; ++i) {
      draws = field::mix(draws + 1);
      tensor.mutable_data<int64_t>()[i] =
          static_cast<int64_t>(is_float(buffer->type) ? Field::random(draws) : draws & 1);
    }
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

std::string difference(const TileGraph& graph, const std::vector<HostTensor>& a,
                       const std::vector<HostTensor>& b) {
  const auto outputs = buffers_of(graph, false);
  for (size_t o = 0; o < a.size(); ++o)
    for (int64_t i = 0; i < a[o].elements(); ++i) {
      const int64_t x = element_as_int(a[o], i), y = element_as_int(b[o], i);
      const bool same = is_float(outputs[o]->type)
                            ? Field::equal(static_cast<uint64_t>(x), static_cast<uint64_t>(y))
                            : x == y;
      if (!same) return fmt::format("result {} differs at element {}", o, i);
    }
  return "";
}

// The probability that this test overlooks a difference, at most; 1 if none is known. Of each element the
// graphs' quotients are compared over one denominator: where they differ, a coefficient of an exponential
// does, as a polynomial in the arguments, and is 0 for degree / modulus of them at most (Schwartz and
// Zippel). Else, of a sum of k powers of the generator with different exponents, which are known from this
// test, at most 2 q^(1 - 1/(k-1)) of the q generators are roots (Kelley 2016).
double overlooked(const TileGraph& a, const TileGraph& b, const std::vector<HostTensor>& arguments,
                  const FieldMath& field) {
  const DegreeMath of_a(field), of_b(field);
  const std::vector<HostTensor> x = interpret(a, arguments, of_a), y = interpret(b, arguments, of_b);
  if (of_a.compares() || of_b.compares()) return 1;
  const double modulus = Field::kExponents;
  double degree = 1, terms = 1;
  const auto outputs = buffers_of(a, false);
  for (size_t o = 0; o < x.size(); ++o)
    for (int64_t i = 0; is_float(outputs[o]->type) && i < x[o].elements(); ++i) {
      const int64_t in_a = element_as_int(x[o], i), in_b = element_as_int(y[o], i);
      const auto [degree_a, below_a] = of_a.below(in_a);
      const auto [degree_b, below_b] = of_b.below(in_b);
      DegreeMath::Exponents all;
      std::ranges::set_union(DegreeMath::sums(of_a[in_a].exponents, below_b),
                             DegreeMath::sums(of_b[in_b].exponents, below_a), std::back_inserter(all));
      degree = std::max(
          {degree, of_a[in_a].degree + degree_b + degree_a, of_b[in_b].degree + degree_a + degree_b});
      terms = std::max(terms, static_cast<double>(all.size()));
    }
  // Functions without a law: two arguments that differ as polynomials coincide.
  const double applications = of_a.applications() + of_b.applications();
  const double pairs =
      applications * applications / 2 * std::max(of_a.argument_degree(), of_b.argument_degree());
  const double bound = (degree + pairs) / modulus + (terms > 1 ? 2 * std::pow(modulus, -1 / (terms - 1)) : 0);
  return std::isfinite(bound) ? std::min(bound, 1.0) : 1;
}

// The same where the degrees themselves are too many to be known.
double overlooked_at_most(const TileGraph& a, const TileGraph& b, const std::vector<HostTensor>& arguments,
                          const FieldMath& field) {
  try {
    return overlooked(a, b, arguments, field);
  } catch (const field::Undecidable&) {
    return 1;
  }
}

// Arguments that leave nothing of a row but infinities, as masks do, tell nothing and are drawn again.
constexpr int kMostDraws = 8;  // for each test

void run_tests(const TileGraph& a, const TileGraph& b, const FieldTests& tests, Extremes extremes,
               FieldResult& result) {
  result = {};
  double bound = 1;
  bool has_bound = extremes == Extremes::lawless;
  for (int draw = 0; result.tests < tests.count; ++draw) {
    throw_if_interrupted();
    const uint64_t seed = field::mix(tests.seed * 1000003 + static_cast<uint64_t>(draw));
    const Field field(field::mix(seed + 1));
    const FieldMath math(field, extremes);
    const std::vector<HostTensor> arguments = random_arguments(a, seed);
    try {
      result.why = difference(a, interpret(a, arguments, math), interpret(b, arguments, math));
    } catch (const field::Undecidable& undecidable) {
      if (undecidable.what != kAnInfinity || draw >= kMostDraws * tests.count) throw;
      continue;
    }
    ++result.tests;
    if (!result.why.empty()) {
      result.says = Says::different;
      return;
    }
    if (!has_bound) continue;
    const double one = overlooked_at_most(a, b, arguments, math);
    has_bound = one < 1;  // of a test without one, others have none either
    bound = std::max(bound * one, std::numeric_limits<double>::min());  // not 0, where the product is less
  }
  result.says = Says::same;
  result.error_bound = has_bound ? bound : 1;
}

}  // namespace

FieldResult compare_over_field(const TileGraph& a, const TileGraph& b, const FieldTests& tests) {
  require_alike(a, b, true);
  require_alike(a, b, false);
  FieldResult result;
  try {
    run_tests(a, b, tests, Extremes::lawless, result);
    // Without a bound, too: what compares a maximum with its operands depends on which one it is.
    if (result.says == Says::different || (result.says == Says::same && result.error_bound == 1))
      run_tests(a, b, tests, Extremes::ordered, result);
  } catch (const field::Undecidable& undecidable) {
    result = {};
    result.why = undecidable.what + " has no counterpart in a finite field";
  }
  result.modulus = fmt::format("{} and {}", Field::kModulus, Field::kExponents);
  return result;
}

}  // namespace korch::tile
