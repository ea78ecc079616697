// The base functions of ir/scalar.h over blocks of values. C is the type computed in: float, double, int64_t
// or uint64_t. Integers wrap; functions that only floats have are computed in double for integers.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "korch/base/error.h"
#include "korch/ir/scalar.h"

namespace korch {

template <typename C>
struct ScalarMath {
  static constexpr bool kInteger = std::is_integral_v<C>;
  // Integers are added and multiplied modulo 2^64.
  using Ring = std::conditional_t<kInteger, uint64_t, C>;

  static C add(C a, C b) { return static_cast<C>(static_cast<Ring>(a) + static_cast<Ring>(b)); }
  static C sub(C a, C b) { return static_cast<C>(static_cast<Ring>(a) - static_cast<Ring>(b)); }
  static C mul(C a, C b) { return static_cast<C>(static_cast<Ring>(a) * static_cast<Ring>(b)); }
  static C neg(C a) { return kInteger ? sub(C{0}, a) : -a; }
  static C abs(C a) {
    if constexpr (kInteger)
      return a < C{0} ? neg(a) : a;
    else
      return std::fabs(a);
  }

  // Integers: a quotient or remainder by zero is 0 (ir/scalar.h), and the smallest integer over -1 wraps.
  static C div(C a, C b) {
    if constexpr (!kInteger)
      return a / b;
    else if (b == C{0})
      return C{0};
    else
      return std::is_signed_v<C> && b == static_cast<C>(-1) ? neg(a) : static_cast<C>(a / b);
  }
  static C fmod(C a, C b) {
    if constexpr (!kInteger)
      return std::fmod(a, b);
    else if (b == C{0})
      return C{0};
    else
      return std::is_signed_v<C> && b == static_cast<C>(-1) ? C{0} : static_cast<C>(a % b);
  }
  // The sign of the result is the divisor's.
  static C mod(C a, C b) {
    const C rest = fmod(a, b);
    return rest != C{0} && (rest < C{0}) != (b < C{0}) ? add(rest, b) : rest;
  }
  static C pow(C a, C b) {
    if constexpr (!kInteger) {
      return std::pow(a, b);
    } else {
      // A negative exponent leaves an integer only for 1 and -1.
      if (b < C{0})
        return a == C{1} || (a == static_cast<C>(-1) && b % 2 == C{0}) ? C{1}
               : a == static_cast<C>(-1)                               ? a
                                                                       : C{0};
      C result = 1;
      for (; b != C{0}; b = static_cast<C>(b / 2), a = mul(a, a))
        if (b % 2 != C{0}) result = mul(result, a);
      return result;
    }
  }

  static bool is_nan(C a) { return a != a; }
  static C min(C a, C b) { return is_nan(a) || a < b ? a : b; }
  static C max(C a, C b) { return is_nan(a) || a > b ? a : b; }
  static C sign(C a) { return is_nan(a) ? a : static_cast<C>((a > C{0}) - (a < C{0})); }
  static bool is_inf(C a) {
    if constexpr (kInteger)
      return false;
    else
      return std::isinf(a);
  }

  template <typename F>
  static C real(C a, F f) {
    if constexpr (kInteger)
      return static_cast<C>(f(static_cast<double>(a)));
    else
      return f(a);
  }
};

// out[i] = fn(a[i], b[i], c[i]) for i < n; operands beyond fn's arity are not read. Not for fn without
// operands.
template <typename C>
void apply_block(ScalarFn fn, int64_t n, const C* a, const C* b, const C* c, C* out) {
  using M = ScalarMath<C>;
  const auto unary = [&](auto f) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(f(a[i]));
  };
  const auto binary = [&](auto f) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(f(a[i], b[i]));
  };
  const auto real = [&](auto f) {
    for (int64_t i = 0; i < n; ++i) out[i] = M::real(a[i], f);
  };
  constexpr C kZero{0};
  switch (fn) {
    case ScalarFn::add:
      return binary(M::add);
    case ScalarFn::sub:
      return binary(M::sub);
    case ScalarFn::mul:
      return binary(M::mul);
    case ScalarFn::div:
      return binary(M::div);
    case ScalarFn::mod:
      return binary(M::mod);
    case ScalarFn::fmod:
      return binary(M::fmod);
    case ScalarFn::pow:
      return binary(M::pow);
    case ScalarFn::min:
      return binary(M::min);
    case ScalarFn::max:
      return binary(M::max);
    case ScalarFn::neg:
      return unary(M::neg);
    case ScalarFn::abs:
      return unary(M::abs);
    case ScalarFn::sign:
      return unary(M::sign);
    case ScalarFn::floor:
      return real([](auto x) { return std::floor(x); });
    case ScalarFn::ceil:
      return real([](auto x) { return std::ceil(x); });
    case ScalarFn::round:
      return real([](auto x) { return std::nearbyint(x); });
    case ScalarFn::trunc:
      return real([](auto x) { return std::trunc(x); });
    case ScalarFn::exp:
      return real([](auto x) { return std::exp(x); });
    case ScalarFn::expm1:
      return real([](auto x) { return std::expm1(x); });
    case ScalarFn::log:
      return real([](auto x) { return std::log(x); });
    case ScalarFn::log1p:
      return real([](auto x) { return std::log1p(x); });
    case ScalarFn::sqrt:
      return real([](auto x) { return std::sqrt(x); });
    case ScalarFn::reciprocal:
      return real([](auto x) { return 1 / x; });
    case ScalarFn::tanh:
      return real([](auto x) { return std::tanh(x); });
    case ScalarFn::erf:
      return real([](auto x) { return std::erf(x); });
    case ScalarFn::sin:
      return real([](auto x) { return std::sin(x); });
    case ScalarFn::cos:
      return real([](auto x) { return std::cos(x); });
    case ScalarFn::tan:
      return real([](auto x) { return std::tan(x); });
    case ScalarFn::asin:
      return real([](auto x) { return std::asin(x); });
    case ScalarFn::acos:
      return real([](auto x) { return std::acos(x); });
    case ScalarFn::atan:
      return real([](auto x) { return std::atan(x); });
    case ScalarFn::sinh:
      return real([](auto x) { return std::sinh(x); });
    case ScalarFn::cosh:
      return real([](auto x) { return std::cosh(x); });
    case ScalarFn::asinh:
      return real([](auto x) { return std::asinh(x); });
    case ScalarFn::acosh:
      return real([](auto x) { return std::acosh(x); });
    case ScalarFn::atanh:
      return real([](auto x) { return std::atanh(x); });
    case ScalarFn::eq:
      return binary([](C x, C y) { return x == y; });
    case ScalarFn::lt:
      return binary([](C x, C y) { return x < y; });
    case ScalarFn::le:
      return binary([](C x, C y) { return x <= y; });
    case ScalarFn::is_nan:
      return unary(M::is_nan);
    case ScalarFn::is_inf:
      return unary(M::is_inf);
    case ScalarFn::logical_and:
      return binary([](C x, C y) { return x != kZero && y != kZero; });
    case ScalarFn::logical_or:
      return binary([](C x, C y) { return x != kZero || y != kZero; });
    case ScalarFn::logical_xor:
      return binary([](C x, C y) { return (x != kZero) != (y != kZero); });
    case ScalarFn::logical_not:
      return unary([](C x) { return x == kZero; });
    case ScalarFn::select:
      for (int64_t i = 0; i < n; ++i) out[i] = a[i] != kZero ? b[i] : c[i];
      return;
    case ScalarFn::cast:
      return unary([](C x) { return x; });  // storing the result converts it
    case ScalarFn::arg0:
    case ScalarFn::arg1:
    case ScalarFn::arg2:
    case ScalarFn::alpha:
    case ScalarFn::beta:
    case ScalarFn::constant:
      break;
  }
  KORCH_ASSERT(false, "a scalar function without operands is not applied");
}

}  // namespace korch
