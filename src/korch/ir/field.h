// Finite fields in which equivalence is checked: of graphs (docs/design/rewrite.md) and of tile graphs. An
// element is 64 bits, so code that moves elements without arithmetic can take them for int64.
//
// Both fields have the same interface. Besides the field's own arithmetic there are two functions for
// operations that fields lack: `order` stands for comparison, `function` for a function of which only the
// name is known. Both are drawn by the key, and depend only on what all representations of a value share.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "korch/ir/scalar.h"

namespace korch::field {

__extension__ using Wide = unsigned __int128;

// Thrown where a field cannot follow: what it is that has no counterpart there.
struct Undecidable {
  std::string what;
};

constexpr uint64_t mix(uint64_t x) {  // a bijection of 64 bits that leaves nothing in order
  x += 0x9e3779b97f4a7c15;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  return x ^ x >> 32;
}

// Integers modulo a prime below 2^62.
template <uint64_t kPrime>
struct Residue {
  static uint64_t add(uint64_t a, uint64_t b) { return a + b >= kPrime ? a + b - kPrime : a + b; }
  static uint64_t neg(uint64_t a) { return a == 0 ? 0 : kPrime - a; }
  static uint64_t mul(uint64_t a, uint64_t b) {
    if constexpr (kPrime < uint64_t{1} << 32)
      return a * b % kPrime;
    else
      return static_cast<uint64_t>(Wide{a} * b % kPrime);
  }
  static uint64_t power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1, base = mul(base, base))
      if (exponent & 1) result = mul(result, base);
    return result;
  }
  static uint64_t inverse(uint64_t a) { return power(a, kPrime - 2); }  // of 0: 0
  // A finite double is an integer times a power of two, and that is what it becomes.
  static uint64_t of(double value) {
    int exponent = 0;
    const double mantissa = std::ldexp(std::frexp(std::fabs(value), &exponent), 53);
    exponent -= 53;
    uint64_t scale = power(2, static_cast<uint64_t>(std::abs(exponent)));
    if (exponent < 0) scale = inverse(scale);
    const uint64_t magnitude = mul(static_cast<uint64_t>(mantissa) % kPrime, scale);
    return value < 0 ? neg(magnitude) : magnitude;
  }
  static uint64_t of(int64_t value) {
    const uint64_t magnitude =
        (value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value)) % kPrime;
    return value < 0 ? neg(magnitude) : magnitude;
  }
};

// For graphs without exponentials: p = 2^61 - 1.
class Plain {
 public:
  static constexpr uint64_t kModulus = (uint64_t{1} << 61) - 1;
  static constexpr bool kHasExp = false;

  explicit Plain(uint64_t key) : key_(key) {}

  static uint64_t add(uint64_t a, uint64_t b) { return R::add(a, b); }
  static uint64_t neg(uint64_t a) { return R::neg(a); }
  static uint64_t mul(uint64_t a, uint64_t b) {
    const Wide product = Wide{a} * b;
    return R::add(static_cast<uint64_t>(product) & kModulus, static_cast<uint64_t>(product >> 61));
  }
  // 1/0 is an element of which nothing is known.
  uint64_t inverse(uint64_t a) const { return a == 0 ? function(ScalarFn::reciprocal, 0) : R::inverse(a); }
  template <typename T>
  static uint64_t of(T value) {
    return R::of(value);
  }
  static bool equal(uint64_t a, uint64_t b) { return a == b; }
  static uint64_t random(uint64_t bits) { return mix(bits) % kModulus; }
  static uint64_t root_of_2() { return uint64_t{1} << 31; }  // its square is 2^62 = 2 * 2^61

  uint64_t exp(uint64_t a) const { return function(ScalarFn::exp, a); }
  uint64_t order(uint64_t a) const { return mix(a ^ key_); }
  uint64_t function(ScalarFn fn, uint64_t a, uint64_t b = 0) const {
    return random(mix(mix(a ^ key_) + b) + static_cast<uint64_t>(fn));
  }

  // A sum of products.
  class Sum {
   public:
    void add_product(uint64_t a, uint64_t b) {
      sum_ += Wide{a} * b;
      if (++products_ % kBeforeOverflow == 0) sum_ %= kModulus;
    }
    uint64_t value() const { return static_cast<uint64_t>(sum_ % kModulus); }

   private:
    static constexpr uint32_t kBeforeOverflow = 32;
    Wide sum_ = 0;
    uint32_t products_ = 0;
  };

 private:
  using R = Residue<kModulus>;
  uint64_t key_;
};

// For graphs with exponentials (Mirage, arXiv 2405.05751, section 5): a value is known modulo q and modulo p
// = 2q + 1, both primes, and exp(x) is g^(x mod q) modulo p with a random g of order q. The result is not
// known modulo q, and an exponential of a value that is not known modulo q is a function without a law.
class WithExp {
 public:
  static constexpr uint64_t kModulus = 2147481143, kExponents = 1073740571;
  static constexpr bool kHasExp = true;

  explicit WithExp(uint64_t key) : key_(key) {
    const uint64_t root = 2 + mix(key) % (kModulus - 3);
    generator_ = P::mul(root, root);  // squares other than 1 have order q
  }

  static uint64_t add(uint64_t a, uint64_t b) {
    return make(P::add(low(a), low(b)), both(a, b), Q::add(high(a), high(b)));
  }
  static uint64_t neg(uint64_t a) { return make(P::neg(low(a)), known(a), Q::neg(high(a))); }
  static uint64_t mul(uint64_t a, uint64_t b) {
    return make(P::mul(low(a), low(b)), both(a, b), Q::mul(high(a), high(b)));
  }
  uint64_t inverse(uint64_t a) const {
    const uint64_t of_zero = function(ScalarFn::reciprocal, 0);
    return make(low(a) == 0 ? low(of_zero) : P::inverse(low(a)), known(a),
                high(a) == 0 ? high(of_zero) : Q::inverse(high(a)));
  }
  template <typename T>
  static uint64_t of(T value) {
    return make(P::of(value), true, Q::of(value));
  }
  static bool equal(uint64_t a, uint64_t b) {
    return low(a) == low(b) && (!both(a, b) || high(a) == high(b));
  }
  static uint64_t random(uint64_t bits) { return make(mix(bits) % kModulus, true, mix(~bits) % kExponents); }

  uint64_t exp(uint64_t a) const {
    return known(a) ? make(P::power(generator_, high(a)), false, 0) : function(ScalarFn::exp, a);
  }
  static std::optional<uint64_t> exponent(uint64_t a) {  // that exp raises to
    return known(a) ? std::optional(high(a)) : std::nullopt;
  }
  uint64_t order(uint64_t a) const { return mix(low(a) ^ key_); }
  uint64_t function(ScalarFn fn, uint64_t a, uint64_t b = 0) const {
    return random(mix(mix(low(a) ^ key_) + low(b)) + static_cast<uint64_t>(fn));
  }

  class Sum {
   public:
    void add_product(uint64_t a, uint64_t b) {
      low_ += low(a) * low(b);
      known_ = known_ && both(a, b);
      if (known_) high_ += high(a) * high(b);
    }
    uint64_t value() const {
      return make(static_cast<uint64_t>(low_ % kModulus), known_, static_cast<uint64_t>(high_ % kExponents));
    }

   private:
    Wide low_ = 0, high_ = 0;  // 2^66 products before they overflow
    bool known_ = true;
  };

 private:
  using P = Residue<kModulus>;
  using Q = Residue<kExponents>;
  static constexpr uint64_t kUnknown = 0xffffffff;
  static uint64_t low(uint64_t a) { return a & 0xffffffff; }
  static uint64_t high(uint64_t a) { return a >> 32; }
  static bool known(uint64_t a) { return high(a) != kUnknown; }
  static bool both(uint64_t a, uint64_t b) { return known(a) && known(b); }
  static uint64_t make(uint64_t low, bool known, uint64_t high) {
    return low | (known ? high : kUnknown) << 32;
  }
  uint64_t key_, generator_;
};

}  // namespace korch::field
