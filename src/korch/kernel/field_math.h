// The arithmetic of a finite field (ir/field.h) for tile graphs. A float's element is in Scalar::integer;
// Scalar::real is 0, or an infinity, which no field has: where a maximum begins, and what a mask puts before
// exp. exp(-inf) is 0, and what else becomes of an infinity is undecidable unless it stays one.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "korch/ir/field.h"
#include "korch/kernel/scalar_math.h"

namespace korch::tile {

// Fields have no order. A maximum is a function of which nothing is known but that its operands may be
// exchanged and that -inf is its identity; or one by an order that is drawn, for graphs that are equal only
// because max(max(a, b), c) is max(a, max(b, c)). Only the first has a bound on what tests overlook.
enum class Extremes { lawless, ordered };

// What Undecidable names where an infinity does not stay one.
inline constexpr const char* kAnInfinity = "an infinity";

// What is not a float, and infinities.
class MathOfInfinities : public ScalarMath {
 public:
  Scalar constant(const Expr& expr) const override;
  Scalar call(ScalarFn fn, DType result, DType operands, const Scalar* args, int count) const override;
  Scalar load(const HostTensor& tensor, int64_t at, DType type) const override;
  Scalar stored(Scalar value, DType) const override { return value; }
  HostTensor to_tensor(const std::vector<Scalar>& values, DType type) const override;
  bool is_less(const Scalar& a, const Scalar& b, DType type) const override;
  bool is_equal(const Scalar& a, const Scalar& b, DType type) const override;
  bool is_nan(const Scalar&, DType) const override { return false; }
  double number(const Scalar&) const override { throw field::Undecidable{"a float taken as a number"}; }

 protected:
  virtual Scalar element(double number) const = 0;
  virtual Scalar element(int64_t number) const = 0;
  // Of finite elements; `fn` is not a cast.
  virtual Scalar finite(ScalarFn fn, const Scalar* args, int count) const = 0;
  virtual bool less(const Scalar& a, const Scalar& b) const = 0;
  virtual bool equal(const Scalar& a, const Scalar& b) const = 0;

 private:
  Scalar cast(const Scalar& from, DType type, DType to) const;
  Scalar infinite(ScalarFn fn, const Scalar* args, int count) const;

  NativeMath numbers_{Arithmetic::native};
};

class FieldMath final : public MathOfInfinities {
 public:
  using Field = field::WithExp;

  FieldMath(const Field& field, Extremes extremes) : field_(field), extremes_(extremes) {}

  Scalar element(double number) const override { return of(Field::of(number)); }
  Scalar element(int64_t number) const override { return of(Field::of(number)); }
  Scalar finite(ScalarFn fn, const Scalar* args, int count) const override;
  // What it would be as an exponent, if that is known.
  std::optional<uint64_t> exponent(const Scalar& s) const { return Field::exponent(bits(s)); }

 protected:
  bool less(const Scalar& a, const Scalar& b) const override {
    return field_.order(bits(a)) < field_.order(bits(b));
  }
  bool equal(const Scalar& a, const Scalar& b) const override { return Field::equal(bits(a), bits(b)); }

 private:
  static Scalar of(uint64_t bits) { return {0, static_cast<int64_t>(bits)}; }
  static uint64_t bits(const Scalar& s) { return static_cast<uint64_t>(s.integer); }
  uint64_t power(uint64_t base, uint64_t exponent) const;

  const Field& field_;
  Extremes extremes_;
};

// What the elements of a run are as functions of the arguments: quotients of sums of (polynomial times
// exponential). The exponents are known as numbers, from the same run over the field. Scalar::integer is a
// place in a table.
class DegreeMath final : public MathOfInfinities {
 public:
  using Exponents = std::vector<uint64_t>;  // ascending, each once; of 0 there are none
  struct Degrees {
    double degree = 0;                            // of the polynomials above, at most
    Exponents exponents = {0};                    // above
    std::vector<std::pair<int, int>> below = {};  // denominators, ascending, and their powers
    Scalar value = {};                            // in the field
  };

  explicit DegreeMath(const FieldMath& field) : field_(field) {}
  Scalar load(const HostTensor& tensor, int64_t at, DType type) const override;

  // Of an element of an output.
  const Degrees& operator[](int64_t place) const { return table_[static_cast<size_t>(place)]; }
  std::pair<double, Exponents> below(int64_t place) const;  // of all that stands below
  static Exponents sums(const Exponents& a, const Exponents& b);

  bool compares() const { return compares_; }
  double applications() const { return applications_; }        // of functions without a law
  double argument_degree() const { return argument_degree_; }  // the largest of theirs

 protected:
  Scalar element(double number) const override;
  Scalar element(int64_t number) const override;
  Scalar finite(ScalarFn fn, const Scalar* args, int count) const override;
  bool less(const Scalar& a, const Scalar& b) const override;
  bool equal(const Scalar& a, const Scalar& b) const override;

 private:
  Scalar add(Degrees degrees, const Scalar& value) const;
  const Degrees& at(const Scalar& s) const { return table_[static_cast<size_t>(s.integer)]; }
  Degrees plus(const Degrees& x, const Degrees& y) const;
  Degrees times(const Degrees& x, const Degrees& y) const;
  Degrees inverse(const Scalar& x) const;
  void widen(Degrees& x, const std::map<int, int>& powers) const;
  void note_application(const Scalar* args, int count) const;

  const FieldMath& field_;
  // The interpreter takes its arithmetic as constant; what it asks for is noted here.
  mutable std::vector<Degrees> table_;
  mutable std::vector<std::pair<double, Exponents>> denominators_;
  mutable std::map<int64_t, int> denominator_of_;  // by the place of what was inverted
  mutable bool compares_ = false;
  mutable double applications_ = 0, argument_degree_ = 1;
};

}  // namespace korch::tile
