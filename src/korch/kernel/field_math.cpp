#include "korch/kernel/field_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace korch::tile {
namespace {

using field::Undecidable;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kLargestPower = 64;

bool is_infinite(const Scalar& s) {
  return s.real != 0;
}

Scalar truth(bool value) {
  return {0, value ? 1 : 0};
}

bool compares(ScalarFn fn) {
  return fn == ScalarFn::eq || fn == ScalarFn::lt || fn == ScalarFn::le;
}

}  // namespace

Scalar MathOfInfinities::constant(const Expr& expr) const {
  if (!is_float(expr.type)) return numbers_.constant(expr);
  if (std::isnan(expr.number)) throw Undecidable{"a NaN"};
  return std::isinf(expr.number) ? Scalar{expr.number, 0} : element(expr.number);
}

Scalar MathOfInfinities::load(const HostTensor& tensor, int64_t at, DType) const {
  return {0, element_as_int(tensor, at)};
}

HostTensor MathOfInfinities::to_tensor(const std::vector<Scalar>& values, DType type) const {
  if (!is_float(type)) return numbers_.to_tensor(values, type);
  HostTensor tensor(TensorType{DType::i64, {static_cast<int64_t>(values.size())}});
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_infinite(values[i])) throw Undecidable{"an infinite result"};
    tensor.mutable_data<int64_t>()[i] = values[i].integer;
  }
  return tensor;
}

bool MathOfInfinities::is_less(const Scalar& a, const Scalar& b, DType type) const {
  if (!is_float(type)) return numbers_.is_less(a, b, type);
  return is_infinite(a) || is_infinite(b) ? a.real < b.real : less(a, b);
}

bool MathOfInfinities::is_equal(const Scalar& a, const Scalar& b, DType type) const {
  if (!is_float(type)) return numbers_.is_equal(a, b, type);
  return is_infinite(a) || is_infinite(b) ? a.real == b.real : equal(a, b);
}

Scalar MathOfInfinities::cast(const Scalar& from, DType type, DType to) const {
  if (!is_float(to)) {
    if (is_float(type)) throw Undecidable{"a float taken as an integer"};
    return numbers_.call(ScalarFn::cast, to, type, &from, 1);
  }
  if (!is_float(type)) return element(from.integer);
  if (type != to && (to == DType::f16 || to == DType::bf16))
    throw Undecidable{"rounding to " + std::string(name(to))};
  return from;
}

Scalar MathOfInfinities::call(ScalarFn fn, DType result, DType operands, const Scalar* args,
                              int count) const {
  if (fn == ScalarFn::cast) return cast(args[0], operands, result);
  if (!is_float(operands)) return numbers_.call(fn, result, operands, args, count);
  if (fn == ScalarFn::select) return args[0].integer != 0 ? args[1] : args[2];
  if (fn == ScalarFn::is_nan) return truth(false);
  if (fn == ScalarFn::is_inf) return truth(is_infinite(args[0]));
  if (compares(fn)) {
    const bool same = is_equal(args[0], args[1], operands);
    if (fn == ScalarFn::eq) return truth(same);
    return truth((fn == ScalarFn::le && same) || is_less(args[0], args[1], operands));
  }
  const bool any = std::any_of(args, args + count, is_infinite);
  return any ? infinite(fn, args, count) : finite(fn, args, count);
}

Scalar MathOfInfinities::infinite(ScalarFn fn, const Scalar* args, int count) const {
  const Scalar &a = args[0], &b = args[count - 1];
  const bool one = is_infinite(a) != is_infinite(b);
  if (fn == ScalarFn::exp && a.real < 0) return element(0.0);
  if (fn == ScalarFn::neg) return {-a.real, 0};
  if (fn == ScalarFn::add && (one || a.real == b.real)) return {is_infinite(a) ? a.real : b.real, 0};
  if (fn == ScalarFn::sub && (one || a.real == -b.real)) return {is_infinite(a) ? a.real : -b.real, 0};
  if (fn == ScalarFn::max) return a.real < b.real ? b : a;
  if (fn == ScalarFn::min) return a.real < b.real ? a : b;
  throw Undecidable{kAnInfinity};
}

uint64_t FieldMath::power(uint64_t base, uint64_t exponent) const {
  // As the exponent is an element like any other, the graph's constant is known by its value.
  for (int64_t n = -kLargestPower; n <= kLargestPower; ++n) {
    if (!Field::equal(exponent, Field::of(n))) continue;
    uint64_t result = Field::of(int64_t{1});
    for (int64_t i = 0; i < std::abs(n); ++i) result = Field::mul(result, base);
    return n < 0 ? field_.inverse(result) : result;
  }
  return field_.function(ScalarFn::pow, base, exponent);
}

Scalar FieldMath::finite(ScalarFn fn, const Scalar* args, int count) const {
  const uint64_t a = bits(args[0]), b = count > 1 ? bits(args[1]) : 0, one = Field::of(int64_t{1});
  if (fn == ScalarFn::add) return of(Field::add(a, b));
  if (fn == ScalarFn::sub) return of(Field::add(a, Field::neg(b)));
  if (fn == ScalarFn::mul) return of(Field::mul(a, b));
  if (fn == ScalarFn::div) return of(Field::mul(a, field_.inverse(b)));
  if (fn == ScalarFn::reciprocal) return of(field_.inverse(a));
  if (fn == ScalarFn::neg) return of(Field::neg(a));
  if (fn == ScalarFn::exp) return of(field_.exp(a));
  if (fn == ScalarFn::expm1) return of(Field::add(field_.exp(a), Field::neg(one)));
  if (fn == ScalarFn::log1p) return of(field_.function(ScalarFn::log, Field::add(one, a)));
  if (fn == ScalarFn::pow) return of(power(a, b));
  if (fn == ScalarFn::max || fn == ScalarFn::min) {
    const bool ascending = field_.order(a) <= field_.order(b);
    const uint64_t low = ascending ? a : b, high = ascending ? b : a;
    if (extremes_ == Extremes::lawless) return of(field_.function(fn, low, high));
    return of(fn == ScalarFn::max ? high : low);
  }
  if (fn == ScalarFn::abs && extremes_ == Extremes::ordered)
    return less(args[0], of(Field::neg(a))) ? of(Field::neg(a)) : args[0];
  return of(field_.function(fn, a, b));
}

Scalar DegreeMath::load(const HostTensor& tensor, int64_t at, DType type) const {
  const Scalar value = MathOfInfinities::load(tensor, at, type);
  return is_float(type) ? add({1}, value) : value;
}

Scalar DegreeMath::element(double number) const {
  return add({0, number == 0 ? Exponents{} : Exponents{0}}, field_.element(number));
}

Scalar DegreeMath::element(int64_t number) const {
  return add({0, number == 0 ? Exponents{} : Exponents{0}}, field_.element(number));
}

Scalar DegreeMath::add(Degrees degrees, const Scalar& value) const {
  degrees.value = value;
  table_.push_back(std::move(degrees));
  return {0, std::ssize(table_) - 1};
}

DegreeMath::Exponents DegreeMath::sums(const Exponents& a, const Exponents& b) {
  if (a.size() == 1 && a[0] == 0) return b;
  if (b.size() == 1 && b[0] == 0) return a;
  // Sums of more than some dozen have no bound.
  constexpr size_t kMost = 1 << 12;
  if (a.size() * b.size() > kMost) throw Undecidable{"a sum of so many exponentials"};
  Exponents all;
  for (const uint64_t x : a)
    for (const uint64_t y : b) all.push_back((x + y) % field::WithExp::kExponents);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::pair<double, DegreeMath::Exponents> DegreeMath::below(int64_t place) const {
  Degrees one;
  const auto& own = (*this)[place].below;
  widen(one, {own.begin(), own.end()});
  return {one.degree, one.exponents};
}

// To these powers of the denominators, by multiplying what is above.
void DegreeMath::widen(Degrees& x, const std::map<int, int>& powers) const {
  std::map<int, int> missing = powers;
  for (const auto& [denominator, power] : x.below) missing[denominator] -= power;
  for (const auto& [denominator, power] : missing)
    for (int i = 0; i < power; ++i) {
      const auto& [degree, exponents] = denominators_[static_cast<size_t>(denominator)];
      x.degree += degree;
      x.exponents = sums(x.exponents, exponents);
    }
}

// Over the denominators of both, each to the larger power.
DegreeMath::Degrees DegreeMath::plus(const Degrees& x, const Degrees& y) const {
  if (x.exponents.empty() || y.exponents.empty()) return x.exponents.empty() ? y : x;
  if (x.below == y.below) {
    Exponents all;
    std::ranges::set_union(x.exponents, y.exponents, std::back_inserter(all));
    return {std::max(x.degree, y.degree), std::move(all), x.below};
  }
  std::map<int, int> powers(x.below.begin(), x.below.end());
  for (const auto& [denominator, power] : y.below) powers[denominator] = std::max(powers[denominator], power);
  Degrees a = x, b = y;
  widen(a, powers);
  widen(b, powers);
  Exponents all;
  std::ranges::set_union(a.exponents, b.exponents, std::back_inserter(all));
  return {std::max(a.degree, b.degree), std::move(all), {powers.begin(), powers.end()}};
}

DegreeMath::Degrees DegreeMath::times(const Degrees& x, const Degrees& y) const {
  if (y.below.empty()) return {x.degree + y.degree, sums(x.exponents, y.exponents), x.below};
  std::map<int, int> powers(x.below.begin(), x.below.end());
  for (const auto& [denominator, power] : y.below) powers[denominator] += power;
  return {x.degree + y.degree, sums(x.exponents, y.exponents), {powers.begin(), powers.end()}};
}

DegreeMath::Degrees DegreeMath::inverse(const Scalar& x) const {
  auto [degree, exponents] = below(x.integer);
  const auto [found, is_new] = denominator_of_.emplace(x.integer, static_cast<int>(denominators_.size()));
  if (is_new) denominators_.emplace_back(at(x).degree, at(x).exponents);
  return {degree, std::move(exponents), {{found->second, 1}}};
}

void DegreeMath::note_application(const Scalar* args, int count) const {
  ++applications_;
  for (int i = 0; i < count; ++i)
    argument_degree_ = std::max(argument_degree_, 2 * (at(args[i]).degree + below(args[i].integer).first));
}

Scalar DegreeMath::finite(ScalarFn fn, const Scalar* args, int count) const {
  Scalar values[3];
  for (int i = 0; i < count; ++i) values[i] = at(args[i]).value;
  const Scalar value = field_.finite(fn, values, count);
  if (fn == ScalarFn::add || fn == ScalarFn::sub) return add(plus(at(args[0]), at(args[1])), value);
  if (fn == ScalarFn::mul) return add(times(at(args[0]), at(args[1])), value);
  if (fn == ScalarFn::div) return add(times(at(args[0]), inverse(args[1])), value);
  if (fn == ScalarFn::reciprocal) return add(inverse(args[0]), value);
  if (fn == ScalarFn::neg) return add(at(args[0]), value);
  note_application(args, count);
  // An integer power, or a function without a law.
  if (fn == ScalarFn::pow) {
    const Degrees& x = at(args[0]);
    if (x.exponents.size() > 1 || !x.below.empty()) throw Undecidable{"a power of a sum of exponentials"};
    return add({kLargestPower * std::max(1.0, x.degree)}, value);
  }
  const std::optional<uint64_t> exponent = field_.exponent(values[0]);
  const bool is_exp = (fn == ScalarFn::exp || fn == ScalarFn::expm1) && exponent;
  if (!is_exp) return add({1}, value);
  Degrees result{0, {*exponent}};
  return add(fn == ScalarFn::exp ? result : plus(result, {0}), value);
}

bool DegreeMath::less(const Scalar&, const Scalar&) const {
  compares_ = true;
  return false;
}

bool DegreeMath::equal(const Scalar&, const Scalar&) const {
  compares_ = true;
  return false;
}

}  // namespace korch::tile
